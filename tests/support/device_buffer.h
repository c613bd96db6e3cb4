// SPDX-License-Identifier: Apache-2.0
//
// Device memory for a test, with guard bytes on both sides. It goes through cnrt.h, so the same
// tests run on every device.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cnrt.h"

namespace detops::test {

class DeviceBytes {
 public:
  explicit DeviceBytes(size_t bytes, uint8_t fill = 0xcd) : bytes_(bytes) {
    CNRT_CHECK(cnrtMalloc(&memory_, bytes + 2 * kGuard));
    CNRT_CHECK(cnrtMemset(memory_, kGuardByte, bytes + 2 * kGuard));
    CNRT_CHECK(cnrtMemset(data(), fill, bytes));
  }
  ~DeviceBytes() {
    EXPECT_TRUE(GuardsIntact()) << "something wrote beside a buffer of " << bytes_ << " bytes";
    EXPECT_EQ(cnrtFree(memory_), cnrtSuccess);
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  void* data() const { return static_cast<std::byte*>(memory_) + kGuard; }
  size_t size() const { return bytes_; }

  void Upload(const void* host) const {
    CNRT_CHECK(cnrtMemcpy(data(), host, bytes_, cnrtMemcpyHostToDev));
  }
  std::vector<uint8_t> Download() const { return Read(data(), bytes_); }

  bool GuardsIntact() const {
    const std::vector<uint8_t> guard(kGuard, kGuardByte);
    return Read(memory_, kGuard) == guard &&
           Read(static_cast<std::byte*>(memory_) + kGuard + bytes_, kGuard) == guard;
  }

 private:
  static constexpr size_t kGuard = 64;  // keeps the data as aligned as the allocation
  static constexpr uint8_t kGuardByte = 0xa5;

  static std::vector<uint8_t> Read(const void* from, size_t bytes) {
    std::vector<uint8_t> host(bytes);
    CNRT_CHECK(cnrtMemcpy(host.data(), from, bytes, cnrtMemcpyDevToHost));
    return host;
  }

  void* memory_ = nullptr;
  size_t bytes_;
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::span<const T> host) : bytes_(host.size_bytes()) {
    bytes_.Upload(host.data());
  }
  explicit DeviceArray(size_t count) : bytes_(count * sizeof(T)) {}

  T* data() const { return static_cast<T*>(bytes_.data()); }
  std::vector<T> Download() const {
    const std::vector<uint8_t> raw = bytes_.Download();
    std::vector<T> host(raw.size() / sizeof(T));
    if (!raw.empty()) std::memcpy(host.data(), raw.data(), raw.size());
    return host;
  }
  // Whether elements from `first` on still have the bytes they were made with.
  bool UntouchedFrom(size_t first) const {
    const std::vector<uint8_t> raw = bytes_.Download();
    for (size_t i = first * sizeof(T); i < raw.size(); ++i) {
      if (raw[i] != 0xcd) return false;
    }
    return true;
  }

 private:
  DeviceBytes bytes_;
};

}  // namespace detops::test
