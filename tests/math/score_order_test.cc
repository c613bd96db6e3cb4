// SPDX-License-Identifier: Apache-2.0
#include "math/score_order.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "support/random_data.h"

namespace detops::math {
namespace {

using test::kInf;
using test::kNan;

TEST(ScoreOrder, DescendingWithNanFirst) {
  const float ordered[] = {kNan, kInf, 3e38f, 1.0f, 1e-45f, 0.0f, -1e-45f, -1.0f, -3e38f, -kInf};
  for (size_t i = 0; i + 1 < std::size(ordered); ++i) {
    EXPECT_LT(ScoreRank(ordered[i]), ScoreRank(ordered[i + 1])) << ordered[i];
  }
}

TEST(ScoreOrder, ZerosOfBothSignsAreEqual) { EXPECT_EQ(ScoreRank(0.0f), ScoreRank(-0.0f)); }

TEST(ScoreOrder, EveryNanIsOneValue) {
  for (uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu, 0x7fc12345u}) {
    EXPECT_EQ(ScoreRank(std::bit_cast<float>(bits)), 0u);
  }
}

TEST(ScoreOrder, AgreesWithComparisonOfFloats) {
  test::Rng rng(2);
  for (int i = 0; i < 1000000; ++i) {
    const float a = std::bit_cast<float>(static_cast<uint32_t>(rng()));
    const float b = std::bit_cast<float>(static_cast<uint32_t>(rng()));
    if (std::isnan(a) || std::isnan(b)) continue;
    ASSERT_EQ(ScoreRank(a) < ScoreRank(b), a > b) << a << " " << b;
  }
}

TEST(ScoreOrder, EqualScoresByLowerIndex) {
  EXPECT_LT(ScoreKey(0.5f, 3), ScoreKey(0.5f, 4));
  EXPECT_LT(ScoreKey(0.5f, 0xffffffffu), ScoreKey(0.25f, 0));
  EXPECT_EQ(IndexOfKey(ScoreKey(-7.0f, 0x80000001u)), 0x80000001u);
}

}  // namespace
}  // namespace detops::math
