// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace detops::ops {

// The reciprocal, with a relative error of at most 2^-23.
__device__ inline float RoughReciprocal(float v) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(v));
  return y;
}

// a / b rounded to nearest, where 0 <= a <= b, both are 0 or normal numbers of at least 2^-100, and
// the quotient is 0 or at least 2^-100; 0/0 is NaN. The reciprocal is refined once and the quotient
// twice, each remainder being exact: the steps that the compiler takes for a division whose
// operands it has checked.
__device__ inline float DivideInRange(float a, float b) {
  float y = RoughReciprocal(b);
  y = __fmaf_rn(y, __fmaf_rn(-b, y, 1.0f), y);
  float q = __fmul_rn(a, y);
  q = __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
  return __fmaf_rn(__fmaf_rn(-b, q, a), y, q);
}

// Inclusive bounds of a quotient rounded to float.
struct QuotientBounds {
  float low, high;
};

// Bounds of a / max(least, areas - less), where the difference is rounded to nearest, and less is
// at most half of areas; otherwise as above. The divisor is taken 2^-22 to 2^-21 too large, more
// than the errors of it and its reciprocal, so the first quotient is low; 2^-20 of it exceeds all
// errors.
__device__ inline QuotientBounds BoundQuotient(float a, float areas, float less, float least) {
  constexpr float kAbove = 1.0f + 0x1p-22f;
  float divisor = __fmaf_ru(areas, kAbove, -less);
  if (least != 0.0f) divisor = fmaxf(divisor, least * kAbove);
  const float low = __fmul_rn(a, RoughReciprocal(divisor));
  return {low, __fmul_ru(low, 1.0f + 0x1p-20f)};
}

}  // namespace detops::ops
