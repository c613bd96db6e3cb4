// SPDX-License-Identifier: Apache-2.0
//
// IEEE binary64 in integer arithmetic, for devices that have no double: the same bits as hardware
// gives, rounded to nearest even, with subnormals, infinities and NaN (whose payload is not kept).
//
// Each operator decides the usual case, normal numbers, with few operations and leaves what is rare
// to a function of its own.
#pragma once

#include <cstdint>

#include "math/bit_cast.h"
#include "math/host_device.h"

namespace detops::math {

class SoftDouble {
 public:
  SoftDouble() = default;  // any value, as that of a double
  // For constants, which the compiler converts: the device needs no double.
  DETOPS_HD constexpr SoftDouble(double constant) : bits_(BitCast<uint64_t>(constant)) {}
  DETOPS_HD SoftDouble(float value);
  DETOPS_HD explicit SoftDouble(int32_t value);
  DETOPS_HD explicit SoftDouble(uint32_t value);
  DETOPS_HD explicit SoftDouble(uint64_t value);

  DETOPS_HD explicit operator float() const;

  DETOPS_HD constexpr uint64_t bits() const { return bits_; }
  DETOPS_HD static constexpr SoftDouble FromBits(uint64_t bits) {
    return BitCast<SoftDouble>(bits);
  }

