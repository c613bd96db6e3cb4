// SPDX-License-Identifier: Apache-2.0
#include "schema/device.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace detops::schema {
namespace {

constexpr size_t kGuard = 64;  // keeps the data as aligned as the allocation
constexpr std::byte kGuardByte{0xa5};

}  // namespace

void Require(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) throw std::runtime_error(detopsGetLastErrorMessage());
}

Handle::Handle(const std::string& device) { Require(detopsCreate(&handle_, device.c_str())); }
Handle::~Handle() { mluOpDestroy(handle_); }

Desc::Desc() { Require(mluOpCreateTensorDescriptor(&desc_)); }
Desc::Desc(mluOpDataType_t dtype, const std::vector<int64_t>& dims, mluOpTensorLayout_t layout)
    : Desc() {
  Require(mluOpSetTensorDescriptor_v2(desc_, layout, dtype, static_cast<int>(dims.size()),
                                      dims.data()));
}
Desc::~Desc() { mluOpDestroyTensorDescriptor(desc_); }

Buffer::Buffer(mluOpHandle_t handle, size_t bytes, int64_t sets, size_t shift)
    : handle_(handle),
      bytes_(bytes),
      first_(kGuard + shift),
      stride_((first_ + bytes + kGuard + 63) / 64 * 64),
      sets_(sets) {
  void* memory = nullptr;
  Require(detopsAllocate(handle, stride_ * static_cast<size_t>(sets), &memory));
  base_ = static_cast<std::byte*>(memory);
  std::array<std::byte, kGuard> guard;
  guard.fill(kGuardByte);
  for (int64_t set = 0; set < sets_; ++set) {
    auto* data = static_cast<std::byte*>(at(set));
    Require(detopsCopyToDevice(handle_, data - kGuard, guard.data(), kGuard));
    Require(detopsCopyToDevice(handle_, data + bytes_, guard.data(), kGuard));
  }
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

bool Buffer::GuardsIntact() const {
  std::array<std::byte, kGuard> guard;
  const auto intact = [&](const std::byte* from) {
    Require(detopsCopyToHost(handle_, guard.data(), from, kGuard));
    return std::ranges::all_of(guard, [](std::byte b) { return b == kGuardByte; });
  };
  for (int64_t set = 0; set < sets_; ++set) {
    const auto* data = static_cast<const std::byte*>(at(set));
    if (!intact(data - kGuard) || !intact(data + bytes_)) return false;
  }
  return true;
}

}  // namespace detops::schema
