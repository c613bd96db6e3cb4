// SPDX-License-Identifier: Apache-2.0
//
// A C function of an operator, described as data: its arguments in a valid call. What can be wrong
// with a call is derived from that (wrong_calls.h), so no argument is forgotten.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/device_buffer.h"
#include "support/handle.h"

namespace detops::test {

struct Dim {
  int64_t size;
  // A letter of the shapes in mlu_op.h: tensors with the same letter must agree. No letter: a
  // constant. A letter that no other tensor has: any size is legal.
  std::string_view letter = "";
  bool zero_is_legal = true;  // where any other size is
};

struct TensorSpec {
  const char* name;
  bool is_output;
  mluOpDataType_t dtype;
  std::optional<mluOpTensorLayout_t> layout;  // none: any
  std::vector<Dim> dims;
  // "T": must have the same type, "L": the same layout as the other tensors marked so. A mismatch
  // may then be told of any of them.
  std::string_view shared = "";
  std::vector<std::vector<int64_t>> other_shapes = {};  // legal too

  bool Shares(std::string_view what) const { return shared.find(what) != std::string_view::npos; }
  bool HasLetter(std::string_view letter) const {
    return std::any_of(dims.begin(), dims.end(), [&](const Dim& d) { return d.letter == letter; });
  }
};

// A result without a descriptor.
struct PointerSpec {
  const char* name;
  size_t bytes;
};

struct ScalarSpec {
  const char* name;
  double value;  // wide enough for every scalar of the API
  std::vector<double> bad_values = {};
};

// What the C function gets, by position in the specs.
struct Arguments {
  mluOpHandle_t handle;
  std::vector<mluOpTensorDescriptor_t> descs;
  std::vector<void*> tensors;
  std::vector<void*> pointers;
  std::vector<double> scalars;
  void* workspace;
  size_t workspace_size;

  int Int(size_t i) const { return static_cast<int>(scalars[i]); }
  float Float(size_t i) const { return static_cast<float>(scalars[i]); }
};

using WorkspaceQuery = mluOpStatus_t (*)(mluOpHandle_t, const mluOpTensorDescriptor_t, size_t*);

struct OperatorCall {
  const char* function;  // "mluOpPolyNms"
  std::vector<TensorSpec> tensors;
  std::vector<PointerSpec> pointers;
  std::vector<ScalarSpec> scalars;
  mluOpStatus_t (*call)(const Arguments&);
  WorkspaceQuery query = nullptr;  // takes the first tensor's descriptor; null: no workspace
  bool takes_data = true;          // a query has only the descriptors of its tensors
};

// A call that is about to be made: starts valid, and is then spoiled.
struct CallSetup {
  struct Tensor {
    bool has_desc = true, has_data = true, is_contiguous = true;
    mluOpDataType_t dtype;
    mluOpTensorLayout_t layout;
    std::vector<int64_t> dims;
  };
  bool has_handle = true;
  std::vector<Tensor> tensors;
  std::vector<bool> has_pointer;
  std::vector<double> scalars;
  bool has_workspace = true;
  size_t workspace_missing = 0;  // bytes less than the query said

  explicit CallSetup(const OperatorCall& op) : has_pointer(op.pointers.size(), true) {
    for (const TensorSpec& spec : op.tensors) {
      Tensor tensor;
      tensor.dtype = spec.dtype;
      tensor.layout = spec.layout.value_or(MLUOP_LAYOUT_ARRAY);
      for (const Dim& dim : spec.dims) tensor.dims.push_back(dim.size);
      tensors.push_back(tensor);
    }
    for (const ScalarSpec& spec : op.scalars) scalars.push_back(spec.value);
  }
};

inline int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

inline void SetDesc(mluOpTensorDescriptor_t desc, const CallSetup::Tensor& tensor) {
  const int rank = static_cast<int>(tensor.dims.size());
  // A descriptor without dims can only be a scalar on the host.
  if (rank == 0) {
    EXPECT_OK(mluOpSetTensorDescriptorPointerMode(desc, MLUOP_POINTER_MODE_HOST));
  }
  std::vector<int64_t> strides(tensor.dims.size());
  int64_t stride = tensor.is_contiguous ? 1 : 2;
  for (size_t i = tensor.dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= tensor.dims[i];
  }
  EXPECT_OK(mluOpSetTensorDescriptorEx_v2(desc, tensor.layout, tensor.dtype, rank,
                                          tensor.dims.data(), strides.data()));
}

struct Outcome {
  mluOpStatus_t status;
  std::string text;             // the last error's, after a failure
  bool outputs_untouched;       // each of them, byte by byte
  bool outputs_written = true;  // each of them, somewhere
};

// What a valid call needs.
inline size_t WorkspaceOf(const OperatorCall& op, mluOpHandle_t handle) {
  if (op.query == nullptr) return 0;
  Desc desc;
  SetDesc(desc, CallSetup(op).tensors.front());
  size_t size = 0;
  EXPECT_OK(op.query(handle, desc, &size));
  return size;
}

// Makes the call on fresh buffers, whose guard bytes are checked when they go.
inline Outcome MakeCall(const OperatorCall& op, const CallSetup& setup) {
  constexpr uint8_t kFill = 0xcd;
  const Handle handle;
  std::vector<std::unique_ptr<Desc>> descs;
  std::vector<std::unique_ptr<DeviceBytes>> tensors, pointers;
  std::vector<const DeviceBytes*> outputs;
  Arguments args = {};
  args.handle = setup.has_handle ? static_cast<mluOpHandle_t>(handle) : nullptr;
  args.scalars = setup.scalars;

  for (size_t i = 0; i < op.tensors.size(); ++i) {
    const CallSetup::Tensor& tensor = setup.tensors[i];
    size_t element = 0;
    EXPECT_OK(mluOpGetSizeOfDataType(tensor.dtype, &element));
    descs.push_back(std::make_unique<Desc>());
    SetDesc(*descs.back(), tensor);
    const bool is_output = op.tensors[i].is_output;
    tensors.push_back(std::make_unique<DeviceBytes>(
        static_cast<size_t>(CountOf(tensor.dims)) * element, is_output ? kFill : uint8_t{0}));
    if (is_output) outputs.push_back(tensors.back().get());
    args.descs.push_back(tensor.has_desc ? static_cast<mluOpTensorDescriptor_t>(*descs.back())
                                         : nullptr);
    args.tensors.push_back(tensor.has_data ? tensors.back()->data() : nullptr);
  }
  for (size_t i = 0; i < op.pointers.size(); ++i) {
    pointers.push_back(std::make_unique<DeviceBytes>(op.pointers[i].bytes, kFill));
    outputs.push_back(pointers.back().get());
    args.pointers.push_back(setup.has_pointer[i] ? pointers.back()->data() : nullptr);
  }
  const DeviceBytes workspace(WorkspaceOf(op, handle));
  args.workspace = setup.has_workspace ? workspace.data() : nullptr;
  args.workspace_size = workspace.size() - setup.workspace_missing;

  Outcome outcome = {op.call(args), detopsGetLastErrorMessage(), true};
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  for (const DeviceBytes* output : outputs) {
    const std::vector<uint8_t> bytes = output->Download();
    const auto written = [](uint8_t byte) { return byte != kFill; };
    const bool touched = std::any_of(bytes.begin(), bytes.end(), written);
    if (touched) outcome.outputs_untouched = false;
    if (!touched && !bytes.empty()) outcome.outputs_written = false;
  }
  return outcome;
}

}  // namespace detops::test
