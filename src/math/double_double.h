// SPDX-License-Identifier: Apache-2.0
//
// A number as the unevaluated sum of two doubles: about 106 bits, from additions and products that
// round once each (no fused multiply-add, which not every target has).
#pragma once

#include "math/host_device.h"

namespace detops::math {

struct DoubleDouble {
  double hi, lo = 0.0;
};

// hi + lo == a + b exactly.
DETOPS_HD DoubleDouble TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// The same, for |a| >= |b|.
DETOPS_HD DoubleDouble FastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// hi + lo == a * b exactly (Dekker), for factors whose products neither overflow nor underflow.
DETOPS_HD DoubleDouble TwoProduct(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1.0;
  const double a_scaled = a * kSplit, b_scaled = b * kSplit;
  const double a_hi = a_scaled - (a_scaled - a), a_lo = a - a_hi;
  const double b_hi = b_scaled - (b_scaled - b), b_lo = b - b_hi;
  const double product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

DETOPS_HD DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble sum = TwoSum(a.hi, b.hi);
  return FastTwoSum(sum.hi, sum.lo + (a.lo + b.lo));
}

DETOPS_HD DoubleDouble operator-(DoubleDouble v) { return {-v.hi, -v.lo}; }
DETOPS_HD DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

DETOPS_HD DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = TwoProduct(a.hi, b.hi);
  return FastTwoSum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

DETOPS_HD DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double quotient = a.hi / b.hi;
  const DoubleDouble rest = a - DoubleDouble{quotient} * b;
  return FastTwoSum(quotient, rest.hi / b.hi);
}

DETOPS_HD bool operator<(DoubleDouble a, DoubleDouble b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}
DETOPS_HD bool operator>(DoubleDouble a, DoubleDouble b) { return b < a; }

}  // namespace detops::math
