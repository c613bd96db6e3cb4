// SPDX-License-Identifier: Apache-2.0
//
// The floating types of 16 bits. `half` is what device code calls fp16: every operation rounds to
// it. It is the compiler's own type where there is one in C++ (g++ on x86-64), else a class with
// the same bits. `bfloat16_t` is a class everywhere.
#ifndef BANG_HALF_H_
#define BANG_HALF_H_

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>

namespace bang {

template <typename To, typename From>
constexpr To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "BitCast keeps the bits");
  return __builtin_bit_cast(To, from);
}

// How a conversion treats what lies between two values of its result.
enum class Rounding : uint8_t {
  kNearestEven,   // _rn
  kNearestAway,   // _rd: ties away from zero
  kNearestUp,     // _rm: ties up
  kTowardZero,    // _tz
  kAwayFromZero,  // _oz
  kUp,            // _up
  kDown           // _dn
};

// Whether a positive magnitude goes up to its next value: `half_way` compares what is cut off with
// half a step (-1, 0, 1; `cut` says whether it is anything at all), `odd` is the last bit kept.
constexpr bool RoundsUp(Rounding rounding, bool negative, bool odd, bool cut, int half_way) {
  switch (rounding) {
    case Rounding::kNearestEven: return half_way > 0 || (half_way == 0 && odd);
    case Rounding::kNearestAway: return half_way >= 0;
    case Rounding::kNearestUp: return half_way > 0 || (half_way == 0 && !negative);
    case Rounding::kTowardZero: return false;
    case Rounding::kAwayFromZero: return cut;
    case Rounding::kUp: return cut && !negative;
    case Rounding::kDown: return cut && negative;
  }
  return false;
}

// The bits of a value with `exponent_bits` and `mantissa_bits` from a double: one rounding,
// whatever the source was. A NaN becomes the quiet one of its sign.
constexpr uint32_t NarrowBits(double value, int exponent_bits, int mantissa_bits, Rounding rounding) {
  const uint64_t bits = BitCast<uint64_t>(value);
  const bool negative = bits >> 63;
  const uint32_t sign = (negative ? 1u : 0u) << (exponent_bits + mantissa_bits);
  const int max_exponent = (1 << exponent_bits) - 1;
  const int bias = max_exponent >> 1;
  const uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const uint32_t infinity = static_cast<uint32_t>(max_exponent) << mantissa_bits;
  if (exponent == 0x7FF) {
    const uint32_t quiet = 1u << (mantissa_bits - 1);
    return sign | infinity | (fraction ? quiet : 0);
  }
  if (exponent == 0 && fraction == 0) return sign;
  // The result is `kept` steps; below the smallest normal value the steps stay as they are there.
  int result_exponent = exponent - 1023 + bias;
  uint64_t mantissa = exponent == 0 ? fraction : fraction | 1ull << 52;
  int shift = 52 - mantissa_bits;
  if (result_exponent < 1) {
    shift += 1 - result_exponent;
    result_exponent = 1;
  }
  if (shift > 62) {
    shift = 62;  // all of it is cut off, and less than half a step
    mantissa = 1;
  }
  uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((1ull << shift) - 1);
  const uint64_t half_step = 1ull << (shift - 1);
  const int half_way = rest > half_step ? 1 : rest == half_step ? 0 : -1;
  kept += RoundsUp(rounding, negative, kept & 1, rest != 0, half_way);
  // A carry out of the mantissa adds one to the exponent, as it should.
  uint64_t result = kept + (static_cast<uint64_t>(result_exponent - 1) << mantissa_bits);
  if (result >= infinity) {
    // Beyond the largest value: infinity, unless the mode never rounds to it.
    const bool to_infinity = rounding == Rounding::kUp     ? !negative
                             : rounding == Rounding::kDown ? negative
                                                           : rounding != Rounding::kTowardZero;
    result = to_infinity ? infinity : infinity - 1;
  }
  return sign | static_cast<uint32_t>(result);
}

constexpr uint16_t HalfBits(double value, Rounding rounding = Rounding::kNearestEven) {
  return static_cast<uint16_t>(NarrowBits(value, 5, 10, rounding));
}

