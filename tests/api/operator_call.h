// SPDX-License-Identifier: Apache-2.0
//
// A C function of an operator in a valid call, from the operator's schema. What can be wrong with a
// call is derived from that (wrong_calls.h), so no argument is forgotten.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/schema.h"
#include "support/device_buffer.h"
#include "support/handle.h"

namespace detops::test {

struct Dim {
  int64_t size;
  std::string letter;  // "" for a constant
  bool zero_is_legal;  // where any other size is
  std::string scalar;  // that says the size too
};

struct TensorSpec {
  std::string name;
  bool is_output, has_desc;
  bool shares_type, shares_layout;  // a mismatch may be told of any of the tensors that share it
  mluOpDataType_t dtype;
  std::optional<mluOpTensorLayout_t> layout;  // none: any
  std::vector<Dim> dims;
  std::vector<std::vector<int64_t>> other_shapes;  // legal too

  bool HasLetter(std::string_view letter) const {
    return std::any_of(dims.begin(), dims.end(), [&](const Dim& d) { return d.letter == letter; });
  }
};

using schema::Arguments;

struct OperatorCall {
  std::string name;      // of tests: "bbox_overlaps_aligned"
  std::string function;  // "mluOpBboxOverlaps"
  std::vector<TensorSpec> tensors;
  std::vector<schema::Scalar> scalars;
  std::vector<double> values;  // of the scalars
  const schema::Schema* schema;
  const schema::Form* form;
  const schema::Query* query;  // null: the call itself

  bool takes_data() const { return query == nullptr; }
  bool takes_workspace() const { return query == nullptr && !schema->queries.empty(); }
};

inline TensorSpec SpecOf(const schema::Schema& schema, const schema::Tensor& tensor,
                         mluOpDataType_t any, const std::vector<double>& values) {
  std::vector<int64_t> sizes;
  for (const schema::Letter& letter : schema.letters) sizes.push_back(letter.small);
  const bool is_map = tensor.layout && *tensor.layout != MLUOP_LAYOUT_ARRAY;
  TensorSpec spec = {tensor.name,
                     tensor.role != schema::Role::kInput,
                     tensor.role != schema::Role::kCount,
                     tensor.element == schema::Element::kAny,
                     is_map,
                     schema::TypeOf(tensor, any),
                     tensor.layout,
                     {},
                     {}};
  const std::vector<int64_t> shape = schema::ShapeOf(schema, tensor.shape, sizes, values);
  const std::vector<schema::Dim> dims = schema::DimsOf(schema, tensor.shape);
  for (size_t d = 0; d < dims.size(); ++d) {
    Dim& dim = spec.dims.emplace_back(Dim{shape[d], "", true, ""});
    if (dims[d].letter != '\0') {
      const schema::Letter& letter = schema.letters[LetterNamed(schema, dims[d].letter)];
      dim.letter = letter.letter;
      dim.zero_is_legal = letter.zero_is_legal;
    }
    if (dims[d].scalar >= 0) dim.scalar = schema.scalars[static_cast<size_t>(dims[d].scalar)].name;
  }
  if (tensor.other_shape != nullptr) {
    spec.other_shapes.push_back(schema::ShapeOf(schema, tensor.other_shape, sizes, values));
  }
  return spec;
}

// Every C function: each form of each operator, half in every second one, and the queries.
inline std::vector<OperatorCall> CallsOf(const schema::Schema& schema) {
  std::vector<OperatorCall> calls;
  for (size_t i = 0; i < schema.forms.size(); ++i) {
    const schema::Form& form = schema.forms[i];
    OperatorCall call = {schema.name, form.function, {},    schema.scalars,
                         {},          &schema,       &form, nullptr};
    call.values = schema::Problem(schema).scalars;
    if (i > 0) {
      const size_t at = ScalarNamed(schema, schema.form_scalar);
      const schema::Scalar& scalar = schema.scalars[at];
      call.values[at] = static_cast<double>(i);
      call.name += std::string("_") + (scalar.choices.empty() ? scalar.name : scalar.choices[i]);
    }
    const auto any = i % 2 == 0 ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_HALF;
    for (const schema::Tensor& tensor : form.tensors) {
      call.tensors.push_back(SpecOf(schema, tensor, any, call.values));
    }
    calls.push_back(call);
  }
  for (const schema::Query& query : schema.queries) {
    OperatorCall call = calls.front();
    call.name = call.function = query.function;
    call.query = &query;
    call.scalars.clear();
    TensorSpec size = {"size", true, false, false, false, MLUOP_DTYPE_UINT64, {}, {}, {}};
    size.dims = {{1, "", true, ""}};
    call.tensors = {call.tensors.front(), size};
    calls.push_back(call);
  }
  return calls;
}

inline std::vector<OperatorCall> AllCalls() {
  std::vector<OperatorCall> all;
  for (const schema::Schema* schema : schema::All()) {
    const std::vector<OperatorCall> calls = CallsOf(*schema);
    all.insert(all.end(), calls.begin(), calls.end());
  }
  return all;
}

inline void PrintTo(const OperatorCall& call, std::ostream* out) { *out << call.name; }

// A call that is about to be made: starts valid, and is then spoiled.
struct CallSetup {
  struct Tensor {
    bool has_desc = true, has_data = true, is_contiguous = true, is_aligned = true;
    mluOpDataType_t dtype;
    mluOpTensorLayout_t layout;
    std::vector<int64_t> dims;
  };
  bool has_handle = true;
  std::vector<Tensor> tensors;
  std::vector<double> scalars;
  bool has_workspace = true;
  size_t workspace_missing = 0;  // bytes less than the query said
  size_t workspace_shift = 0;    // bytes behind an aligned address

