// SPDX-License-Identifier: Apache-2.0
//
// Rows in pairs, with a gap between the two boxes where possible. A column overlaps at most one of
// two such rows, or it spans the gap: that lets them share a division (two_rows-inl.h).
#pragma once

#include <cstdint>

namespace detops::ops {

struct RowPairs {
  static constexpr int64_t kMostRows = 512;

  struct Row {
    float x1, y1, x2, y2, area;
    int64_t index;
  };

  int64_t count = 0;
  Row left[kMostRows / 2], right[kMostRows / 2];
  bool transposed = false;  // the gaps are along y: boxes of the pairs have x and y exchanged

  // Indices of rows that have no partner.
  int64_t others = 0;
  int64_t other[kMostRows];

  // To be called once, with coordinates between -2^60 and 2^60, x1 <= x2 and y1 <= y2; these and
  // the other rows are at most kMostRows in all. Only rows whose indices differ by a multiple of
  // `step` become pairs; such rows must be consecutive.
  void Add(Row* rows, int64_t row_count, int64_t step);
  void AddOther(int64_t index) { other[others++] = index; }

 private:
  void Pair(const Row* rows, int64_t row_count);
};

}  // namespace detops::ops
