// SPDX-License-Identifier: Apache-2.0
//
// One layout for the size query and the run: an implementation describes its arrays once, in a
// function that takes a Layout&; the query reads the size, the run the addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/checked_size.h"

namespace detops::core {

class WorkspaceLayout {
 public:
  // Without memory: only counts.
  WorkspaceLayout() = default;
  explicit WorkspaceLayout(void* memory)
      : base_(static_cast<std::byte*>(memory) +
              (-reinterpret_cast<uintptr_t>(memory)) % kAlignment) {}

  // Null while only counting, and always for no elements.
  template <class T>
  T* Array(int64_t count) {
    if (count == 0) return nullptr;
    const int64_t begin = bytes_;
    bytes_ = CheckedAdd(bytes_, CheckedMul(count, sizeof(T), "workspace"), "workspace");
    bytes_ = CheckedAdd(bytes_, kAlignment - 1, "workspace") & ~int64_t{kAlignment - 1};
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + begin);
  }

  // Enough for a workspace that starts at any address.
  int64_t Bytes() const {
    return bytes_ == 0 ? 0 : CheckedAdd(bytes_, kAlignment - 1, "workspace");
  }

 private:
  static constexpr uintptr_t kAlignment = 64;  // a cache line, and the widest vector
  std::byte* base_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace detops::core
