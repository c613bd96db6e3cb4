// SPDX-License-Identifier: Apache-2.0
#include "staging.h"

namespace detops::python {
namespace {

void Require(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) throw Staging::Failure{status};
}

}  // namespace

Staging::~Staging() {
  for (void* memory : memory_) detopsFree(handle_, memory);
}

void* Staging::Allocate(size_t bytes) {
  memory_.reserve(memory_.size() + 1);
  void* memory = nullptr;
  Require(detopsAllocate(handle_, bytes, &memory));
  memory_.push_back(memory);
  return memory;
}

const void* Staging::Read(const Array& array) {
  if (!copies_) return array.data();
  const auto bytes = static_cast<size_t>(array.shape().count() * array.element_bytes());
  void* const device = Allocate(bytes);
  if (bytes > 0) Require(detopsCopyToDevice(handle_, device, array.data(), bytes));
  return device;
}

void* Staging::Write(void* host, size_t bytes) {
  if (!copies_) return host;
  results_.push_back({host, Allocate(bytes), bytes});
  return results_.back().device;
}

void* Staging::Scratch(void* host, size_t bytes) { return copies_ ? Allocate(bytes) : host; }

void Staging::CopyBack() {
  for (const Result& result : results_) {
    if (result.bytes == 0) continue;
    Require(detopsCopyToHost(handle_, result.host, result.device, result.bytes));
  }
}

}  // namespace detops::python
