// SPDX-License-Identifier: Apache-2.0

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle.h"

namespace detops::oracle {
namespace {

// The functions are first rounded to this many bits, then to the target. The second rounding could
// go wrong only if a value lay within 2^-200 (relative) of a midpoint of two targets without being
// one. For exp, sin and cos of 24-bit arguments the hardest cases need well under 128 bits; where a
// tiny argument makes the result closer than that to a simple number (1, or x itself), that number
// is a float and not a midpoint.
constexpr mpfr_prec_t kPrecision = 200;

// Owns an mpfr_t, which is an array type with manual lifetime.
class Wide {
 public:
  explicit Wide(float x) {
    mpfr_init2(value_, kPrecision);
    mpfr_set_flt(value_, x, MPFR_RNDN);
  }
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  ~Wide() { mpfr_clear(value_); }

  // get_flt and get_ld round correctly into subnormals and infinities.
  float Float() const { return mpfr_get_flt(value_, MPFR_RNDN); }
  long double LongDouble() const { return mpfr_get_ld(value_, MPFR_RNDN); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

using Function = int(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

template <typename Result>
Result Apply(Function* function, float x, Result (Wide::*round)() const) {
  Wide value(x);
  function(value.get(), value.get(), MPFR_RNDN);
  return (value.*round)();
}

}  // namespace

float ExpRounded(float x) { return Apply(mpfr_exp, x, &Wide::Float); }
float SinRounded(float x) { return Apply(mpfr_sin, x, &Wide::Float); }
float CosRounded(float x) { return Apply(mpfr_cos, x, &Wide::Float); }

long double ExpWide(float x) { return Apply(mpfr_exp, x, &Wide::LongDouble); }
long double SinWide(float x) { return Apply(mpfr_sin, x, &Wide::LongDouble); }
long double CosWide(float x) { return Apply(mpfr_cos, x, &Wide::LongDouble); }

uint16_t FloatToHalf(float x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  const double magnitude = std::fabs(static_cast<double>(x));
  // 65520 is midway between the largest half, 65504, and the even 65536 that does not exist.
  if (magnitude >= 65520) return sign + 0x7c00;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  // At most 2048, and then the carry into the exponent comes from the addition below. Subnormals
  // are the multiples below 1024 at the lowest exponent, whose codes are these very multiples.
  const double multiple = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  return static_cast<uint16_t>(sign + (exponent + 14) * 1024 + static_cast<int>(multiple));
}

float HalfToFloat(uint16_t code) {
  const int exponent = code / 1024 % 32;
  const int mantissa = code % 1024;
  float magnitude;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  }
  return code >= 0x8000 ? -magnitude : magnitude;
}

double UlpError(float got, long double exact) {
  if (std::isnan(got) && std::isnan(exact)) return 0;
  const float nearest = static_cast<float>(exact);
  if (std::isinf(got) && got == nearest) return 0;
  if (!std::isfinite(got) || !std::isfinite(nearest)) {
    return std::numeric_limits<double>::infinity();
  }
  const int exponent = nearest == 0 ? -126 : std::max(std::ilogb(nearest), -126);
  return static_cast<double>(std::ldexp(std::fabs(got - exact), 23 - exponent));
}

}  // namespace detops::oracle
