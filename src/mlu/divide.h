// SPDX-License-Identifier: Apache-2.0
//
// Division of vectors in NRAM, correctly rounded, for kernels (BANG C). MLU590 has an instruction
// for it. MLU370 has the reciprocal only: a quotient is then an estimate, corrected by its
// remainder.
//
// Let a and b be in [1,2), which powers of two make them, and u one unit in the last place of the
// quotient: 2^-23 where a >= b, else 2^-24. Each of these is rounded once, to nearest:
//   r = 1/b      q0 = a*r      e = q0*b - a      q1 = q0 - e*r
// q1 is a/b rounded to nearest:
//   - |r - 1/b| < 2^-25, so |a*r - a/b| < a * 2^-25: at most u/2 where a >= b, else a/2 * u. So q0
//     is off by less than 1.5 u, e has at most 25 bits, and before it is rounded q1 is off by less
//     than 2^-22 u: one half of it by the rounding of e, less than the other half by |e| * 2^-25.
//   - So q1 can only be wrong where a/b is that near to the middle m of two floats. Then q0 is one
//   of
//     these two, because a*r is less than u from m. (Else a/2 > 1 - 2^-22 and b > a. There are
//     three such pairs, of which mlu_test takes all.) So e is exact, and |e| <= (u/2 + d) b, where
//     d is the distance of a/b and m.
//   - q1 is wrong if it is off by d or more. It is off by |e| * |r - 1/b| < (u/2 + d) b * 2^-25.
//   But
//     d is at least u * 2^-24 / b, since d * b is no 0 and a multiple of u * 2^-24, and
//     b*b/4 <= (1 - 2^-24)^2 < 1 - b * 2^-25, so that this is less than d.
// All of it needs results that are neither subnormal nor infinite, which is what the ranges below
// say, a reciprocal that is rounded to nearest, and fused multiplies that round once.
#pragma once

#include <stdint.h>

namespace detops::mlu {

#if defined(__BANG_ARCH__) && __BANG_ARCH__ >= 592
#define DETOPS_MLU_HAS_DIVISION 1
#else
#define DETOPS_MLU_HAS_DIVISION 0
#endif

// Scratch of DivideInRange and Divide: so many vectors as long as their operands.
constexpr int kDivideInRangeScratch = DETOPS_MLU_HAS_DIVISION ? 0 : 2;
constexpr int kDivideScratch = DETOPS_MLU_HAS_DIVISION ? 0 : 5;

// dst = a / b, where a is +0 or of at least 2^-100, both are of at most 2^126, and the quotient is
// 0 or from 2^-125 to 2^126. 0/0, and a NaN in either, give NaN. dst is none of the operands.
__mlu_func__ void DivideInRange(float* dst, const float* a, const float* b, float* scratch,
                                int count) {
#if DETOPS_MLU_HAS_DIVISION
  __bang_div(dst, a, b, count);
#else
  float* const r = scratch;
  float* const e = scratch + count;
  __bang_recip(r, b, count);
  __bang_mul(dst, a, r, count);
  __bang_fusion(FUSION_FMS, e, dst, b, a, count, count);
  __bang_fusion(FUSION_FMS, dst, e, r, dst, count, count);         // -q1
  __bang_fusion(FUSION_FMA, dst, dst, -1.0f, 0.0f, count, count);  // and no -0
#endif
}

// The same, a pass shorter on the MLU370, for those who can have their divisors with this sign.
constexpr int kDivisorSign = DETOPS_MLU_HAS_DIVISION ? 1 : -1;
__mlu_func__ void DivideBySigned(float* dst, const float* a, const float* signed_b, float* scratch,
                                 int count) {
#if DETOPS_MLU_HAS_DIVISION
  __bang_div(dst, a, signed_b, count);
#else
  float* const r = scratch;                                        // -r, and -q0
  float* const e = scratch + count;
  __bang_recip(r, signed_b, count);
  __bang_mul(dst, a, r, count);
  __bang_fusion(FUSION_FMS, e, dst, signed_b, a, count, count);
  __bang_fusion(FUSION_FMS, dst, e, r, dst, count, count);
#endif
}
// With one divisor for all.
__mlu_func__ void DivideBySigned(float* dst, const float* a, float signed_b, float* scratch,
                                 int count) {
#if DETOPS_MLU_HAS_DIVISION
  __bang_div(dst, a, signed_b, count);
#else
  const float r = 1.0f / signed_b;
  float* const e = scratch;
  __bang_mul_scalar(dst, a, r, count);
  __bang_fusion(FUSION_FMS, e, dst, signed_b, a, count, count);
  __bang_fusion(FUSION_FMS, dst, e, r, dst, count, count);
#endif
}

// dst = a / b as IEEE 754 has it, whatever the operands are. dst is none of them.
__mlu_func__ void Divide(float* dst, const float* a, const float* b, float* scratch, int count) {
#if DETOPS_MLU_HAS_DIVISION
  __bang_div(dst, a, b, count);
#else
  // Within these every quotient is in the range of DivideInRange. Where one operand is 0, infinite
  // or NaN, the estimate a*r is the quotient. The rest is divided one by one.
  constexpr float kLeast = 0x1p-62f, kMost = 0x1p62f, kLargest = 0x1.fffffep127f;
  DivideInRange(dst, a, b, scratch, count);
  float* const estimate = scratch + count;
  float* const size = scratch + 2 * count;
  float* const special = scratch + 3 * count;
  float* const good = scratch;  // where r is until the estimate is made
  float* const other = scratch + 4 * count;
  __bang_mul(estimate, a, good, count);
  // b: special, or in range, which is good.
  __bang_abs(size, b, count);
  __bang_eq_scalar(special, size, 0.0f, count);
  __bang_le_scalar(other, size, kLargest, count);
  __bang_ge_scalar(good, size, kLeast, count);
  __bang_not(other, other, count);
  __bang_or(special, special, other, count);
  __bang_le_scalar(other, size, kMost, count);
  __bang_abs(size, a, count);
  __bang_and(good, good, other, count);
  __bang_or(good, good, special, count);
  // a: special, or where b is; else it has to be in range.
  __bang_eq_scalar(other, size, 0.0f, count);
  __bang_or(special, special, other, count);
  __bang_le_scalar(other, size, kLargest, count);
  __bang_not(other, other, count);
  __bang_or(special, special, other, count);
  __bang_maskmove(dst, estimate, special, count);
  __bang_ge_scalar(other, size, kLeast, count);
  __bang_le_scalar(size, size, kMost, count);
  __bang_and(other, other, size, count);
  __bang_or(other, other, special, count);
  __bang_and(good, good, other, count);
  __bang_not(other, good, count);
  const uint32_t first = __bang_findfirst1(other, count);
  if (first == 0xFFFFFFFF) return;
  const uint32_t last = __bang_findlast1(other, count);
  for (uint32_t i = first; i <= last; ++i) {
    if (other[i] != 0.0f) dst[i] = a[i] / b[i];
  }
#endif
}

}  // namespace detops::mlu