  explicit CallSetup(const OperatorCall& op) : scalars(op.values) {
    for (const TensorSpec& spec : op.tensors) {
      Tensor tensor;
      tensor.dtype = spec.dtype;
      tensor.layout = spec.layout.value_or(MLUOP_LAYOUT_ARRAY);
      for (const Dim& dim : spec.dims) tensor.dims.push_back(dim.size);
      tensors.push_back(tensor);
    }
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
  if (!op.takes_workspace()) return 0;
  const Desc desc;
  SetDesc(desc, CallSetup(op).tensors.front());
  size_t size = 0;
  EXPECT_OK(op.schema->queries.front().call({handle, {desc}, {}, op.values, nullptr, 0}, &size));
  return size;
}

// A query writes to the host, while the buffer that stands for `size` is the device's.
inline mluOpStatus_t QueryInto(void* size, const schema::Query& query, const Arguments& args) {
  size_t host_size;
  std::memset(&host_size, 0xcd, sizeof(host_size));
  const mluOpStatus_t status = query.call(args, size == nullptr ? nullptr : &host_size);
  if (size != nullptr) {
    EXPECT_EQ(cnrtMemcpy(size, &host_size, sizeof(host_size), cnrtMemcpyHostToDev), cnrtSuccess);
  }
  return status;
}

// Makes the call on fresh buffers, whose guard bytes are checked when they go.
inline Outcome MakeCall(const OperatorCall& op, const CallSetup& setup) {
  constexpr uint8_t kFill = 0xcd;
  const Handle handle;
  std::vector<std::unique_ptr<Desc>> descs;
  std::vector<std::unique_ptr<DeviceBytes>> tensors;
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
    const bool has_desc = tensor.has_desc && op.tensors[i].has_desc;
    args.descs.push_back(has_desc ? static_cast<mluOpTensorDescriptor_t>(*descs.back()) : nullptr);
    auto* const data = static_cast<std::byte*>(tensors.back()->data());
    args.data.push_back(tensor.has_data ? data + (tensor.is_aligned ? 0 : 1) : nullptr);
  }
  const DeviceBytes workspace(WorkspaceOf(op, handle) + setup.workspace_shift);
  auto* const memory = static_cast<std::byte*>(workspace.data());
  args.workspace = setup.has_workspace ? memory + setup.workspace_shift : nullptr;
  args.workspace_size = workspace.size() - setup.workspace_shift - setup.workspace_missing;

  Outcome outcome = {
      op.query != nullptr ? QueryInto(args.data.back(), *op.query, args) : op.form->call(args),
      detopsGetLastErrorMessage(), true};
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
