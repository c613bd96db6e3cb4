// SPDX-License-Identifier: Apache-2.0
//
// Sine and cosine of every float, correctly rounded: the float nearest to the true value, so no
// other correctly rounded implementation can differ. The relative error before the rounding is
// below 2^-63, and no float's sine or cosine comes that close to a tie (tests/math/sincos_test.cc
// checks all of them on demand). Plain double, with an error below 2^-45, nearly always suffices to
// determine the nearest float; where it does not, double-double arithmetic is used.
#pragma once

#include <cstdint>

#include "math/binary64.h"
#include "math/bit_cast.h"
#include "math/double_double.h"
#include "math/host_device.h"

namespace detops::math {

struct SinCosResult {
  float sin, cos;
};

namespace sincos_internal {

template <class Wide>
struct Reduced {
  DoubleDoubleOf<Wide> r;  // |x| = quadrant * pi/2 + r, |r| <= pi/4
  uint32_t quadrant;       // modulo 4
};

// |x| > pi/4, finite. Payne and Hanek: multiply the 24-bit significand by those 128 bits of 2/pi
// that decide the product modulo 4. Fixed point, so no argument is too large.
template <class Wide>
DETOPS_HD Reduced<Wide> Reduce(float abs_x) {
  // 32 zero bits, then 2/pi.
  constexpr uint32_t kTwoOverPi[9] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                      0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  const uint32_t bits = BitCast<uint32_t>(abs_x);
  const uint64_t significand = (bits & 0x7fffffu) | 0x800000u;
  const int scale = static_cast<int>(bits >> 23) - 150;  // |x| = significand * 2^scale

  // Bits of the table above this one contribute multiples of 4.
  const int first_bit = scale + 30;
  const int word = first_bit / 32, shift = first_bit % 32;
  uint64_t product[4];  // the 128 bits of significand * window, 32 in each, the highest first
  uint64_t carry = 0;
  for (int i = 3; i >= 0; --i) {
    uint64_t window = static_cast<uint64_t>(kTwoOverPi[word + i]) << shift;
    if (shift != 0) window |= kTwoOverPi[word + i + 1] >> (32 - shift);
    const uint64_t partial = (window & 0xffffffffu) * significand + carry;
    product[i] = partial & 0xffffffffu;
    carry = partial >> 32;
  }

  // In units of 2^-126 quadrants. Round to the nearest quadrant; the remainder is signed.
  uint64_t high = (product[0] << 32) | product[1];
  uint64_t low = (product[2] << 32) | product[3];
  const uint64_t rounded = high + (uint64_t{1} << 61);
  const uint32_t quadrant = static_cast<uint32_t>(rounded >> 62);
  high -= static_cast<uint64_t>(quadrant) << 62;
  const bool negative = (high >> 63) != 0;
  if (negative) {
    low = ~low + 1;
    high = ~high + (low == 0 ? 1 : 0);
  }
  using Pair = DoubleDoubleOf<Wide>;
  const Pair top = TwoSum(static_cast<Wide>(high >> 32) * 0x1p-30,
                          static_cast<Wide>(high & 0xffffffffu) * 0x1p-62);
  const Pair fraction = FastTwoSum(top.hi, top.lo + static_cast<Wide>(low) * 0x1p-126);
  const Pair half_pi = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};
  Pair r = fraction * half_pi;
  if (negative) r = {-r.hi, -r.lo};
  return {r, quadrant};
}

// The Taylor series to the power 19: the largest terms in double-double, the rest in double.
template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> SinSeries(DoubleDoubleOf<Wide> r,
                                         DoubleDoubleOf<Wide> z) {  // z = r*r
  using Pair = DoubleDoubleOf<Wide>;
  Wide tail = -1.0 / 121645100408832000.0;  // 19!
  tail = tail * z.hi + 1.0 / 355687428096000.0;
  tail = tail * z.hi - 1.0 / 1307674368000.0;
  tail = tail * z.hi + 1.0 / 6227020800.0;
  tail = tail * z.hi - 1.0 / 39916800.0;
  tail = tail * z.hi + 1.0 / 362880.0;
  tail = tail * z.hi - 1.0 / 5040.0;
  Pair sum = Pair{0x1.1111111111111p-7, 0x1.1111111111111p-63} + z * Pair{tail, 0.0};  // 1/5!
  sum = Pair{-0x1.5555555555555p-3, -0x1.5555555555555p-57} + z * sum;                 // 1/3!
  return r + r * (z * sum);
}

template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> CosSeries(DoubleDoubleOf<Wide> z) {
  using Pair = DoubleDoubleOf<Wide>;
  Wide tail = -1.0 / 6402373705728000.0;  // 18!
  tail = tail * z.hi + 1.0 / 20922789888000.0;
  tail = tail * z.hi - 1.0 / 87178291200.0;
  tail = tail * z.hi + 1.0 / 479001600.0;
  tail = tail * z.hi - 1.0 / 3628800.0;
  tail = tail * z.hi + 1.0 / 40320.0;
  tail = tail * z.hi - 1.0 / 720.0;
  Pair sum = Pair{0x1.5555555555555p-5, 0x1.5555555555555p-59} + z * Pair{tail, 0.0};  // 1/4!
  sum = Pair{-0.5, 0.0} + z * sum;
  return Pair{1.0, 0.0} + z * sum;
}

// The same series in double, and the float it rounds to; certain if all values within 2^-45 round
// to the same float.
struct Rounded {
  float value;
  bool certain;
};
template <class Wide>
DETOPS_HD Rounded RoundIfCertain(Wide v) {
  const float low = static_cast<float>(v * (1.0 - 0x1p-45));
  const float high = static_cast<float>(v * (1.0 + 0x1p-45));
  return {low, low == high};
}
template <class Wide>
DETOPS_HD Rounded QuickSin(Wide r) {
  const Wide z = r * r;
  Wide p = -1.0 / 1307674368000.0;  // 15!
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return RoundIfCertain(r + r * (z * p));
}
template <class Wide>
DETOPS_HD Rounded QuickCos(Wide r) {
  const Wide z = r * r;
  Wide p = 1.0 / 20922789888000.0;  // 16!
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  p = p * z - 0.5;
  return RoundIfCertain(1.0 + z * p);
}

// One rounding of hi + lo: first to odd in double, then to nearest in float.
template <class Wide>
DETOPS_HD float RoundToFloat(DoubleDoubleOf<Wide> v) {
  uint64_t bits = BitCast<uint64_t>(v.hi);
  if (v.lo != 0.0 && (bits & 1u) == 0) bits += (v.lo > 0.0) == (v.hi > 0.0) ? 1u : ~uint64_t{0};
  return static_cast<float>(BitCast<Wide>(bits));
}

}  // namespace sincos_internal

