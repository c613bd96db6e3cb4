// SPDX-License-Identifier: Apache-2.0
#include "ops/bbox_overlaps/row_pairs.h"

#include <algorithm>
#include <utility>

namespace detops::ops {
namespace {

using Row = RowPairs::Row;

// Copies rows to `sorted`, roughly by ascending key: each goes into one of 64 buckets, with no
// order inside a bucket. A comparison sort would take several times as long.
void SortRoughly(const Row* rows, int64_t count, float Row::*key, Row* sorted) {
  constexpr int kBuckets = 64;
  float least = rows[0].*key, most = least;
  for (int64_t i = 1; i < count; ++i) {
    least = std::min(least, rows[i].*key);
    most = std::max(most, rows[i].*key);
  }
  const float range = most - least;
  const float scale = range > 1e-30f ? (kBuckets - 1) / range : 0.0f;  // else it might be infinite
  const auto bucket = [&](const Row& row) { return static_cast<int>((row.*key - least) * scale); };
  int64_t ends[kBuckets + 1] = {};
  for (int64_t i = 0; i < count; ++i) ++ends[bucket(rows[i]) + 1];
  for (int d = 0; d < kBuckets; ++d) ends[d + 1] += ends[d];
  for (int64_t i = 0; i < count; ++i) sorted[ends[bucket(rows[i])]++] = rows[i];
}

// An estimate of the width of the gaps between a left and a right half.
float EstimatedGap(const Row* rows, int64_t count, float Row::*begin, float Row::*end) {
  const auto centre = [&](const Row& row) { return 0.5f * (row.*begin + row.*end); };
  float least = centre(rows[0]), most = least, lengths = 0.0f;
  for (int64_t i = 0; i < count; ++i) {
    least = std::min(least, centre(rows[i]));
    most = std::max(most, centre(rows[i]));
    lengths += rows[i].*end - rows[i].*begin;
  }
  return 0.5f * (most - least) - lengths / static_cast<float>(count);
}

}  // namespace

// The left half are the rows that end first. In each half, rows further left come first, so that
// the narrowest gap is as wide as pairs of these rows allow.
void RowPairs::Pair(const Row* rows, int64_t row_count) {
  const int64_t half = row_count / 2;
  Row by_end[kMostRows];
  SortRoughly(rows, row_count, &Row::x2, by_end);
  if (row_count % 2 != 0) AddOther(by_end[half].index);
  if (half == 0) return;
  std::copy_n(by_end, half, left + count);
  SortRoughly(by_end + row_count - half, half, &Row::x1, right + count);
  count += half;
}

void RowPairs::Add(Row* rows, int64_t row_count, int64_t step) {
  if (row_count == 0) return;
  transposed = EstimatedGap(rows, row_count, &Row::y1, &Row::y2) >
               EstimatedGap(rows, row_count, &Row::x1, &Row::x2);
  for (int64_t i = 0; transposed && i < row_count; ++i) {
    std::swap(rows[i].x1, rows[i].y1);
    std::swap(rows[i].x2, rows[i].y2);
  }
  for (int64_t begin = 0, end; begin < row_count; begin = end) {
    end = begin + 1;
    while (end < row_count && (rows[end].index - rows[begin].index) % step == 0) ++end;
    Pair(rows + begin, end - begin);
  }
}

}  // namespace detops::ops
