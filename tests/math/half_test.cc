// SPDX-License-Identifier: Apache-2.0
#include "math/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "oracle/oracle.h"
#include "support/random_data.h"

namespace detops::math {
namespace {

TEST(Half, All65536CodesWidenExactly) {
  for (uint32_t code = 0; code < 65536; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    const float got = ToFloat(Half{bits}), expected = oracle::HalfToFloat(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << code;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(expected)) << code;
    }
  }
}

TEST(Half, All65536CodesComeBack) {
  for (uint32_t code = 0; code < 65536; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    const float wide = ToFloat(Half{bits});
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(ToFloat(ToHalf(wide)))) << code;
    } else {
      ASSERT_EQ(ToHalf(wide).bits, bits);
    }
  }
}

// Every boundary between two halves, and the floats on either side of it.
TEST(Half, RoundsToNearestEvenAtEveryTie) {
  for (uint32_t code = 0; code < 0x7c00; ++code) {
    const float low = ToFloat(Half{static_cast<uint16_t>(code)});
    const float high = code == 0x7bff ? 65536.0f : ToFloat(Half{static_cast<uint16_t>(code + 1)});
    const float tie = low + (high - low) / 2;
    for (float f : {std::nextafterf(tie, 0.0f), tie, std::nextafterf(tie, 1e9f)}) {
      ASSERT_EQ(ToHalf(f).bits, oracle::FloatToHalf(f)) << f;
      ASSERT_EQ(ToHalf(-f).bits, oracle::FloatToHalf(-f)) << -f;
    }
  }
}

TEST(Half, RandomFloats) {
  test::Rng rng(1);
  for (int i = 0; i < 1000000; ++i) {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(rng()));
    if (std::isnan(f)) continue;
    ASSERT_EQ(ToHalf(f).bits, oracle::FloatToHalf(f)) << f;
  }
}

TEST(Half, Specials) {
  EXPECT_EQ(ToHalf(test::kInf).bits, 0x7c00);
  EXPECT_EQ(ToHalf(-test::kInf).bits, 0xfc00);
  EXPECT_EQ(ToHalf(-0.0f).bits, 0x8000);
  EXPECT_TRUE(std::isnan(ToFloat(ToHalf(test::kNan))));
  EXPECT_EQ(ToHalf(65519.996f).bits, 0x7bff);
  EXPECT_EQ(ToHalf(65520.0f).bits, 0x7c00);
}

}  // namespace
}  // namespace detops::math
