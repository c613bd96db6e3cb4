// SPDX-License-Identifier: Apache-2.0
//
// Functions of one and two numbers, in double: their results, rounded to float, are the same on
// every host, because nothing but + - * / and square roots of IEEE is used, and so close to the
// exact value (2^-40 of it or better, where not said otherwise) that float is nearly always the
// nearest one. Those that the vector unit's loops use have no branches, so that compilers vectorise
// them.
#ifndef BANG_BUILTINS_FUNCTIONS_H_
#define BANG_BUILTINS_FUNCTIONS_H_

#include <math.h>
#include <stdint.h>

#include "bang/half.h"

namespace bang {
namespace {  // each instruction set has its own copy

constexpr double kNaN = __builtin_nan("");
constexpr double kInfinity = __builtin_inf();
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kRoundingShift =
    0x1.8p52;  // adding it rounds to an integer, which lies in its bits

inline uint64_t Bits(double x) { return __builtin_bit_cast(uint64_t, x); }
inline double FromDoubleBits(uint64_t bits) { return __builtin_bit_cast(double, bits); }

template <int kCount>
inline double Polynomial(double x, const double (&coefficients)[kCount]) {
  double sum = coefficients[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

// 2^x; what lies beyond 2^-1000 and 2^1000 counts as these, far outside of float.
inline double Exp2(double x) {
  x = x < -1000 ? -1000 : x;
  x = x > 1000 ? 1000 : x;
  const double shifted = x + kRoundingShift;
  const double r = x - (shifted - kRoundingShift);  // in [-1/2, 1/2]
  // ln(2)^k / k!
  constexpr double kTaylor[] = {1,
                                0x1.62e42fefa39efp-1,
                                0x1.ebfbdff82c58fp-3,
                                0x1.c6b08d704a0cp-5,
                                0x1.3b2ab6fba4e77p-7,
                                0x1.5d87fe78a6731p-10,
                                0x1.430912f86c787p-13,
                                0x1.ffcbfc588b0c7p-17,
                                0x1.62c0223a5c824p-20,
                                0x1.b5253d395e7c4p-24,
                                0x1.e4cf5158b8ecap-28,
                                0x1.e8cac7351bb25p-32,
                                0x1.c3bd650fc2986p-36};
  return Polynomial(r, kTaylor) * FromDoubleBits((Bits(shifted) + 1023) << 52);
}

inline double Exp(double x) { return Exp2(x * kLog2E); }

// The exponent and the natural logarithm of the mantissa, which is in [1/sqrt(2), sqrt(2)].
struct LogParts {
  double exponent, log_mantissa;
};
inline LogParts SplitLog(double x) {
  constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  const uint64_t bits = Bits(x);
  const uint64_t above = bits - kSqrtHalf;
  const double mantissa = FromDoubleBits(bits - (above & 0xFFF0000000000000));
  const uint64_t biased = (above + (1024ull << 52)) >> 52;
  const double exponent = FromDoubleBits(0x4330000000000000 | biased) - (0x1p52 + 1024);
  const double s = (mantissa - 1) / (mantissa + 1);
  constexpr double kTaylor[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9, 2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  return {exponent, s * Polynomial(s * s, kTaylor)};
}

inline double LogSpecial(double x, double log) {
  log = x == 0 ? -kInfinity : log;
  log = x == kInfinity ? kInfinity : log;
  return x >= 0 ? log : kNaN;
}

inline double Log2(double x) {
  const LogParts parts = SplitLog(x);
  return LogSpecial(x, parts.exponent + parts.log_mantissa * kLog2E);
}

inline double Log(double x) {
  const LogParts parts = SplitLog(x);
  return LogSpecial(x, parts.exponent * kLn2 + parts.log_mantissa);
}

inline double Log10(double x) { return Log(x) * 0x1.bcb7b1526e50ep-2; }

// For numbers above 0, and infinity.
inline double LogOf1Plus(double x) {
  const double y = 1 + x;
  const double correction = x - (y - 1);  // what the sum cut off
  return y < 1e18 ? Log(y) + correction / y : Log(y);
}

inline double Softplus(double x) {
  const double magnitude = FromDoubleBits(Bits(x) & ~(1ull << 63));
  return (x > 0 ? x : 0) + LogOf1Plus(Exp(-magnitude)) + (x - x == 0 || x > 0 || x < 0 ? 0 : x);
}

inline double Log1p(double x) {
  const double y = 1 + x;
  if (y == 1) return x;
  if (y == kInfinity || !(y > 0)) return Log(y);
  return Log(y) * (x / (y - 1));
}

// An angle less the nearest multiple of pi/2, and that multiple, modulo 4.
struct Angle {
  double rest;
  uint64_t quarter;
};

constexpr double kLargeAngle = 1e6;

inline Angle Reduce(double x) {  // |x| <= kLargeAngle
  const double shifted = x * (2 / kPi) + kRoundingShift;
  const double multiple = shifted - kRoundingShift;
  // pi/2 in two parts; the product with the first has no rounding.
  const double rest = (x - multiple * 0x1.921fb544p+0) - multiple * 0x1.0b4611a626331p-34;
  return {rest, Bits(shifted)};
}

// Any finite float: the 128 bits of 2/pi that matter, times the mantissa, modulo 4.
inline Angle ReduceLarge(float x) {
  constexpr uint64_t kTwoOverPi[] = {0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041,
                                     0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0};
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 127 - 23;
  const uint64_t mantissa = (bits & 0x7FFFFF) | 0x800000;
  unsigned __int128 window = 0;  // its highest bit has the weight 2
  for (int i = 0; i < 128; ++i) {
    const int bit = exponent - 2 + i;  // of the fraction, from 0
    const uint64_t value = bit < 0 ? 0 : kTwoOverPi[bit / 64] >> (63 - bit % 64) & 1;
    window = window << 1 | value;
  }
  const unsigned __int128 product = window * mantissa;
  uint64_t quarter = static_cast<uint64_t>(product >> 126);
  double fraction = static_cast<double>(static_cast<uint64_t>(product >> 62)) * 0x1p-64;
  if (fraction >= 0.5) {
    // From above, so that small rests keep their bits.
    const unsigned __int128 below = -(product << 2);
    fraction = -static_cast<double>(static_cast<uint64_t>(below >> 64)) * 0x1p-64 -
               static_cast<double>(static_cast<uint64_t>(below)) * 0x1p-128;
    ++quarter;
  } else {
    fraction += static_cast<double>(static_cast<uint64_t>(product) << 2) * 0x1p-128;
  }
  const double rest = fraction * (kPi / 2);
  return bits >> 31 ? Angle{-rest, 0 - quarter} : Angle{rest, quarter};
}

// sin(angle) for turn 0, cos for turn 1: what is a quarter ahead.
inline double SinOf(Angle angle, uint64_t turn) {
  constexpr double kSin[] = {1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
                             1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  constexpr double kCos[] = {1.0,
                             -1.0 / 2,
                             1.0 / 24,
                             -1.0 / 720,
                             1.0 / 40320,
                             -1.0 / 3628800,
                             1.0 / 479001600,
                             -1.0 / 87178291200,
                             1.0 / 20922789888000};
  const uint64_t quarter = angle.quarter + turn;
  const double square = angle.rest * angle.rest;
  const double sine = angle.rest * Polynomial(square, kSin);
  const double cosine = Polynomial(square, kCos);
  const double value = quarter & 1 ? cosine : sine;
  return FromDoubleBits(Bits(value) ^ (quarter & 2) << 62);
}

inline double SmallSin(double x) { return SinOf(Reduce(x), 0); }
inline double SmallCos(double x) { return SinOf(Reduce(x), 1); }

inline double AnySin(float x, uint64_t turn) {
  if (!(fabsf(x) < __builtin_inff())) return kNaN;
  return SinOf(fabsf(x) <= static_cast<float>(kLargeAngle) ? Reduce(x) : ReduceLarge(x), turn);
}

inline double Tanh(double x) {
  const double magnitude = FromDoubleBits(Bits(x) & ~(1ull << 63));
  const double e = Exp2(magnitude * (2 * kLog2E));
  constexpr double kTaylor[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835};
  const double square = x * x;
  const double small = magnitude * Polynomial(square, kTaylor);
  double value = magnitude < 0.04 ? small : (e - 1) / (e + 1);
  value = magnitude > 100 ? 1 : value;
  return FromDoubleBits(Bits(value) | (Bits(x) & 1ull << 63));
}

inline double Sigmoid(double x) { return 1 / (1 + Exp(-x)); }

// erfc(x) for x >= 2: a continued fraction.
inline double LargeErfc(double x) {
  double tail = 0;
  for (int k = 120; k > 0; --k) tail = k / (2 * x * x) / (1 + tail);
  return Exp(-x * x) / (x * 0x1.c5bf891b4ef6ap+0) / (1 + tail);
}

inline double Erf(double x) {
  const double magnitude = fabs(x);
  if (!(magnitude < 2)) {
    if (x != x) return kNaN;
    return copysign(magnitude > 6 ? 1 : 1 - LargeErfc(magnitude), x);
  }
  // All terms of this series have one sign.
  double term = x, sum = x;
  for (int k = 1; k < 60; ++k) {
    term *= 2 * x * x / (2 * k + 1);
    sum += term;
  }
  return sum * Exp(-x * x) * 0x1.20dd750429b6dp+0;
}

inline double Gelu(double x) {
  if (x == -kInfinity) return 0;
  const double y = x * 0x1.6a09e667f3bcdp-1;
  if (y <= -2) return x * (y < -30 ? 0 : 0.5 * LargeErfc(-y));
  return x * (0.5 * (1 + Erf(y)));
}

inline double Atan(double x) {
  const double magnitude = fabs(x);
  double y = magnitude > 1 ? 1 / magnitude : magnitude;
  y = y / (1 + sqrt(1 + y * y));  // twice half of the angle
  y = y / (1 + sqrt(1 + y * y));
  double sum = 0;
  const double square = y * y;
  for (int k = 27; k > 0; k -= 2) sum = 1.0 / k - square * sum;
  const double angle = 4 * y * sum;
  return copysign(magnitude > 1 ? kPi / 2 - angle : angle, x);
}

inline double Asin(double x) { return Atan(x / sqrt((1 - x) * (1 + x))); }
inline double Acos(double x) { return 2 * Atan(sqrt((1 - x) / (1 + x))); }
inline double Tan(float x) { return AnySin(x, 0) / AnySin(x, 1); }

inline double Sinh(double x) {
  if (fabs(x) < 0.3) {
    double sum = 1;
    for (int k = 16; k > 0; k -= 2) sum = 1 + x * x / (k * (k + 1)) * sum;
    return x * sum;
  }
  const double e = Exp(fabs(x));
  return copysign((e - 1 / e) / 2, x);
}

inline double Cosh(double x) {
  const double e = Exp(fabs(x));
  return (e + 1 / e) / 2;
}

inline double Pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNaN;
  const bool integer = floor(y) == y;
  const bool odd = integer && fabs(y) < 0x1p53 && fmod(y, 2) != 0;
  if (x < 0 && !integer && x != -kInfinity && fabs(y) != kInfinity) return kNaN;
  const double magnitude = fabs(x) == 1 ? 1 : Exp2(y * Log2(fabs(x)));
  return odd ? copysign(magnitude, x) : magnitude;
}

}  // namespace
}  // namespace bang

#endif  // BANG_BUILTINS_FUNCTIONS_H_
