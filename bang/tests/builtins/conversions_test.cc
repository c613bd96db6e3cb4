// SPDX-License-Identifier: Apache-2.0
//
// Every conversion of the table against plain loops: exact values, seven roundings, positions.
#include <vector>

#include "on_core.h"
#include "plain.h"
#include "values.h"

namespace {

using bang::Rounding;

long double RoundPlainly(long double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearestEven: return nearbyintl(x);
    case Rounding::kNearestAway: return roundl(x);
    case Rounding::kNearestUp: return x - floorl(x) >= 0.5L ? floorl(x) + 1 : floorl(x);
    case Rounding::kTowardZero: return truncl(x);
    case Rounding::kAwayFromZero: return x < 0 ? floorl(x) : ceill(x);
    case Rounding::kUp: return ceill(x);
    case Rounding::kDown: return floorl(x);
  }
  return x;
}

// Rounds to a multiple of the distance between neighbours of `To` around x.
template <typename To>
To PlainNarrow(double x, Rounding rounding) {
  constexpr bool kFloat = std::is_same<To, float>::value, kHalf = std::is_same<To, half>::value;
  constexpr int kBits = kFloat ? 24 : kHalf ? 11 : 8;
  constexpr int kLowest = kFloat ? -149 : kHalf ? -24 : -133;
  const double largest = kFloat ? 0x1.fffffep127 : kHalf ? 65504 : 0x1.fep127;
  if (x != x || x == 0 || fabs(x) == INFINITY) return static_cast<To>(static_cast<float>(x));
  const int exponent = std::max(ilogb(x) + 1 - kBits, kLowest);
  const double result =
      static_cast<double>(ldexpl(RoundPlainly(ldexpl(x, -exponent), rounding), exponent));
  // Signed zeros, and what is too large, as IEEE has them.
  if (result == 0) return static_cast<To>(copysignf(0, static_cast<float>(x)));
  if (fabs(result) > largest) {
    const bool stays = rounding == Rounding::kTowardZero || (rounding == Rounding::kUp && x < 0) ||
                       (rounding == Rounding::kDown && x > 0);
    return static_cast<To>(static_cast<float>(copysign(stays ? largest : INFINITY, x)));
  }
  return static_cast<To>(static_cast<float>(result));
}

template <typename To>
To PlainInteger(long double x, Rounding rounding) {
  if (x != x) return 0;
  const long double rounded = RoundPlainly(x, rounding);
  if (rounded < std::numeric_limits<To>::min()) return std::numeric_limits<To>::min();
  if (rounded > std::numeric_limits<To>::max()) return std::numeric_limits<To>::max();
  return static_cast<To>(rounded);
}

template <typename T>
double Value(T x) {
  return static_cast<double>(static_cast<Computed<T>>(x));
}

template <typename To, typename From>
To Plain(From x, Rounding rounding, int dst_position, int src_position) {
  const double scaled =
      ldexp(Value(x), (kIsReal<From> ? 0 : src_position) - (kIsReal<To> ? 0 : dst_position));
  if constexpr (kIsReal<To>) return PlainNarrow<To>(scaled, rounding);
  if constexpr (!kIsReal<To>) return PlainInteger<To>(scaled, rounding);
}

template <typename C>
using Call = std::function<void(typename C::To*, const typename C::From*, int count,
                                int dst_position, int src_position)>;

enum class Positions { kNone, kOne, kTwo };

template <typename C>
void Check(const char* name, Rounding rounding, Positions positions, const Call<C>& call) {
  using To = typename C::To;
  using From = typename C::From;
  Random random(12);
  const std::string error = OnCore([&](char* nram) {
    for (int n = 1; n <= 300; n += n < 10 ? 1 : 29) {
      const int dst_position =
          positions == Positions::kNone ? 0 : static_cast<int>(Pick(random, -6, 6));
      const int src_position =
          positions == Positions::kTwo ? static_cast<int>(Pick(random, -6, 6)) : dst_position;
      To* const dst = reinterpret_cast<To*>(nram + Pick(random, 0, 9) * sizeof(To));
      From* src = reinterpret_cast<From*>(nram + 8192 + Pick(random, 0, 9) * sizeof(From));
      // The source at the end of a wider result; or where a narrower one begins.
      const int64_t alias = Pick(random, 0, 2);
      if (alias == 0 && sizeof(From) <= sizeof(To)) {
        src =
            reinterpret_cast<From*>(reinterpret_cast<char*>(dst) + n * (sizeof(To) - sizeof(From)));
      }
      if (alias == 1 && sizeof(From) >= sizeof(To)) src = reinterpret_cast<From*>(dst);
      std::vector<From> old(n);
      for (int i = 0; i < n; ++i) {
        old[i] = RandomValue<From>(random);
        if (kIsReal<From> && Pick(random, 0, 3) == 0) {
          old[i] = static_cast<From>(static_cast<float>(Pick(random, -9, 9)) / 2);
        }
        src[i] = old[i];
      }
      call(dst, src, n, dst_position, src_position);
      for (int i = 0; i < n; ++i) {
        const To want = Plain<To>(old[i], rounding, dst_position, src_position);
        ASSERT_TRUE(IsSame(want, dst[i]))
            << name << "(" << ToText(old[i]) << ") is " << ToText(dst[i]) << ", should be "
            << ToText(want) << "; positions " << dst_position << ", " << src_position;
      }
    }
  });
  EXPECT_EQ("", error) << name;
}

