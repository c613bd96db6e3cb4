// SPDX-License-Identifier: Apache-2.0
#include <cnrt.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace {

float FromHalf(uint16_t bits) {
  float value = 0;
  EXPECT_EQ(cnrtConvertHalfToFloat(&value, bits), cnrtSuccess);
  return value;
}

uint16_t ToHalf(float value) {
  uint16_t bits = 0;
  EXPECT_EQ(cnrtConvertFloatToHalf(&bits, value), cnrtSuccess);
  return bits;
}

TEST(Half, EveryValueIsWhatItsBitsSay) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    const float value = FromHalf(static_cast<uint16_t>(bits));
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value));
    } else if (exponent == 31) {
      EXPECT_EQ(value, sign * INFINITY);
    } else {
      const float magnitude = exponent == 0
                                  ? std::ldexp(static_cast<float>(fraction), -24)
                                  : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
      EXPECT_EQ(value, sign * magnitude);
      EXPECT_EQ(std::signbit(value), sign < 0);
      EXPECT_EQ(ToHalf(value), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  // Between each two neighbours: the middle goes to the even one, what is beside it to the nearer.
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const float low = FromHalf(static_cast<uint16_t>(bits));
    const float high = FromHalf(static_cast<uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    const uint16_t even = static_cast<uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(ToHalf(middle), even) << bits;
    ASSERT_EQ(ToHalf(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(ToHalf(std::nextafter(middle, INFINITY)), bits + 1);
    ASSERT_EQ(ToHalf(-middle), even | 0x8000);
  }
  EXPECT_EQ(ToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(ToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(ToHalf(1e30f), 0x7c00);
  EXPECT_EQ(ToHalf(-INFINITY), 0xfc00);
  EXPECT_TRUE(std::isnan(FromHalf(ToHalf(NAN))));
  EXPECT_EQ(ToHalf(1e-30f), 0);
}

struct OwnHalf {
  uint16_t bits;
};

TEST(Half, ArraysOfAnyHalfType) {
  const std::vector<float> values = {0, 1, -2.5f, 1024};
  std::vector<OwnHalf> halves(4);
  std::vector<float> back(4);
  EXPECT_EQ(cnrtConvertFloatToHalfArray(halves.data(), values.data(), 4), cnrtSuccess);
  EXPECT_EQ(halves[1].bits, 0x3c00);
  EXPECT_EQ(cnrtConvertHalfToFloatArray(back.data(), halves.data(), 4), cnrtSuccess);
  EXPECT_EQ(back, values);
}

TEST(Half, SizesOfTypes) {
  EXPECT_EQ(cnrtDataTypeSize(CNRT_FLOAT16), 2);
  EXPECT_EQ(cnrtDataTypeSize(cnrtFloat32), 4);
  EXPECT_EQ(cnrtDataTypeSize(cnrtBool), 1);
  EXPECT_EQ(cnrtDataTypeSize(cnrtInt64), 8);
}

}  // namespace