constexpr uint16_t BFloat16Bits(double value, Rounding rounding = Rounding::kNearestEven) {
  return static_cast<uint16_t>(NarrowBits(value, 8, 7, rounding));
}

constexpr float HalfValue(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00) {  // infinity, or a NaN, made quiet
    const uint32_t quiet = magnitude > 0x7C00 ? 0x400000u : 0;
    return BitCast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13 | quiet);
  }
  // As if it were a float whose exponent is 112 too small; the product is exact.
  const float value = BitCast<float>(magnitude << 13) * 0x1p112f;
  return BitCast<float>(sign | BitCast<uint32_t>(value));
}

constexpr float BFloat16Value(uint16_t bits) {
  return BitCast<float>(static_cast<uint32_t>(bits) << 16);
}

// A type of 16 bits that computes in float and rounds the result, once: for + - * / that is the
// correctly rounded result, because float has more than twice the bits.
template <int kExponentBits, int kMantissaBits>
class Float16 {
 public:
  Float16() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>
  constexpr Float16(T value)  // NOLINT(google-explicit-constructor): converts as the built-in types do
      : bits_(static_cast<uint16_t>(NarrowBits(static_cast<double>(value), kExponentBits,
                                               kMantissaBits, Rounding::kNearestEven))) {}
  template <int kOtherExponentBits, int kOtherMantissaBits>
  explicit Float16(Float16<kOtherExponentBits, kOtherMantissaBits> value)
      : Float16(static_cast<float>(value)) {}

  // To float and to nothing else without a cast: so `b ? half_value : 0` is a half.
  template <typename T, std::enable_if_t<std::is_same<T, float>::value, int> = 0>
  constexpr operator T() const {  // NOLINT(google-explicit-constructor)
    return kExponentBits == 8 ? BFloat16Value(bits_) : HalfValue(bits_);
  }
  template <typename T, std::enable_if_t<std::is_arithmetic<T>::value &&
                                             !std::is_same<T, float>::value, int> = 0>
  constexpr explicit operator T() const {
    return static_cast<T>(static_cast<float>(*this));
  }

  static Float16 FromBits(uint16_t bits) {
    Float16 value;
    value.bits_ = bits;
    return value;
  }
  uint16_t bits() const { return bits_; }

  Float16 operator+() const { return *this; }
  Float16 operator-() const { return FromBits(static_cast<uint16_t>(bits_ ^ 0x8000)); }
  Float16& operator++() { return *this = *this + 1; }
  Float16& operator--() { return *this = *this - 1; }
  Float16 operator++(int) {
    const Float16 old = *this;
    ++*this;
    return old;
  }
  Float16 operator--(int) {
    const Float16 old = *this;
    --*this;
    return old;
  }

 private:
  uint16_t bits_;
};

// What an operation with an operand of type T computes in, as with the built-in types: an integer
// becomes a Float16, a float or double stays what it is.
template <typename F, typename T>
using Wider = std::conditional_t<std::is_integral<T>::value, F, T>;

#define BANG_FLOAT16_OPERATOR(op)                                                                \
  template <int E, int M>                                                                        \
  inline Float16<E, M> operator op(Float16<E, M> a, Float16<E, M> b) {                           \
    return static_cast<float>(a) op static_cast<float>(b);                                       \
  }                                                                                              \
  template <int E, int M, typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>> \
  inline Wider<Float16<E, M>, T> operator op(Float16<E, M> a, T b) {                             \
    return static_cast<Wider<Float16<E, M>, T>>(a) op static_cast<Wider<Float16<E, M>, T>>(b);   \
  }                                                                                              \
  template <int E, int M, typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>> \
  inline Wider<Float16<E, M>, T> operator op(T a, Float16<E, M> b) {                             \
    return static_cast<Wider<Float16<E, M>, T>>(a) op static_cast<Wider<Float16<E, M>, T>>(b);   \
  }                                                                                              \
  template <int E, int M, typename T>                                                            \
  inline Float16<E, M>& operator op##=(Float16<E, M>& a, T b) {                                  \
    return a = static_cast<Float16<E, M>>(a op b);                                               \
  }
