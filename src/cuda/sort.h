// SPDX-License-Identifier: Apache-2.0
//
// Sorting, selection and sums, compiled once for all operators: CUB's, and others for few keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/workspace.h"
#include "runtime/cuda/launch.h"

namespace detops::cuda {

// A key and the index that it belongs to: the key decides, then the lower index. No two are equal.
__host__ __device__ inline uint64_t KeyAndIndex(uint32_t key, int64_t index) {
  return uint64_t{key} << 32 | static_cast<uint64_t>(index);
}
__host__ __device__ inline int64_t IndexOf(uint64_t key_and_index) {
  return static_cast<int64_t>(key_and_index & 0xffffffffu);
}

// Memory for sorting lists of keys with indices.
struct KeySorter {
  uint64_t* keys = nullptr;  // [lists][count] what to sort, by the caller

  KeySorter() = default;
  KeySorter(core::WorkspaceLayout& layout, int64_t lists, int64_t count);

  // Sorts each list by itself, given in keys[list][count], and returns where the result is. Several
  // lists are short: up to kMostOfSeveral.
  static constexpr int64_t kMostOfSeveral = 20'000;
  const uint64_t* Sort(Launcher& launch, int64_t lists, int64_t count) const;

 private:
  uint64_t* other_ = nullptr;
  void* temporary_ = nullptr;
  size_t temporary_bytes_ = 0;
};

// Memory for sorting pairs by keys of which only the lowest bits count; equal ones stay in order.
struct PairSorter {
  uint32_t* keys = nullptr;   // [count] by the caller
  int32_t* values = nullptr;  // [count] by the caller

  PairSorter() = default;
  PairSorter(core::WorkspaceLayout& layout, int64_t count);

  struct Result {
    const uint32_t* keys;
    const int32_t* values;
  };
  Result Sort(Launcher& launch, int64_t count, int bits) const;

 private:
  uint32_t* other_keys_ = nullptr;
  int32_t* other_values_ = nullptr;
  void* temporary_ = nullptr;
  size_t temporary_bytes_ = 0;
};

// Memory for listing the indices whose flag is set.
struct IndexSelector {
  IndexSelector() = default;
  IndexSelector(core::WorkspaceLayout& layout, int64_t count);

  // Of each list in flags[list][count], writes them to indices[list][count], ascending, and how
  // many there are. Several lists are short: up to kMostOfSeveral.
  static constexpr int64_t kMostOfSeveral = 16384;
  void Select(Launcher& launch, const bool* flags, int64_t lists, int64_t count, int32_t* indices,
              int32_t* selected) const;

 private:
  void* temporary_ = nullptr;
  size_t temporary_bytes_ = 0;
};

}  // namespace detops::cuda
