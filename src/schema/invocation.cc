// SPDX-License-Identifier: Apache-2.0
#include "schema/invocation.h"

#include <algorithm>

namespace detops::schema {

Invocation::Invocation(mluOpHandle_t handle, const Problem& problem, const Options& options)
    : problem_(problem), shapes_(problem.MakeOutputs()), sets_(options.sets) {
  arguments_.handle = handle;
  arguments_.scalars = problem.scalars;
  const std::vector<Tensor>& tensors = problem.form().tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool is_input = i < problem.inputs.size();
    const Array& array = is_input ? problem.inputs[i] : shapes_[i - problem.inputs.size()];
    mluOpTensorDescriptor_t desc = nullptr;
    if (tensors[i].role != Role::kCount) {
      desc = descs_.emplace_back(array.dtype(), array.shape(),
                                 tensors[i].layout.value_or(MLUOP_LAYOUT_ARRAY));
    }
    arguments_.descs.push_back(desc);
    Buffer& buffer = buffers_.emplace_back(handle, array.bytes().size(), sets_,
                                           options.unaligned / (i + 1) * SizeOf(array.dtype()));
    if (is_input) buffer.Upload(array.bytes().data());
  }
  for (int64_t set = 0; set < sets_; ++set) {
    for (size_t i = problem.inputs.size(); i < buffers_.size(); ++i) buffers_[i].Poison(set);
  }
  arguments_.data.resize(buffers_.size());
}

mluOpStatus_t Invocation::Prepare() {
  if (problem_.schema->queries.empty()) return MLUOP_STATUS_SUCCESS;
  const mluOpStatus_t status =
      problem_.schema->queries.front().call(arguments_, &arguments_.workspace_size);
  if (status != MLUOP_STATUS_SUCCESS) return status;
  arguments_.workspace =
      workspace_.emplace_back(arguments_.handle, arguments_.workspace_size, 1).at(0);
  return status;
}

mluOpStatus_t Invocation::StartOn(mluOpHandle_t handle) {
  const int64_t set = next_++ % sets_;
  for (size_t i = 0; i < buffers_.size(); ++i) arguments_.data[i] = buffers_[i].at(set);
  const mluOpHandle_t own = arguments_.handle;
  arguments_.handle = handle;
  const mluOpStatus_t status = problem_.form().call(arguments_);
  arguments_.handle = own;
  return status;
}

void Invocation::Poison() {
  for (size_t i = problem_.inputs.size(); i < buffers_.size(); ++i) buffers_[i].Poison(0);
}

std::vector<Array> Invocation::Results() const {
  std::vector<Array> results = shapes_;
  for (size_t i = 0; i < results.size(); ++i) {
    buffers_[problem_.inputs.size() + i].Download(0, results[i].bytes().data());
  }
  return results;
}

bool Invocation::GuardsIntact() const {
  const auto intact = [](const Buffer& buffer) { return buffer.GuardsIntact(); };
  return std::ranges::all_of(buffers_, intact) && std::ranges::all_of(workspace_, intact);
}

}  // namespace detops::schema