BANG_FLOAT16_OPERATOR(+)
BANG_FLOAT16_OPERATOR(-)
BANG_FLOAT16_OPERATOR(*)
BANG_FLOAT16_OPERATOR(/)
#undef BANG_FLOAT16_OPERATOR

#define BANG_FLOAT16_COMPARISON(op)                                                              \
  template <int E, int M>                                                                        \
  inline bool operator op(Float16<E, M> a, Float16<E, M> b) {                                    \
    return static_cast<float>(a) op static_cast<float>(b);                                       \
  }                                                                                              \
  template <int E, int M, typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>> \
  inline bool operator op(Float16<E, M> a, T b) {                                                \
    return static_cast<Wider<Float16<E, M>, T>>(a) op static_cast<Wider<Float16<E, M>, T>>(b);   \
  }                                                                                              \
  template <int E, int M, typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>> \
  inline bool operator op(T a, Float16<E, M> b) {                                                \
    return static_cast<Wider<Float16<E, M>, T>>(a) op static_cast<Wider<Float16<E, M>, T>>(b);   \
  }
BANG_FLOAT16_COMPARISON(==)
BANG_FLOAT16_COMPARISON(!=)
BANG_FLOAT16_COMPARISON(<)
BANG_FLOAT16_COMPARISON(<=)
BANG_FLOAT16_COMPARISON(>)
BANG_FLOAT16_COMPARISON(>=)
#undef BANG_FLOAT16_COMPARISON

}  // namespace bang

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
typedef _Float16 half;
#else
typedef bang::Float16<5, 10> half;
#endif
typedef bang::Float16<8, 7> bfloat16_t;

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "both are stored in 16 bits");

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
// The C library's functions of a half are those of float; without these, a call is ambiguous.
#define BANG_FUNCTION_OF_HALF(name)                                \
  namespace std {                                                  \
  inline auto name(half x) { return name(static_cast<float>(x)); } \
  }                                                                \
  using std::name;
BANG_FUNCTION_OF_HALF(abs)
BANG_FUNCTION_OF_HALF(fabs)
BANG_FUNCTION_OF_HALF(floor)
BANG_FUNCTION_OF_HALF(ceil)
BANG_FUNCTION_OF_HALF(round)
BANG_FUNCTION_OF_HALF(trunc)
BANG_FUNCTION_OF_HALF(sqrt)
BANG_FUNCTION_OF_HALF(exp)
BANG_FUNCTION_OF_HALF(exp2)
BANG_FUNCTION_OF_HALF(log)
BANG_FUNCTION_OF_HALF(log2)
BANG_FUNCTION_OF_HALF(log10)
BANG_FUNCTION_OF_HALF(sin)
BANG_FUNCTION_OF_HALF(cos)
BANG_FUNCTION_OF_HALF(tan)
BANG_FUNCTION_OF_HALF(tanh)
BANG_FUNCTION_OF_HALF(atan)
BANG_FUNCTION_OF_HALF(isnan)
BANG_FUNCTION_OF_HALF(isinf)
#undef BANG_FUNCTION_OF_HALF
#endif
#define BANG_FUNCTION_OF_HALVES(name)                                                          \
  namespace std {                                                                              \
  inline float name(half x, half y) { return name(static_cast<float>(x), static_cast<float>(y)); } \
  template <typename T>                                                                        \
  inline enable_if_t<is_arithmetic<T>::value && !is_same<T, half>::value, float> name(half x, T y) { \
    return name(static_cast<float>(x), static_cast<float>(y));                                 \
  }                                                                                            \
  }                                                                                            \
  using std::name;
BANG_FUNCTION_OF_HALVES(pow)
BANG_FUNCTION_OF_HALVES(fmax)
BANG_FUNCTION_OF_HALVES(fmin)
BANG_FUNCTION_OF_HALVES(fmod)
#undef BANG_FUNCTION_OF_HALVES

#endif  // BANG_HALF_H_
