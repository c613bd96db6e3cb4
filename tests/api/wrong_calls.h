// SPDX-License-Identifier: Apache-2.0
//
// Every single thing that can be wrong with a call, derived from its description; and the changes
// that leave it legal.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <sstream>
#include <utility>

#include "api/operator_call.h"

namespace detops::test {

inline constexpr std::array kDtypes = {
    MLUOP_DTYPE_HALF,   MLUOP_DTYPE_FLOAT,        MLUOP_DTYPE_INT8,          MLUOP_DTYPE_INT16,
    MLUOP_DTYPE_INT31,  MLUOP_DTYPE_INT32,        MLUOP_DTYPE_UINT8,         MLUOP_DTYPE_BOOL,
    MLUOP_DTYPE_INT64,  MLUOP_DTYPE_UINT32,       MLUOP_DTYPE_UINT64,        MLUOP_DTYPE_UINT16,
    MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_COMPLEX_HALF, MLUOP_DTYPE_COMPLEX_FLOAT, MLUOP_DTYPE_BFLOAT16};
inline constexpr std::array kLayouts = {MLUOP_LAYOUT_NCHW,  MLUOP_LAYOUT_NHWC,  MLUOP_LAYOUT_HWCN,
                                        MLUOP_LAYOUT_NDHWC, MLUOP_LAYOUT_ARRAY, MLUOP_LAYOUT_NCDHW,
                                        MLUOP_LAYOUT_TNC,   MLUOP_LAYOUT_NTC,   MLUOP_LAYOUT_NC,
                                        MLUOP_LAYOUT_NLC,   MLUOP_LAYOUT_NCL};

// In the order in which the library makes them.
enum class Check {
  kHandle,
  kDescriptor,
  kDtype,
  kLayout,
  kShape,
  kScalar,
  kContiguity,
  kPointer,
  kWorkspace
};

struct ChangedCall {
  std::string name;  // "boxes_dim1_plus_1"
  bool is_legal;
  Check check;
  std::string argument;             // what was changed
  std::vector<std::string> blamed;  // what the text may name: any of these
  std::function<void(CallSetup&)> apply;

  mluOpStatus_t Expected() const {
    if (is_legal) return MLUOP_STATUS_SUCCESS;
    return check == Check::kContiguity ? MLUOP_STATUS_NOT_SUPPORTED : MLUOP_STATUS_BAD_PARAM;
  }
};

class Changes {
 public:
  explicit Changes(const OperatorCall& op) : op_(op) {
    Wrong("handle_null", Check::kHandle, "handle", [](CallSetup& s) { s.has_handle = false; });
    for (size_t i = 0; i < op.tensors.size(); ++i) AddTensor(i);
    for (size_t i = 0; i < op.scalars.size(); ++i) {
      for (double value : op.scalars[i].illegal) {
        Wrong(ScalarName(op.scalars[i].name, value), Check::kScalar, op.scalars[i].name,
              [i, value](CallSetup& s) { s.scalars[i] = value; });
      }
    }
    if (op.takes_workspace()) {
      Wrong("workspace_null", Check::kWorkspace, "workspace",
            [](CallSetup& s) { s.has_workspace = false; });
      Wrong("workspace_one_byte_short", Check::kWorkspace, "workspace_size",
            [](CallSetup& s) { s.workspace_missing = 1; });
      changes_.push_back({"workspace_at_an_odd_address",
                          true,
                          Check::kWorkspace,
                          "workspace",
                          {"workspace"},
                          [](CallSetup& s) { s.workspace_shift = 1; }});
    }
  }

  std::vector<ChangedCall> Take(bool legal) const {
    std::vector<ChangedCall> taken;
    for (const ChangedCall& c : changes_) {
      if (c.is_legal == legal) taken.push_back(c);
    }
    return taken;
  }

 private:
  using Apply = std::function<void(CallSetup&)>;

  void AddTensor(size_t i) {
    const TensorSpec& spec = op_.tensors[i];
    const std::string name = spec.name;
    if (op_.takes_data() || !spec.has_desc) {
      Wrong(name + "_null", Check::kPointer, name,
            [i](CallSetup& s) { s.tensors[i].has_data = false; });
    }
    if (op_.takes_data()) {
      Wrong(name + "_at_an_odd_address", Check::kPointer, name,
            [i](CallSetup& s) { s.tensors[i].is_aligned = false; });
    }
    if (!spec.has_desc) return;
    Wrong(name + "_desc_null", Check::kDescriptor, name + "_desc",
          [i](CallSetup& s) { s.tensors[i].has_desc = false; });
    Wrong(name + "_strided", Check::kContiguity, name,
          [i](CallSetup& s) { s.tensors[i].is_contiguous = false; });
    for (mluOpDataType_t dtype : kDtypes) {
      if (dtype == spec.dtype) continue;
      const std::vector<std::string> sharing = Sharing(spec, &TensorSpec::shares_type);
      // Half and float may take each other's place where no other tensor has to follow.
      const bool is_other = dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_FLOAT;
      const bool is_legal = spec.shares_type && sharing.size() == 1 && is_other;
      changes_.push_back({name + "_dtype_" + std::to_string(dtype), is_legal, Check::kDtype, name,
                          sharing, [i, dtype](CallSetup& s) { s.tensors[i].dtype = dtype; }});
    }
    for (mluOpTensorLayout_t layout : kLayouts) {
      if (layout == CallSetup(op_).tensors[i].layout) continue;
      changes_.push_back({name + "_layout_" + std::to_string(layout), !spec.layout.has_value(),
                          Check::kLayout, name, Sharing(spec, &TensorSpec::shares_layout),
                          [i, layout](CallSetup& s) { s.tensors[i].layout = layout; }});
    }
    AddShapes(i);
  }

