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

// The bits in which keys differ. `scratch` is of the same size.
__mlu_func__ uint32_t DifferingBits(const int32_t* keys, int count, int32_t* scratch) {
  __bang_bxor_scalar(scratch, keys, keys[0], count);
  for (int left = count; left > 1;) {
    const int half = left / 2;
    __bang_bor(scratch, scratch, scratch + (left - half), half);
    left -= half;
  }
  return static_cast<uint32_t>(scratch[0]);
}

// Orders pairs by the given bits of the keys, one after another; equal ones stay in their order.
__mlu_func__ void OrderByBits(Pairs& p, int count, uint32_t bits) {
  for (int bit = 0; bits >> bit != 0; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    __bang_band_scalar(p.ones, p.keys, static_cast<int32_t>(uint32_t{1} << bit), count);
    __bang_not(p.zeros, p.ones, count);
    // With the sign, negative numbers come first.
    int32_t* const first = bit < 31 ? p.zeros : p.ones;
    int32_t* const second = bit < 31 ? p.ones : p.zeros;
    const int behind = static_cast<int>(__bang_filter(p.other_keys, p.keys, first, count));
    __bang_filter(p.other_keys + behind, p.keys, second, count);
    if (p.values != nullptr) {
      __bang_filter(p.other_values, p.values, first, count);
      __bang_filter(p.other_values + behind, p.values, second, count);
    }
    p.Swap();
    if (bit == 31) return;
  }
}

__mlu_func__ void OrderPairs(Pairs& p, int count) {
  if (count > 1) OrderByBits(p, count, DifferingBits(p.keys, count, p.ones));
}

// Orders keys by the highest `bits` of those that differ, and clears the lower ones.
__mlu_func__ void OrderRoughly(Pairs& p, int count, int bits) {
  const uint32_t differing = DifferingBits(p.keys, count, p.ones);
  int low = 0;
  while (differing >> low >> bits != 0) ++low;
  const uint32_t kept = ~uint32_t{0} << low;
  OrderByBits(p, count, differing & kept);
  __bang_band_scalar(p.keys, p.keys, static_cast<int32_t>(kept), count);
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
