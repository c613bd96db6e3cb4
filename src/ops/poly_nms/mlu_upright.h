// SPDX-License-Identifier: Apache-2.0
//
// Pairs of upright rectangles, in vectors. For kernels only.
#pragma once

#include "mlu/wide_vectors.h"

namespace detops::ops::poly_nms_mlu {

using mlu::Arena;
using mlu::Vec;
using mlu::WideVec;

// Whether the IoU is greater than the threshold: 1 or 0 in `yes`, or 1 in `doubtful`. Corners are
// given as 16 columns, `stride` apart: x and y of a, then of b; scaled so that the common bounds,
// whose area is `extent`, are less than 2 wide and 2 high.
__mlu_func__ void CompareUpright(Arena& arena, float* columns, int stride, float* extent, int count,
                                 float threshold, float* yes, float* doubtful) {
  const auto column = [&](int i) { return Vec{&arena, columns + i * stride, count}; };
  // Corners 0 and 2 are opposite.
  const auto low = [&](int i) { return Min(column(i), column(i + 2)); };
  const auto high = [&](int i) { return Max(column(i), column(i + 2)); };
  const Vec rest = mlu::Filled(&arena, count, 0.0f);  // 0 where all lengths are floats
  const auto length = [&](Vec from, Vec to) {
    WideVec result = mlu::CycleDifference(to, from);
    const Vec part = Abs(result.lo);
    __bang_add(rest.data, rest.data, part.data, count);
    return result;
  };
  const WideVec area_a = length(low(0), high(0)) * length(low(4), high(4));
  const WideVec area_b = length(low(8), high(8)) * length(low(12), high(12));
  const WideVec shared = length(Max(low(0), low(8)), Min(high(0), high(8))) *
                         length(Max(low(4), low(12)), Min(high(4), high(12)));
  // Positive where the IoU is greater: shared * (1 + t) - (area_a + area_b) * t.
  const WideVec excess = shared + (shared - (area_a + area_b)) * threshold;
  // The products' errors are below 2^-43 each.
  const Vec error = Vec{&arena, extent, count} * 0x1p-38f;
  Vec decided = Abs(excess.hi) > error;
  Vec greater = excess.hi > 0.0f;

  // Near a tie. Where all products and sums are floats, the rest can be exact.
  {
    for (const WideVec* product : {&area_a, &area_b, &shared}) {
      const Vec part = Abs(product->lo);
      __bang_add(rest.data, rest.data, part.data, count);
    }
    const Vec minus_a = area_a.hi * -1.0f, minus_b = area_b.hi * -1.0f;
    const WideVec first = mlu::TwoSum(shared.hi, minus_a);
    const WideVec less = mlu::TwoSum(first.hi, minus_b);
    const Vec lows = Abs(first.lo) + Abs(less.lo);
    __bang_add(rest.data, rest.data, lows.data, count);
    const Vec t = mlu::Filled(&arena, count, threshold);
    const WideVec product = mlu::CycleTwoProduct(less.hi, t);
    const WideVec sum = mlu::TwoSum(shared.hi, product.hi);
    const WideVec tail = mlu::TwoSum(sum.lo, product.lo);
    const WideVec all = mlu::TwoSum(sum.hi, tail.hi);
    // all.hi + all.lo + tail.lo is exact. A tie is decided, and what is far from what counts as
    // one.
    const Vec lowest = Abs(all.lo) + Abs(tail.lo);
    const Vec tie = (all.hi == 0.0f) & (lowest == 0.0f);
    const Vec far = Abs(all.hi) > 0x1p-70f;
    const Vec exact = (rest == 0.0f) & (tie | far);
    greater = (greater & decided) | ((all.hi > 0.0f) & (exact & Not(decided)));
    decided = decided | exact;
  }
  const Vec open = Not(decided);
  __bang_move(yes, greater.data, count * sizeof(float));
  __bang_move(doubtful, open.data, count * sizeof(float));
}

}  // namespace detops::ops::poly_nms_mlu
