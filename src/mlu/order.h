// SPDX-License-Identifier: Apache-2.0
//
// Numbers in NRAM, in ascending order. For kernels only.
#pragma once

#include "mlu/team.h"

namespace detops::mlu {

// Keys, and values that go with them. Each split goes from one of two buffers to the other. All
// have room for twice as many, for that is what an instruction that packs counts as written.
struct Pairs {
  int32_t *keys, *values;
  int32_t *other_keys, *other_values;

  __mlu_func__ Pairs(Nram& nram, int count)
      : keys(nram.Array<int32_t>(2 * count)),
        values(nram.Array<int32_t>(2 * count)),
        other_keys(nram.Array<int32_t>(2 * count)),
        other_values(nram.Array<int32_t>(2 * count)) {}

  __mlu_func__ void Swap() {
    int32_t* t = keys;
    keys = other_keys;
    other_keys = t;
    t = values;
    values = other_values;
    other_values = t;
  }
};

// Orders the pairs by their keys; equal ones stay in their order. One bit after another, but only
// those that differ. `ones` and `zeros` are scratch of `count` numbers.
__mlu_func__ void OrderPairs(Pairs& pairs, int count, int32_t* ones, int32_t* zeros) {
  for (int bit = 0; bit < 32 && count > 1; ++bit) {
    __bang_band_scalar(ones, pairs.keys, static_cast<int32_t>(uint32_t{1} << bit), count);
    const int high = static_cast<int>(__bang_count(ones, count));
    if (high == 0 || high == count) continue;
    __bang_not(zeros, ones, count);
    // With the sign, negative numbers come first.
    int32_t* const first = bit < 31 ? zeros : ones;
    int32_t* const second = bit < 31 ? ones : zeros;
    const int behind = bit < 31 ? count - high : high;
    __bang_filter(pairs.other_keys, pairs.keys, first, count);
    __bang_filter(pairs.other_values, pairs.values, first, count);
    __bang_filter(pairs.other_keys + behind, pairs.keys, second, count);
    __bang_filter(pairs.other_values + behind, pairs.values, second, count);
    pairs.Swap();
  }
}

}  // namespace detops::mlu
