// SPDX-License-Identifier: Apache-2.0
//
// exp for every float, with the same bits everywhere. Computed in double, because proposals need
// only two per candidate that top-k kept: the error before the one rounding to float is below
// 2^-48, so the result is the nearest float except for arguments within 2^-24 of an ulp from a tie.
#pragma once

#include <cstdint>

#include "math/binary64.h"
#include "math/bit_cast.h"
#include "math/host_device.h"
#include "math/lane.h"

namespace detops::math {

// Beyond these bounds the result is 0 or inf in float, yet still a normal double. NaN stays NaN.
DETOPS_HD float ClampExponent(float x) { return Min(100.0f, Max(-110.0f, x)); }

// Takes a clamped exponent. Without a branch, so that compilers vectorize loops over it.
template <class Wide = Binary64>
DETOPS_HD_HOT float ExpOfClamped(float x) {
  const Wide d = x;
  // x = k*ln2 + r. Adding 1.5*2^52 rounds to an integer and leaves it in the low bits.
  constexpr Wide kShift = 0x1.8p52;
  const Wide shifted = d * 0x1.71547652b82fep0 + kShift;
  const Wide k = shifted - kShift;
  // ln2 in two parts; k has 8 bits and the high part 21 zero bits at its end: the product is exact.
  const Wide r = (d - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;

  // From 1/11! on: |r| < 0.347, so the rest of the series is below 2^-47 r.
  Wide p = r * (1.0 / 39916800.0) + 1.0 / 3628800.0;
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
  const Wide power_of_2 = BitCast<Wide>((BitCast<uint64_t>(shifted) + 1023u) << 52);
  return static_cast<float>(p * power_of_2);
}

template <class Wide = Binary64>
DETOPS_HD float Exp(float x) {
  return ExpOfClamped<Wide>(ClampExponent(x));
}

}  // namespace detops::math
