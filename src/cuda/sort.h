// SPDX-License-Identifier: Apache-2.0
//
// Sorting, selection and sums, compiled once for all operators: CUB's, and a sort for few keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/launch.h"

namespace detops::cuda {

// Two of each: the sort is double-buffered.
struct SortBuffers {
  uint64_t* keys[2];
  uint32_t* values[2];
};

size_t SortTemporaryBytes(int64_t count);
// Sorts the indices 0 to count - 1, which are the values in buffers 0, in ascending order of the
// lowest `bits` of their keys; equal keys in ascending order of indices. Returns whichever of the
// two value buffers holds the result.
const uint32_t* SortIndices(Launcher& launch, void* temporary, size_t temporary_bytes,
                            const SortBuffers& buffers, int64_t count, int bits);

size_t SelectTemporaryBytes(int64_t count);
// Writes the indices whose flag is set, ascending, and how many there are.
void SelectIndices(const Launcher& launch, void* temporary, size_t temporary_bytes,
                   const bool* flags, int64_t count, int32_t* indices, int32_t* selected);

size_t ScanTemporaryBytes(int64_t count);
// Each element becomes the sum of those before it.
void ExclusiveSum(const Launcher& launch, void* temporary, size_t temporary_bytes, uint32_t* values,
                  int64_t count);

}  // namespace detops::cuda