 private:
  uint64_t bits_;  // sign, 11 bits of exponent, 52 of the significand, as in memory
};

static_assert(BitCast<uint64_t>(1.0 / 3.0) == 0x3fd5555555555555u, "constants would be wrong");

namespace soft_double_internal {

constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr uint64_t kLeading = uint64_t{1} << 52;  // of a normal significand; not stored
constexpr uint64_t kFraction = kLeading - 1;      // the bits that are stored
constexpr int64_t kSpecial = 0x7ff;               // the exponent of infinities and NaN
constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
constexpr uint64_t kNan = kInfinity | kLeading >> 1;
constexpr uint64_t kBias = uint64_t{1023 - 127} << 52;   // of exponents, double less float
constexpr uint64_t kNormalFloats = uint64_t{254} << 52;  // how many exponents normal floats have
constexpr uint64_t kLow27 = (uint64_t{1} << 27) - 1;

DETOPS_HD int64_t ExponentOf(uint64_t bits) { return (bits >> 52) & kSpecial; }
DETOPS_HD bool IsNormal(uint64_t exponent) { return exponent - 1 < 2046; }
DETOPS_HD bool IsZero(uint64_t bits) { return bits << 1 == 0; }
DETOPS_HD bool IsInfinite(uint64_t bits) { return bits << 1 == kInfinity << 1; }
DETOPS_HD bool IsNan(uint64_t bits) { return bits << 1 > kInfinity << 1; }

// The position of the leading bit of v > 0. Cleared, the bit behind it can't round the float up to
// the next power of 2.
DETOPS_HD int64_t FloorLog2(uint64_t v) {
  const float rounded = static_cast<float>(v & ~(v >> 1));
  return (BitCast<uint32_t>(rounded) >> 23) - 127;
}

// v / 2^n for v < 2^63, with the last bit set if any bit was lost: it rounds as the exact quotient
// does, where two bits or more are rounded away.
DETOPS_HD uint64_t ShiftRight(uint64_t v, int64_t n) {
  const int64_t limited = n < 63 ? n : 63;
  const uint64_t kept = v >> limited;
  return kept | ((kept << limited) != v);
}

// The last ten bits are rounded away.
DETOPS_HD uint64_t RoundSignificand(uint64_t significand) {
  return (significand + 0x1ff + ((significand >> 10) & 1)) >> 10;
}

// Results that may be infinite or subnormal.
DETOPS_HD SoftDouble RoundOutermost(uint64_t sign, int64_t exponent, uint64_t significand) {
  if (exponent > 2045) return SoftDouble::FromBits(sign | kInfinity);
  if (exponent < 0) {
    significand = ShiftRight(significand, -exponent);
    exponent = 0;
  }
  return SoftDouble::FromBits(sign | ((exponent << 52) + RoundSignificand(significand)));
}

// The double nearest to significand * 2^(exponent - 1084), 2^62 <= significand < 2^63. The leading
// bit of the significand adds one to the exponent, and so does rounding up to a power of 2.
DETOPS_HD SoftDouble Round(uint64_t sign, uint64_t exponent, uint64_t significand) {
  if (exponent >= 2045) return RoundOutermost(sign, exponent, significand);
  return SoftDouble::FromBits(sign | ((exponent << 52) + RoundSignificand(significand)));
}

// A normal or subnormal number: significand * 2^(exponent - 1075), 2^52 <= significand < 2^53.
struct Unpacked {
  uint64_t significand;
  int64_t exponent;
};
DETOPS_HD uint64_t NormalSignificand(uint64_t bits) { return (bits & kFraction) | kLeading; }
DETOPS_HD Unpacked Unpack(uint64_t bits) {
  const int64_t exponent = ExponentOf(bits);
  if (exponent != 0) return {NormalSignificand(bits), exponent};
  const uint64_t significand = bits & kFraction;
  const int64_t shift = 52 - FloorLog2(significand);
  return {significand << shift, 1 - shift};
}

// ---- addition ---------------------------------------------------------------------------------

// Of two numbers that are given by significand * 2^(exponent - 1084), below 2^62, the larger first.
// `a` and `b` are their bits, for their signs. Nine bits behind those of a double, the last of them
// standing for all that follow, are more than enough for every sum.
DETOPS_HD SoftDouble AddAligned(uint64_t a, int64_t exponent_a, uint64_t significand_a, uint64_t b,
                                int64_t exponent_b, uint64_t significand_b) {
  const uint64_t shifted = ShiftRight(significand_b, exponent_a - exponent_b);
  const uint64_t sum = (a ^ b) < kSign ? significand_a + shifted : significand_a - shifted;
  if (sum == 0) return SoftDouble::FromBits(0);
  const int64_t shift = 62 - FloorLog2(sum);
  return Round(a & kSign, exponent_a - shift, sum << shift);
}

// The larger first, and one of them not normal.
DETOPS_HD SoftDouble AddRare(uint64_t a, uint64_t b) {
  if (IsNan(a)) return SoftDouble::FromBits(kNan);
  if (IsInfinite(a)) return SoftDouble::FromBits(b == (a ^ kSign) ? kNan : a);
  if (IsZero(a)) return SoftDouble::FromBits(a & b);
  if (IsZero(b)) return SoftDouble::FromBits(a);
  const Unpacked x = Unpack(a), y = Unpack(b);
  return AddAligned(a, x.exponent, x.significand << 9, b, y.exponent, y.significand << 9);
}

// ---- multiplication ---------------------------------------------------------------------------

DETOPS_HD SoftDouble MultiplyUnpacked(uint64_t sign, const Unpacked& x, const Unpacked& y) {
  // The product has 105 or 106 bits: those of parts of 26 and 27 bits.
  const uint64_t x_high = x.significand >> 27, x_low = x.significand & kLow27;
  const uint64_t y_high = y.significand >> 27, y_low = y.significand & kLow27;
  const uint64_t low = x_low * y_low;
  const uint64_t middle = x_high * y_low + x_low * y_high + (low >> 27);
  // The highest 62 or 63, and whether any other is set.
  const uint64_t rest = (middle << 48) | (low << 37);
  const uint64_t product = ((x_high * y_high << 11) + (middle >> 16)) | (rest != 0);
  const int64_t wide = product >> 62;
  return Round(sign, x.exponent + y.exponent - 1024 + wide, product << (1 - wide));
}

DETOPS_HD SoftDouble MultiplyRare(uint64_t a, uint64_t b) {
  const uint64_t sign = (a ^ b) & kSign;
  if (IsNan(a) || IsNan(b)) return SoftDouble::FromBits(kNan);
  if (IsInfinite(a) || IsInfinite(b)) {
    return SoftDouble::FromBits(IsZero(a) || IsZero(b) ? kNan : sign | kInfinity);
  }
  if (IsZero(a) || IsZero(b)) return SoftDouble::FromBits(sign);
  return MultiplyUnpacked(sign, Unpack(a), Unpack(b));
}

// ---- division ---------------------------------------------------------------------------------

// The next 20 bits of a quotient, or one less than that, and what remains of `rest`, which stays
// below 1.7 times the divisor. `inverse` is 2^83 / divisor, too small by less than 2^-21 of it.
DETOPS_HD uint64_t NextDigit(uint64_t& rest, uint64_t divisor, uint64_t inverse) {
  const uint64_t digit = ((rest >> 22) * inverse) >> 41;
  rest = (rest << 20) - digit * divisor;
  return digit;
}

DETOPS_HD SoftDouble DivideUnpacked(uint64_t sign, const Unpacked& x, const Unpacked& y) {
  const uint64_t divisor = y.significand;
  const int64_t below = x.significand < divisor;
  uint64_t rest = x.significand << below;  // 1 <= rest / divisor < 2
  // The reciprocal of the highest 24 bits and a little more than what follows them, for it must not
  // be too large after its rounding either.
  const float reciprocal = 1.0f / static_cast<float>(static_cast<uint32_t>(divisor >> 29) + 2);
  const uint64_t inverse = static_cast<uint32_t>(reciprocal * 0x1p54f);
  uint64_t quotient = NextDigit(rest, divisor, inverse) << 40;
  quotient += NextDigit(rest, divisor, inverse) << 20;
  quotient += NextDigit(rest, divisor, inverse);
  if (rest >= divisor) {
    rest -= divisor;
    quotient += 1;
  }
  return Round(sign, x.exponent - y.exponent + 1022 - below, quotient << 2 | (rest != 0));
}

DETOPS_HD SoftDouble DivideRare(uint64_t a, uint64_t b) {
  const uint64_t sign = (a ^ b) & kSign;
  if (IsNan(a) || IsNan(b)) return SoftDouble::FromBits(kNan);
  if (IsInfinite(a)) return SoftDouble::FromBits(IsInfinite(b) ? kNan : sign | kInfinity);
  if (IsZero(b)) return SoftDouble::FromBits(IsZero(a) ? kNan : sign | kInfinity);
  if (IsZero(a) || IsInfinite(b)) return SoftDouble::FromBits(sign);
  return DivideUnpacked(sign, Unpack(a), Unpack(b));
}

// ---- conversions ------------------------------------------------------------------------------

DETOPS_HD uint64_t FromInteger(uint64_t sign, uint64_t magnitude) {
  if (magnitude == 0) return 0;
  const int64_t lead = FloorLog2(magnitude);
  const uint64_t significand =
      lead == 63 ? magnitude >> 1 | (magnitude & 1) : magnitude << (62 - lead);
  return Round(sign, lead + 1022, significand).bits();
}

// A float that is not normal.
DETOPS_HD uint64_t FromRareFloat(uint64_t sign, uint32_t magnitude) {
  if (magnitude == 0) return sign;
  if (magnitude >= 0x7f800000u) return magnitude == 0x7f800000u ? sign | kInfinity : kNan;
  const int64_t lead = FloorLog2(magnitude);  // the last place is 2^-149
  return sign | ((static_cast<uint64_t>(lead + 873) << 52) + (uint64_t{magnitude} << (52 - lead)));
}

DETOPS_HD uint64_t FromFloat(float value) {
  const uint32_t bits = BitCast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const uint64_t sign = static_cast<uint64_t>(bits ^ magnitude) << 32;
  if (magnitude - 0x800000u >= 0x7f000000u) return FromRareFloat(sign, magnitude);
  return sign | ((static_cast<uint64_t>(magnitude) << 29) + kBias);
}

// Infinite, NaN or too small for a normal float. Two bits behind those of a float round it.
DETOPS_HD uint32_t ToRareFloat(uint64_t magnitude) {
  if (magnitude > kInfinity) return 0x7fc00000u;
  const int64_t exponent = ExponentOf(magnitude);
  if (exponent > 1023) return 0x7f800000u;
  if (exponent == 0) return 0;
  const uint64_t places = ShiftRight(NormalSignificand(magnitude), 924 - exponent);  // of 2^-151
  return static_cast<uint32_t>((places + 1 + ((places >> 2) & 1)) >> 2);
}

// Ordered as the numbers are, but for NaN, which lies outside of the infinities.
constexpr int64_t kMostOrder = static_cast<int64_t>(kInfinity), kLeastOrder = -kMostOrder;
DETOPS_HD int64_t OrderOf(SoftDouble v) {
  return static_cast<int64_t>(v.bits() < kSign ? v.bits() : kSign - v.bits());
}

}  // namespace soft_double_internal

DETOPS_HD SoftDouble operator-(SoftDouble v) {
  return SoftDouble::FromBits(v.bits() ^ soft_double_internal::kSign);
}

DETOPS_HD SoftDouble operator+(SoftDouble x, SoftDouble y) {
  using namespace soft_double_internal;
  const bool swap = x.bits() << 1 < y.bits() << 1;
  const uint64_t a = swap ? y.bits() : x.bits(), b = swap ? x.bits() : y.bits();
  const int64_t exponent_a = ExponentOf(a), exponent_b = ExponentOf(b);
  if (exponent_a == kSpecial || exponent_b == 0) return AddRare(a, b);
  return AddAligned(a, exponent_a, NormalSignificand(a) << 9, b, exponent_b,
                    NormalSignificand(b) << 9);
}

DETOPS_HD SoftDouble operator-(SoftDouble x, SoftDouble y) { return x + -y; }

DETOPS_HD SoftDouble operator*(SoftDouble x, SoftDouble y) {
  using namespace soft_double_internal;
  const uint64_t a = x.bits(), b = y.bits();
  const int64_t exponent_a = ExponentOf(a), exponent_b = ExponentOf(b);
  if (!IsNormal(exponent_a) || !IsNormal(exponent_b)) return MultiplyRare(a, b);
  return MultiplyUnpacked((a ^ b) & kSign, {NormalSignificand(a), exponent_a},
                          {NormalSignificand(b), exponent_b});
}

DETOPS_HD SoftDouble operator/(SoftDouble x, SoftDouble y) {
  using namespace soft_double_internal;
  const uint64_t a = x.bits(), b = y.bits();
  const int64_t exponent_a = ExponentOf(a), exponent_b = ExponentOf(b);
  if (!IsNormal(exponent_a) || !IsNormal(exponent_b)) return DivideRare(a, b);
  return DivideUnpacked((a ^ b) & kSign, {NormalSignificand(a), exponent_a},
                        {NormalSignificand(b), exponent_b});
}

// A NaN on the left that is below y would be below -inf, and one on the right above +inf.
DETOPS_HD bool operator<(SoftDouble x, SoftDouble y) {
  using namespace soft_double_internal;
  const int64_t a = OrderOf(x), b = OrderOf(y);
  return a < b && a >= kLeastOrder && b <= kMostOrder;
}
DETOPS_HD bool operator<=(SoftDouble x, SoftDouble y) {
  using namespace soft_double_internal;
  const int64_t a = OrderOf(x), b = OrderOf(y);
  return a <= b && a >= kLeastOrder && b <= kMostOrder;
}
DETOPS_HD bool operator==(SoftDouble x, SoftDouble y) {
  using namespace soft_double_internal;
  return OrderOf(x) == OrderOf(y) && !IsNan(x.bits());
}
DETOPS_HD bool operator>(SoftDouble x, SoftDouble y) { return y < x; }
DETOPS_HD bool operator>=(SoftDouble x, SoftDouble y) { return y <= x; }
DETOPS_HD bool operator!=(SoftDouble x, SoftDouble y) { return !(x == y); }

DETOPS_HD SoftDouble::SoftDouble(float value) : bits_(soft_double_internal::FromFloat(value)) {}
DETOPS_HD SoftDouble::SoftDouble(int32_t value)
    : bits_(soft_double_internal::FromInteger(
          value < 0 ? soft_double_internal::kSign : 0,
          value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value))) {}
DETOPS_HD SoftDouble::SoftDouble(uint32_t value)
    : bits_(soft_double_internal::FromInteger(0, value)) {}
DETOPS_HD SoftDouble::SoftDouble(uint64_t value)
    : bits_(soft_double_internal::FromInteger(0, value)) {}

DETOPS_HD SoftDouble::operator float() const {
  using namespace soft_double_internal;
  const uint64_t magnitude = bits_ & ~kSign;
  const uint32_t sign = static_cast<uint32_t>((bits_ ^ magnitude) >> 32);
  const uint64_t biased = magnitude - kBias;
  if (biased - kLeading >= kNormalFloats) return BitCast<float>(sign | ToRareFloat(magnitude));
  // Rounding up to 2^128 gives infinity.
  return BitCast<float>(sign |
                        static_cast<uint32_t>((biased + 0xfffffff + ((biased >> 29) & 1)) >> 29));
}

}  // namespace detops::math