  void AddShapes(size_t i) {
    const TensorSpec& spec = op_.tensors[i];
    const std::string name = spec.name;
    const std::vector<int64_t> valid = CallSetup(op_).tensors[i].dims;
    std::vector<int64_t> dims(valid.begin(), valid.end() - 1);
    Shape(name + "_rank_minus_1", i, dims, false, {name});
    dims = valid;
    dims.push_back(1);
    Shape(name + "_rank_plus_1", i, dims, false, {name});
    for (size_t d = 0; d < valid.size(); ++d) {
      const Dim& dim = spec.dims[d];
      const std::vector<std::string> blamed = WithLetter(spec, dim.letter);
      const bool is_free = !dim.letter.empty() && blamed.size() == 1;
      const std::string prefix = name + "_dim" + std::to_string(d);
      dims = valid;
      dims[d] = valid[d] + 1;
      Shape(prefix + "_plus_1", i, dims, is_free, blamed);
      dims[d] = 0;
      Shape(prefix + "_zero", i, dims, is_free && dim.zero_is_legal, blamed);
      if (valid[d] == 1) continue;  // one less is the zero above
      dims[d] = valid[d] - 1;
      Shape(prefix + "_minus_1", i, dims, is_free, blamed);
    }
  }

  void Shape(std::string name, size_t i, std::vector<int64_t> dims, bool is_legal,
             std::vector<std::string> blamed) {
    const auto& others = op_.tensors[i].other_shapes;
    if (std::find(others.begin(), others.end(), dims) != others.end()) is_legal = true;
    changes_.push_back({std::move(name), is_legal, Check::kShape, op_.tensors[i].name,
                        std::move(blamed), [i, dims](CallSetup& s) { s.tensors[i].dims = dims; }});
  }

  void Wrong(std::string name, Check check, std::string argument, Apply apply) {
    changes_.push_back({std::move(name), false, check, argument, {argument}, std::move(apply)});
  }

  std::vector<std::string> Sharing(const TensorSpec& spec, bool TensorSpec::*what) const {
    if (!(spec.*what)) return {spec.name};
    std::vector<std::string> names;
    for (const TensorSpec& t : op_.tensors) {
      if (t.*what) names.emplace_back(t.name);
    }
    return names;
  }

  std::vector<std::string> WithLetter(const TensorSpec& spec, std::string_view letter) const {
    if (letter.empty()) return {spec.name};
    std::vector<std::string> names;
    for (const TensorSpec& t : op_.tensors) {
      if (t.HasLetter(letter)) names.emplace_back(t.name);
    }
    return names;
  }

  // "eta_is_0p5", "mode_is_minus_1", "eta_is_nan": what a test's name may hold.
  static std::string ScalarName(const char* scalar, double value) {
    std::ostringstream text;
    text << scalar << "_is_";
    if (std::isnan(value)) {
      text << "nan";
    } else {
      text << (value < 0 ? "minus_" : "") << std::abs(value);
    }
    std::string name = text.str();
    std::replace(name.begin(), name.end(), '.', 'p');
    return name;
  }

  const OperatorCall& op_;
  std::vector<ChangedCall> changes_;
};

inline std::vector<ChangedCall> WrongCallsOf(const OperatorCall& op) {
  return Changes(op).Take(false);
}
inline std::vector<ChangedCall> LegalCallsOf(const OperatorCall& op) {
  return Changes(op).Take(true);
}

// "mluOpPolyNms: boxes: dim 1 is 8, expected 9": is the function this one, the argument one of
// those that may be blamed, and is anything said of it?
inline bool TextNames(const OperatorCall& op, const ChangedCall& wrong, const std::string& text) {
  return std::any_of(wrong.blamed.begin(), wrong.blamed.end(), [&](const std::string& argument) {
    const std::string begin = op.function + ": " + argument + ": ";
    return text.size() > begin.size() && text.compare(0, begin.size(), begin) == 0;
  });
}

}  // namespace detops::test
