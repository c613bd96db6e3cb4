// SPDX-License-Identifier: Apache-2.0
//
// Rows of an array in GDRAM, given by their numbers. For kernels only.
#pragma once

#include <stdint.h>

namespace detops::mlu {

// Offsets have 32 bits: they reach this many rows, a power of 2.
constexpr int64_t RowsInReach(int64_t bytes) {
  int64_t rows = int64_t{1} << 31;
  while (rows * bytes > int64_t{1} << 32) rows /= 2;
  return rows;
}

// Calls move(first row within reach, bits of a mask or null) for each part of `total` rows that
// offsets reach, once `offsets` are set. `mask` is scratch for as many numbers.
template <int kBytes, class Move>
__mlu_func__ void ForRowsInReach(int32_t* offsets, const int32_t* rows, int count, int64_t total,
                                 int32_t* mask, const Move& move) {
  constexpr int64_t kReach = RowsInReach(kBytes);
  if (total <= kReach) {
    __bang_mul_scalar(offsets, rows, static_cast<int32_t>(kBytes), count);
    move(int64_t{0}, static_cast<const void*>(nullptr));
    return;
  }
  for (int64_t first = 0; first < total; first += kReach) {
    __bang_band_scalar(mask, rows, static_cast<int32_t>(~(kReach - 1)), count);
    __bang_eq_scalar(mask, mask, static_cast<int32_t>(first), count);
    __bang_write_zero(offsets, count);
    __bang_gt_bitindex(mask, mask, offsets, count);
    __bang_band_scalar(offsets, rows, static_cast<int32_t>(kReach - 1), count);
    __bang_mul_scalar(offsets, offsets, static_cast<int32_t>(kBytes), count);
    move(first, static_cast<const void*>(mask));
  }
}

// dst[i] = src[rows[i]] for `count` of `total` rows. `offsets` and `mask` are scratch, [count].
template <class Row>
__mlu_func__ void GatherRows(Row* dst, const Row* src, const int32_t* rows, int count,
                             int64_t total, int32_t* offsets, int32_t* mask) {
  constexpr int kBytes = sizeof(Row);
  ForRowsInReach<kBytes>(offsets, rows, count, total, mask, [&](int64_t first, const void* bits) {
    unsigned* const bytes = reinterpret_cast<unsigned*>(offsets);
    if (bits == nullptr) {
      __gather(dst, src + first, bytes, kBytes, GDRAM2NRAM, kBytes, count);
    } else {
      __gather(dst, src + first, bytes, bits, kBytes, GDRAM2NRAM, kBytes, count);
    }
  });
}

// dst[rows[i]] = src[i].
template <class Row>
__mlu_func__ void ScatterRows(Row* dst, const Row* src, const int32_t* rows, int count,
                              int64_t total, int32_t* offsets, int32_t* mask) {
  constexpr int kBytes = sizeof(Row);
  ForRowsInReach<kBytes>(offsets, rows, count, total, mask, [&](int64_t first, const void* bits) {
    unsigned* const bytes = reinterpret_cast<unsigned*>(offsets);
    if (bits == nullptr) {
      __scatter(dst + first, src, bytes, kBytes, NRAM2GDRAM, kBytes, count);
    } else {
      __scatter(dst + first, src, bytes, bits, kBytes, NRAM2GDRAM, kBytes, count);
    }
  });
}

}  // namespace detops::mlu
