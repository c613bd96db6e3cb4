// SPDX-License-Identifier: Apache-2.0
//
// Numbers in NRAM, in ascending order, and what goes with that. For kernels only.
#pragma once

#include "mlu/team.h"

namespace detops::mlu {

// Keys, and values that go with them. Each split goes from one of two buffers to the other. All
// have room for twice as many, for that is what an instruction that packs counts as written.
struct Pairs {
  int32_t *keys, *other_keys;
  int32_t *values = nullptr, *other_values = nullptr;  // null: keys alone
  int32_t *ones, *zeros;                               // scratch

  __mlu_func__ Pairs(Nram& nram, int count, bool with_values)
      : keys(nram.Array<int32_t>(2 * count)),
        other_keys(nram.Array<int32_t>(2 * count)),
        ones(nram.Array<int32_t>(count)),
        zeros(nram.Array<int32_t>(count)) {
    if (!with_values) return;
    values = nram.Array<int32_t>(2 * count);
    other_values = nram.Array<int32_t>(2 * count);
  }

  __mlu_func__ void Swap() {
    int32_t* t = keys;
    keys = other_keys;
    other_keys = t;
    t = values;
    values = other_values;
    other_values = t;
  }
};

// Orders pairs by bits `low` to `high` of the keys, one after another, but only those that differ;
// equal ones stay in their order.
__mlu_func__ void OrderPairs(Pairs& p, int count, int low = 0, int high = 31) {
  for (int bit = low; bit <= high && count > 1; ++bit) {
    __bang_band_scalar(p.ones, p.keys, static_cast<int32_t>(uint32_t{1} << bit), count);
    const int set = static_cast<int>(__bang_count(p.ones, count));
    if (set == 0 || set == count) continue;
    __bang_not(p.zeros, p.ones, count);
    // With the sign, negative numbers come first.
    int32_t* const first = bit < 31 ? p.zeros : p.ones;
    int32_t* const second = bit < 31 ? p.ones : p.zeros;
    const int behind = bit < 31 ? count - set : set;
    __bang_filter(p.other_keys, p.keys, first, count);
    __bang_filter(p.other_keys + behind, p.keys, second, count);
    if (p.values != nullptr) {
      __bang_filter(p.other_values, p.values, first, count);
      __bang_filter(p.other_values + behind, p.values, second, count);
    }
    p.Swap();
  }
}

// Orders keys by the highest `bits` of those that differ, and clears the lower ones.
__mlu_func__ void OrderRoughly(Pairs& p, int count, int bits) {
  int high = 31;
  for (; high > 0; --high) {
    __bang_band_scalar(p.ones, p.keys, static_cast<int32_t>(uint32_t{1} << high), count);
    const int set = static_cast<int>(__bang_count(p.ones, count));
    if (set != 0 && set != count) break;
  }
  const int low = high >= bits ? high + 1 - bits : 0;
  OrderPairs(p, count, low, high);
  __bang_band_scalar(p.keys, p.keys, static_cast<int32_t>(~uint32_t{0} << low), count);
}

// sums[i] = the sum of numbers[0] to numbers[i - 1]. `scratch` is of the same size.
__mlu_func__ void SumsBefore(float* sums, const float* numbers, int count, float* scratch) {
  __bang_write_value(sums, 1, 0.0f);
  if (count > 1) __bang_move(sums + 1, numbers, (count - 1) * sizeof(float));
  for (int distance = 1; distance < count; distance *= 2) {
    __bang_move(scratch, sums, (count - distance) * sizeof(float));
    __bang_add(sums + distance, sums + distance, scratch, count - distance);
  }
}

}  // namespace detops::mlu
