// SPDX-License-Identifier: Apache-2.0
//
// half in scalar code: the compiler's own type and the class have the same bits, operation by
// operation; both convert and mix with other types as the built-in ones do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bang.h"
#include "values.h"

namespace {

using HalfClass = bang::Float16<5, 10>;

template <typename T>
void ExpectSame(half native, T own) {
  ASSERT_TRUE((isnan(native) && isnan(static_cast<float>(own))) ||
              BitPattern(native) == BitPattern(own))
      << ToText(native) << " " << ToText(own);
}

TEST(Half, TheClassHasTheBitsOfTheCompilersType) {
  Random random(16);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t x = random(), y = random();
    half a = FromBitPattern<half>(x), b = FromBitPattern<half>(y);
    HalfClass c = FromBitPattern<HalfClass>(x), d = FromBitPattern<HalfClass>(y);
    ExpectSame(a + b, c + d);
    ExpectSame(a - b, c - d);
    ExpectSame(a * b, c * d);
    ExpectSame(a / b, c / d);
    ExpectSame(a * b + a, c * d + c);  // two roundings
    ExpectSame(-a, -c);
    ASSERT_EQ(a < b, c < d);
    ASSERT_EQ(a == b, c == d);
    ASSERT_EQ(a >= b, c >= d);
    const float f = FromBitPattern<float>(random());
    const double g = FromBitPattern<double>(random());
    ExpectSame(static_cast<half>(f), static_cast<HalfClass>(f));
    ExpectSame(static_cast<half>(g), static_cast<HalfClass>(g));
    a += 1, c += 1;
    ExpectSame(a, c);
    a *= 0.5f, c *= 0.5f;
    ExpectSame(a, c);
    ++a, c++;
    ExpectSame(a, c);
  }
}

TEST(Half, MixesWithOtherTypes) {
  static_assert(std::is_same<decltype(half(1) + half(1)), half>::value);
  static_assert(std::is_same<decltype(half(1) * 2), half>::value);
  static_assert(std::is_same<decltype(half(1) * 2.0f), float>::value);
  static_assert(std::is_same<decltype(2.0 / half(1)), double>::value);
  static_assert(std::is_same<decltype(HalfClass(1) * 2), HalfClass>::value);
  static_assert(std::is_same<decltype(HalfClass(1) * 2.0f), float>::value);
  static_assert(std::is_same<decltype(2.0 / HalfClass(1)), double>::value);
  const half x = 2.5;
  EXPECT_EQ(2, static_cast<int>(x));
  EXPECT_TRUE(x > 2 && 3 > x && x != 0.0f);
  EXPECT_FLOAT_EQ(cosf(2.5f), std::cos(x));
  EXPECT_FLOAT_EQ(2.5f, std::abs(static_cast<half>(-x)));
  EXPECT_EQ(2.5f, static_cast<float>(std::max(x, half(1))));
  EXPECT_FALSE(isnan(x) || isinf(x));
  EXPECT_TRUE(isinf(static_cast<half>(1e9f)) && isnan(static_cast<half>(NAN)));
  EXPECT_TRUE(isinf(static_cast<bfloat16_t>(INFINITY)));
  EXPECT_EQ(1.0f, static_cast<float>(static_cast<bfloat16_t>(1.001f)));
}

}  // namespace
