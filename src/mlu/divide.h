// SPDX-License-Identifier: Apache-2.0
//
// Division of vectors in NRAM, correctly rounded, for kernels (BANG C). MLU590 has an instruction
// for it. MLU370 has the reciprocal only: a quotient is then an estimate, corrected twice by its
// remainder.
//
// Let r be 1/b and q0 be a*r, each rounded to nearest, u one unit in the last place of the
// quotient.
//   - q0 is at most 1.5 u from a/b: r adds up to 1 u, the product 0.5 u.
//   - e0 = q0*b - a by FMS, one rounding. So q1 = q0 - e0*r, rounded once, is at most
//     (0.5 + 2^-20) u from a/b.
//   - e1 = a - q1*b is a float: a multiple of ulp(q1)*ulp(b), and less than 2^24 times that.
//   - q2 = q1 + e1*r, rounded once. Before rounding it is off by at most (0.5 + 2^-20) u times the
//     relative error of r, which is below 2^-24: less than 2^-25 u. No quotient of floats is as
//     near as that to the middle of two floats, so q2 is a/b rounded to nearest.
// One correction is not enough: e0 may need 25 bits. All of it needs results that are neither
// subnormal nor infinite, which is what the ranges below say.
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
  __bang_fusion(FUSION_FMS, e, dst, b, a, count, count);    // q0*b - a
  __bang_fusion(FUSION_FMS, dst, e, r, dst, count, count);  // -q1, rounded as q1 is
  __bang_fusion(FUSION_FMA, e, dst, b, a, count, count);    // a - q1*b
  __bang_fusion(FUSION_FMS, dst, e, r, dst, count, count);  // q2
#endif
}

// The same with one divisor for all.
__mlu_func__ void DivideInRange(float* dst, const float* a, float b, float* scratch, int count) {
#if DETOPS_MLU_HAS_DIVISION
  __bang_div(dst, a, b, count);
#else
  const float r = 1.0f / b;
  float* const e = scratch;
  __bang_mul_scalar(dst, a, r, count);
  __bang_fusion(FUSION_FMS, e, dst, b, a, count, count);
  __bang_fusion(FUSION_FMS, dst, e, r, dst, count, count);
  __bang_fusion(FUSION_FMA, e, dst, b, a, count, count);
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
