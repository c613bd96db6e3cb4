// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a fuzzer as a sequence of choices. Past their end all choices are 0, so every input
// means something and a shorter one means something simpler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace detops::fuzz {

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : left_(data, size) {}

  bool ended() const { return left_.empty(); }

  template <class T>
  T Take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value = {};
    const size_t taken = std::min(sizeof(T), left_.size());
    if (taken > 0) std::memcpy(&value, left_.data(), taken);
    left_ = left_.subspan(taken);
    return value;
  }
  // One of 0 to end - 1, of at most 256.
  size_t Below(size_t end) { return Take<uint8_t>() % end; }
  template <class Choices>
  auto OneOf(const Choices& choices) {
    return choices[Below(std::size(choices))];
  }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace detops::fuzz