#define CHECK_Convert(name, rounding, types_)      \
  Check<bang::conversions::types_>(                \
      #name, Rounding::rounding, Positions::kNone, \
      [](auto* d, const auto* s, int n, int, int) { name(d, s, n); });
#define CHECK_ConvertFixed(name, rounding, types_) \
  Check<bang::conversions::types_>(                \
      #name, Rounding::rounding, Positions::kOne,  \
      [](auto* d, const auto* s, int n, int position, int) { name(d, s, n, position); });
#define CHECK_ConvertIntegers(name, rounding, types_) \
  Check<bang::conversions::types_>(                   \
      #name, Rounding::rounding, Positions::kTwo,     \
      [](auto* d, const auto* s, int n, int to, int from) { name(d, s, n, to, from); });
#define CHECK_ConvertScalar(name, rounding, types_)                                 \
  Check<bang::conversions::types_>(#name, Rounding::rounding, Positions::kNone,     \
                                   [](auto* d, const auto* s, int n, int, int) {    \
                                     for (int i = 0; i < n; ++i) d[i] = name(s[i]); \
                                   });
#define CHECK_Unary(...)
#define CHECK_Binary(...)
#define CHECK_Scalar(...)
#define CHECK_ScalarLast(...)
#define CHECK_Cycle(...)
#define CHECK_UnaryScratch(...)
#define CHECK_BinaryScratch(...)
#define CHECK_BitCompare(...)
#define CHECK_Whole(...)
#define CHECK_Count(...)
#define CHECK_CountTo(...)
#define CHECK_Pack(...)
#define CHECK_PackBits(...)
#define CHECK_PackCount(...)
#define CHECK_PackBitsCount(...)
#define CHECK_Plane(...)
#define CHECK_Pad(...)
#define CHECK_PadSides(...)
#define CHECK_Reshape(...)
#define CHECK_Pool(...)
#define CHECK_PoolStride(...)
#define CHECK_PoolIndex(...)
#define CHECK_PoolIndexStride(...)
#define CHECK_Lookup(...)
#define CHECK_Sequence(...)
#define CHECK_Fill(...)
#define CHECK_FillZero(...)
#define CHECK_AtomicOne(...)
#define CHECK_AtomicMany(...)
#define CHECK_AtomicReduce(...)
#define CHECK_Function(...)
#define CHECK_Function2(...)
#define CHECK_VectorFunction(...)
#define CHECK_VectorFunction2(...)
#define CHECK_VectorFunctionScalar(...)
#define CHECK_Declared(...)

TEST(Conversions, EveryRowOfTheTable){
#define BUILTIN(name, shape, operation, types, since, passes, kind, result) \
  CHECK_##shape(name, operation, types)
#include "bang/builtins.inc"
}

// Every half, there and back; every float's upper bits.
TEST(Conversions, EveryHalf) {
  EXPECT_EQ("", OnCore([](char* nram) {
              uint16_t* const bits = reinterpret_cast<uint16_t*>(nram);
              float* const wide = reinterpret_cast<float*>(nram + 64 * 1024);
              half* const back = reinterpret_cast<half*>(nram + 192 * 1024);
              for (int begin = 0; begin < 65536; begin += 32768) {
                for (int i = 0; i < 32768; ++i) bits[i] = static_cast<uint16_t>(begin + i);
                __bang_half2float(wide, reinterpret_cast<half*>(bits), 32768);
                __bang_float2half_rn(back, wide, 30000);
                for (int i = 0; i < 30000; ++i) {
                  const half h = FromBitPattern<half>(static_cast<uint16_t>(begin + i));
                  ASSERT_TRUE(IsSame(static_cast<float>(h), wide[i]));
                  ASSERT_TRUE(IsSame(h, back[i]));
                }
              }
            }));
}

TEST(Conversions, WideningInPlaceIsAnError) {
  const std::string error = OnCore([](char* nram) {
    __bang_half2float(reinterpret_cast<float*>(nram), reinterpret_cast<half*>(nram), 64);
  });
  EXPECT_NE(std::string::npos, error.find("__bang_half2float: dst is wider than src")) << error;
}

}  // namespace
