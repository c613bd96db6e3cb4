// SPDX-License-Identifier: Apache-2.0
//
// exp for every float, with the same bits everywhere. Computed in double, because proposals need
// only two per candidate that top-k kept: the error before the one rounding to float is below
// 2^-48, so the result is the nearest float except for arguments within 2^-24 of an ulp from a tie.
#if defined(DETOPS_MATH_EXP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_MATH_EXP_H_
#undef DETOPS_MATH_EXP_H_
#else
#define DETOPS_MATH_EXP_H_
#endif

#include <bit>
#include <cstdint>

#include "math/host_device.h"
#include "math/per_target.h"

DETOPS_BEGIN_PER_TARGET_MATH

// NaN is returned unchanged.
DETOPS_HD double Clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

// 2^k of 1.5*2^52 + k, which has k in its low bits.
DETOPS_HD double PowerOf2(double shifted) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023u) << 52);
}

// D: double, or a vector of doubles with its operators and the two functions above.
template <class D>
DETOPS_HD D ExpInDouble(D x) {
  // Beyond these bounds the result is 0 or inf in float, yet still a normal double.
  const D d = Clamp(x, -110.0, 100.0);

  // x = k*ln2 + r. Adding 1.5*2^52 rounds to an integer and leaves it in the low bits.
  constexpr double kShift = 0x1.8p52;
  const D shifted = d * 0x1.71547652b82fep0 + kShift;
  const D k = shifted - kShift;
  // ln2 in two parts; k has 8 bits and the high part 21 zero bits at its end: the product is exact.
  const D r = (d - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;

  // From 1/11! on: |r| < 0.347, so the rest of the series is below 2^-47 r.
  D p = r * (1.0 / 39916800.0) + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * PowerOf2(shifted);
}

DETOPS_HD float Exp(float x) { return static_cast<float>(ExpInDouble(static_cast<double>(x))); }

DETOPS_END_PER_TARGET_MATH

#endif
