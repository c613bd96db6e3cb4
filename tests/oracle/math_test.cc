// SPDX-License-Identifier: Apache-2.0
//
// The elementary functions, the half type and the accuracy measures of the oracle.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "oracle.h"

namespace detops::oracle {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kDenormMin = std::numeric_limits<float>::denorm_min();

TEST(Functions, KnownValues) {
  EXPECT_EQ(ExpRounded(0), 1);
  EXPECT_EQ(ExpRounded(1), 2.71828183f);
  EXPECT_EQ(ExpRounded(-kInf), 0);
  EXPECT_EQ(ExpRounded(89), kInf);
  EXPECT_EQ(ExpRounded(-103.5f), kDenormMin);
  EXPECT_EQ(ExpRounded(-104), 0);
  EXPECT_EQ(SinRounded(kDenormMin), kDenormMin);
  EXPECT_TRUE(std::signbit(SinRounded(-0.0f)));
  EXPECT_EQ(CosRounded(0), 1);
  EXPECT_TRUE(std::isnan(SinRounded(kInf)) && std::isnan(CosRounded(kNan)));
  // Reduction of a large argument. The double function of libm is far better than a float needs.
  EXPECT_EQ(SinRounded(0x1p100f), static_cast<float>(std::sin(0x1p100)));
}

// long double functions of libm are accurate to about an ulp of 64 bits: a coarse but wide check.
TEST(Functions, AgreeWithLongDouble) {
  std::mt19937 rng(5);
  std::uniform_real_distribution<float> argument(-80, 80);
  for (int i = 0; i < 20000; ++i) {
    const float x = argument(rng);
    EXPECT_NEAR(static_cast<double>(ExpWide(x) / std::exp(static_cast<long double>(x))), 1, 1e-17);
    EXPECT_NEAR(static_cast<double>(SinWide(x) - std::sin(static_cast<long double>(x))), 0, 1e-18);
    EXPECT_NEAR(static_cast<double>(CosWide(x) - std::cos(static_cast<long double>(x))), 0, 1e-18);
    EXPECT_LE(UlpError(ExpRounded(x), ExpWide(x)), 0.5);
    EXPECT_LE(UlpError(SinRounded(x), SinWide(x)), 0.5);
    EXPECT_LE(UlpError(CosRounded(x), CosWide(x)), 0.5);
  }
}

TEST(Half, RoundTripOfAllCodes) {
  for (int code = 0; code < 65536; ++code) {
    const float value = HalfToFloat(static_cast<uint16_t>(code));
    if (std::isnan(value)) {
      EXPECT_EQ(FloatToHalf(value), 0x7e00);
    } else {
      EXPECT_EQ(FloatToHalf(value), code);
    }
  }
}

// Between each two neighbours: the midpoint goes to the even code, anything else to the nearer.
TEST(Half, RoundsToNearestEven) {
  for (int code = 0; code < 0x7c00; ++code) {
    const float low = HalfToFloat(static_cast<uint16_t>(code));
    const float high = code == 0x7bff ? 65536.0f : HalfToFloat(static_cast<uint16_t>(code + 1));
    const float middle = (low + high) / 2;
    EXPECT_EQ(FloatToHalf(middle), code + code % 2);
    EXPECT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(FloatToHalf(std::nextafter(middle, kInf)), code + 1);
    EXPECT_EQ(FloatToHalf(-middle), 0x8000 + code + code % 2);
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(FloatToHalf(1), 0x3c00);
  EXPECT_EQ(FloatToHalf(-2), 0xc000);
  EXPECT_EQ(FloatToHalf(65504), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520), 0x7c00);
  EXPECT_EQ(FloatToHalf(-kInf), 0xfc00);
  EXPECT_EQ(FloatToHalf(kDenormMin), 0);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(HalfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(HalfToFloat(0x7c00), kInf);
}

TEST(UlpError, UnitsAndSpecials) {
  EXPECT_EQ(UlpError(1, 1), 0);
  EXPECT_EQ(UlpError(std::nextafter(1.0f, 2.0f), 1), 1);
  EXPECT_EQ(UlpError(1, 1 + 0x1p-25L), 0.25);
  EXPECT_EQ(UlpError(kDenormMin, 0), 1);
  EXPECT_EQ(UlpError(0, 0x1p-150L), 0.5);
  EXPECT_EQ(UlpError(kNan, std::numeric_limits<long double>::quiet_NaN()), 0);
  EXPECT_EQ(UlpError(kInf, 1e39L), 0);
  EXPECT_EQ(UlpError(kInf, 1), kInf);
  EXPECT_EQ(UlpError(1, std::numeric_limits<long double>::quiet_NaN()), kInf);
}

TEST(Compare, Formulas) {
  const Diffs diffs =
      Compare(std::vector<float>{1, 2.5f, 0.5f}, std::vector<double>{1, 2, 0}, 1e-6);
  EXPECT_DOUBLE_EQ(diffs.diff1, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(diffs.diff2, std::sqrt(0.5 / 5.0));
  EXPECT_DOUBLE_EQ(diffs.diff3, 0.5);
  EXPECT_TRUE(diffs.special_match);
}

TEST(Compare, Specials) {
  const std::vector<double> expected = {kNan, kInf, 4, -kInf};
  const Diffs same = Compare(std::vector<float>{kNan, kInf, 5, -kInf}, expected, 1e-6);
  EXPECT_TRUE(same.special_match);
  EXPECT_DOUBLE_EQ(same.diff1, 0.25);  // special values do not hide the rest
  EXPECT_FALSE(Compare(std::vector<float>{kNan, kInf, 5, kInf}, expected, 1e-6).special_match);
  EXPECT_FALSE(Compare(std::vector<float>{kNan, kInf, kNan, -kInf}, expected, 1e-6).special_match);
  EXPECT_FALSE(Compare(std::vector<float>{0, kInf, 4, -kInf}, expected, 1e-6).special_match);
  EXPECT_FALSE(Compare(std::vector<float>{1}, expected, 1e-6).special_match);
  const std::vector<double> zeros = {0, 0};
  EXPECT_EQ(Compare(std::vector<float>{0, 0}, zeros, 1e-6).diff1, 0);
  EXPECT_EQ(Compare(std::vector<float>{0, 1}, zeros, 1e-6).diff2, kInf);
}

}  // namespace
}  // namespace detops::oracle
