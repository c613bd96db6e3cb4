// SPDX-License-Identifier: Apache-2.0
//
// A program that uses an operator, from creating a handle to destroying it. It allocates nothing by
// itself while it runs, so that every allocation is the library's.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/every_operator.h"

namespace detops::test {

class Client {
 public:
  // The problem must outlive it.
  Client(const schema::Problem& problem, int threads)
      : problem_(problem), threads_(threads), outputs_(problem.MakeOutputs()) {
    const std::vector<schema::Tensor>& tensors = problem.form().tensors;
    arguments_.descs.resize(tensors.size());
    arguments_.data.resize(tensors.size());
    arguments_.scalars = problem.scalars;
  }

  // Of the first function that does not succeed. A call that is refused is made too.
  mluOpStatus_t Run(const char* implementation = "") {
    for (schema::Array& output : outputs_) {
      std::fill(output.bytes().begin(), output.bytes().end(), kPoison);
    }
    const mluOpStatus_t status = RunUntilOneFails(implementation);
    CleanUp();
    return status;
  }

  bool OutputsUntouched() const {
    return std::all_of(outputs_.begin(), outputs_.end(), [](const schema::Array& output) {
      return std::all_of(output.bytes().begin(), output.bytes().end(),
                         [](std::byte byte) { return byte == kPoison; });
    });
  }
  // All outputs, one after the other.
  std::string Answer() const {
    std::string all;
    for (const schema::Array& output : outputs_) {
      all.append(reinterpret_cast<const char*>(output.bytes().data()), output.bytes().size());
    }
    return all;
  }
  // Whether the operator itself was called and succeeded.
  bool called() const { return called_; }

 private:
  static constexpr std::byte kPoison{0xcd};

  mluOpStatus_t RunUntilOneFails(const char* implementation) {
    called_ = false;
    mluOpStatus_t status = detopsCreate(&arguments_.handle, "cpu");
    const auto then = [&](auto&& step) {
      if (status == MLUOP_STATUS_SUCCESS) status = step();
    };
    then([&] { return detopsSetThreads(arguments_.handle, threads_); });
    then([&] { return detopsSetImplementation(arguments_.handle, implementation); });
    then([&] {
      const cnrtRet_t created = cnrtQueueCreate(&queue_);
      if (created == cnrtErrorNoMem) return MLUOP_STATUS_ALLOC_FAILED;
      return created == cnrtSuccess ? mluOpSetQueue(arguments_.handle, queue_)
                                    : MLUOP_STATUS_INTERNAL_ERROR;
    });
    for (size_t i = 0; i < arguments_.descs.size(); ++i) then([&] { return Describe(i); });
    if (!problem_.schema->queries.empty()) {
      then([&] {
        return problem_.schema->queries.front().call(arguments_, &arguments_.workspace_size);
      });
      then([&] {
        return detopsAllocate(arguments_.handle, arguments_.workspace_size, &arguments_.workspace);
      });
    }
    then([&] { return problem_.form().call(arguments_); });
    called_ = status == MLUOP_STATUS_SUCCESS;
    then([&] {
      void* const data = std::exchange(arguments_.data.front(), nullptr);
      const mluOpStatus_t refused = problem_.form().call(arguments_);
      arguments_.data.front() = data;
      if (refused == MLUOP_STATUS_BAD_PARAM) return MLUOP_STATUS_SUCCESS;
      return refused == MLUOP_STATUS_SUCCESS ? MLUOP_STATUS_INTERNAL_ERROR : refused;
    });
    return status;
  }

  mluOpStatus_t Describe(size_t i) {
    const size_t inputs = problem_.inputs.size();
    const schema::Array& array = i < inputs ? problem_.inputs[i] : outputs_[i - inputs];
    const schema::Tensor& tensor = problem_.form().tensors[i];
    arguments_.data[i] = const_cast<std::byte*>(array.bytes().data());
    if (tensor.role == schema::Role::kCount) return MLUOP_STATUS_SUCCESS;
    const mluOpStatus_t status = mluOpCreateTensorDescriptor(&arguments_.descs[i]);
    if (status != MLUOP_STATUS_SUCCESS) return status;
    return mluOpSetTensorDescriptor_v2(
        arguments_.descs[i], tensor.layout.value_or(MLUOP_LAYOUT_ARRAY), array.dtype(),
        static_cast<int>(array.shape().size()), array.shape().data());
  }

  void CleanUp() {
    if (arguments_.workspace != nullptr) detopsFree(arguments_.handle, arguments_.workspace);
    arguments_.workspace = nullptr;
    for (mluOpTensorDescriptor_t& desc : arguments_.descs) {
      if (desc != nullptr) mluOpDestroyTensorDescriptor(desc);
      desc = nullptr;
    }
    if (arguments_.handle != nullptr) mluOpDestroy(arguments_.handle);
    arguments_.handle = nullptr;
    if (queue_ != nullptr) cnrtQueueDestroy(queue_);
    queue_ = nullptr;
  }

  const schema::Problem& problem_;
  const int threads_;
  std::vector<schema::Array> outputs_;
  schema::Arguments arguments_ = {};
  cnrtQueue_t queue_ = nullptr;
  bool called_ = false;
};

}  // namespace detops::test
