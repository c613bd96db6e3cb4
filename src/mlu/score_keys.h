// SPDX-License-Identifier: Apache-2.0
//
// math::ScoreRank for vectors. For kernels only.
#pragma once

#include <stdint.h>

namespace detops::mlu {

// keys[i] = the bits of math::ScoreRank(scores[i]), for `count` scores; ascending, as unsigned
// numbers, is descending by score. `scratch` is [count]; none of the three may overlap.
__mlu_func__ void ScoreKeys(int32_t* keys, const float* scores, int32_t* scratch, int count) {
  float* const floats = reinterpret_cast<float*>(keys);
  __bang_add_scalar(floats, scores, 0.0f, count);  // -0 + 0 is +0
  // Negative numbers stay, of others all bits but the sign are inverted.
  __bang_lt_scalar(scratch, keys, int32_t{0}, count);
  __bang_sub_scalar(scratch, scratch, int32_t{1}, count);
  __bang_band_scalar(scratch, scratch, int32_t{0x7fffffff}, count);
  __bang_bxor(keys, keys, scratch, count);
  // NaN is first: 1.0 where the score is a number, and 0 else, of which 0.0 has the bits 0.
  __bang_eq(reinterpret_cast<float*>(scratch), scores, scores, count);
  __bang_ne_scalar(scratch, scratch, int32_t{0}, count);
  __bang_mul(keys, keys, scratch, count);
}

}  // namespace detops::mlu
