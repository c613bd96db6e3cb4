// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace detops::ops {

// a / b rounded to nearest, where 0 <= a <= b, both are 0 or normal numbers of at least 2^-100, and
// the quotient is 0 or at least 2^-100; 0/0 is NaN. The reciprocal is refined once and the quotient
// twice, each remainder being exact: the steps that the compiler takes for a division whose
// operands it has checked.
__device__ inline float DivideOrdinary(float a, float b) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(b));
  y = __fmaf_rn(y, __fmaf_rn(-b, y, 1.0f), y);
  float q = __fmul_rn(a, y);
  q = __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
  return __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
}

}  // namespace detops::ops
