// SPDX-License-Identifier: Apache-2.0
#include "bench/problem.h"

#include <algorithm>
#include <stdexcept>

namespace detops::bench {

void Require(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) throw std::runtime_error(detopsGetLastErrorMessage());
}

std::string DeviceOf(const std::string& implementation) {
  return implementation.substr(0, implementation.find(':'));
}

Handle::Handle(const std::string& device) { Require(detopsCreate(&handle_, device.c_str())); }
Handle::~Handle() { mluOpDestroy(handle_); }

Desc::Desc(mluOpDataType_t dtype, const std::vector<int64_t>& dims, mluOpTensorLayout_t layout) {
  Require(mluOpCreateTensorDescriptor(&desc_));
  Require(mluOpSetTensorDescriptor_v2(desc_, layout, dtype, static_cast<int>(dims.size()),
                                      dims.data()));
}
Desc::~Desc() { mluOpDestroyTensorDescriptor(desc_); }

Buffer::Buffer(mluOpHandle_t handle, size_t bytes, int64_t sets)
    : handle_(handle), bytes_(bytes), stride_((bytes + 63) / 64 * 64), sets_(sets) {
  void* memory = nullptr;
  Require(detopsAllocate(handle, stride_ * static_cast<size_t>(sets), &memory));
  base_ = static_cast<std::byte*>(memory);
}
Buffer::~Buffer() { detopsFree(handle_, base_); }

void Buffer::Upload(const void* host) {
  for (int64_t set = 0; set < sets_; ++set) {
    Require(detopsCopyToDevice(handle_, at(set), host, bytes_));
  }
}

void Buffer::Poison(int64_t set) {
  static const std::vector<std::byte> poison(size_t{1} << 20, std::byte{0xcd});
  auto* to = static_cast<std::byte*>(at(set));
  for (size_t done = 0; done < bytes_; done += poison.size()) {
    const size_t part = std::min(poison.size(), bytes_ - done);
    Require(detopsCopyToDevice(handle_, to + done, poison.data(), part));
  }
}

void Buffer::Download(int64_t set, std::byte* host) const {
  if (bytes_ > 0) Require(detopsCopyToHost(handle_, host, at(set), bytes_));
}

const Buffer& Problem::Output(int64_t bytes) {
  Buffer& buffer = outputs_.emplace_back(handle_, static_cast<size_t>(bytes), sets_);
  for (int64_t set = 0; set < sets_; ++set) buffer.Poison(set);
  return buffer;
}

void Problem::Poison() {
  for (Buffer& output : outputs_) output.Poison(0);
}

std::vector<std::byte> Problem::Result() const {
  size_t bytes = 0;
  for (const Buffer& output : outputs_) bytes += output.bytes();
  std::vector<std::byte> result(bytes);
  size_t at = 0;
  for (const Buffer& output : outputs_) {
    output.Download(0, result.data() + at);
    at += output.bytes();
  }
  return result;
}

}  // namespace detops::bench