// NaN for an infinite or NaN argument.
template <class Wide = Binary64>
DETOPS_HD SinCosResult SinCos(float x) {
  using namespace sincos_internal;
  const bool negative = (BitCast<uint32_t>(x) >> 31) != 0;
  const float abs_x = negative ? -x : x;
  if (!(abs_x <= 0x1.fffffep127f)) return {x - x, x - x};
  Reduced<Wide> reduced = {{abs_x, 0.0}, 0};
  if (abs_x > 0x1.921fb4p-1f) reduced = Reduce<Wide>(abs_x);  // the largest float below pi/4
  const Rounded quick_sin = QuickSin(reduced.r.hi), quick_cos = QuickCos(reduced.r.hi);
  float s = quick_sin.value, c = quick_cos.value;
  if (!quick_sin.certain || !quick_cos.certain) {
    const DoubleDoubleOf<Wide> z = reduced.r * reduced.r;
    s = RoundToFloat(SinSeries(reduced.r, z));
    c = RoundToFloat(CosSeries(z));
  }
  const bool swap = (reduced.quadrant & 1u) != 0;
  float sine = swap ? c : s;
  float cosine = swap ? s : c;
  if (reduced.quadrant >= 2) sine = -sine;
  if (reduced.quadrant == 1 || reduced.quadrant == 2) cosine = -cosine;
  return {negative ? -sine : sine, cosine};
}

}  // namespace detops::math
