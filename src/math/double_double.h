// SPDX-License-Identifier: Apache-2.0
//
// A number as the unevaluated sum of two doubles (math/binary64.h): about 106 bits, from additions
// and products that round once each (no fused multiply-add, which not every target has).
#pragma once

#include "math/host_device.h"

namespace detops::math {

template <class Wide>
struct DoubleDoubleOf {
  Wide hi, lo = 0.0;
};
using DoubleDouble = DoubleDoubleOf<double>;

// hi + lo == a + b exactly.
template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> TwoSum(Wide a, Wide b) {
  const Wide sum = a + b;
  const Wide b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// The same, for |a| >= |b|.
template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> FastTwoSum(Wide a, Wide b) {
  const Wide sum = a + b;
  return {sum, b - (sum - a)};
}

// hi + lo == a * b exactly (Dekker), for factors whose products neither overflow nor underflow.
template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> TwoProduct(Wide a, Wide b) {
  constexpr Wide kSplit = 0x1p27 + 1.0;
  const Wide a_scaled = a * kSplit, b_scaled = b * kSplit;
  const Wide a_hi = a_scaled - (a_scaled - a), a_lo = a - a_hi;
  const Wide b_hi = b_scaled - (b_scaled - b), b_lo = b - b_hi;
  const Wide product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> operator+(DoubleDoubleOf<Wide> a, DoubleDoubleOf<Wide> b) {
  const DoubleDoubleOf<Wide> sum = TwoSum(a.hi, b.hi);
  return FastTwoSum(sum.hi, sum.lo + (a.lo + b.lo));
}

template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> operator-(DoubleDoubleOf<Wide> v) {
  return {-v.hi, -v.lo};
}
template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> operator-(DoubleDoubleOf<Wide> a, DoubleDoubleOf<Wide> b) {
  return a + -b;
}

template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> operator*(DoubleDoubleOf<Wide> a, DoubleDoubleOf<Wide> b) {
  const DoubleDoubleOf<Wide> product = TwoProduct(a.hi, b.hi);
  return FastTwoSum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

template <class Wide>
DETOPS_HD DoubleDoubleOf<Wide> operator/(DoubleDoubleOf<Wide> a, DoubleDoubleOf<Wide> b) {
  const Wide quotient = a.hi / b.hi;
  const DoubleDoubleOf<Wide> rest = a - DoubleDoubleOf<Wide>{quotient} * b;
  return FastTwoSum(quotient, rest.hi / b.hi);
}

template <class Wide>
DETOPS_HD bool operator<(DoubleDoubleOf<Wide> a, DoubleDoubleOf<Wide> b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}
template <class Wide>
DETOPS_HD bool operator>(DoubleDoubleOf<Wide> a, DoubleDoubleOf<Wide> b) {
  return b < a;
}

}  // namespace detops::math
