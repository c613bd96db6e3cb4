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

// No score that has the rank or a lower one is below the score of that rank.
TEST(ScoreOrder, ScoresOfRanks) {
  test::Rng rng(3);
  const float special[] = {kNan, kInf, 3.4e38f, 1.0f, 1e-45f, 0.0f, -0.0f, -1e-45f, -1.0f, -kInf};
  std::vector<uint32_t> ranks = {0,           1,           0x7ffffeu,   0x7fffffu,
                                 0x800000u,   0x7fffffffu, 0x80000000u, 0x80000001u,
                                 0xff800000u, 0xff800001u, ~0u};
  for (const float s : special) ranks.push_back(ScoreRank(s));
  for (int i = 0; i < 100000; ++i) ranks.push_back(static_cast<uint32_t>(rng()));
  for (const uint32_t rank : ranks) {
    const float least = ScoreOfRank(rank);
    ASSERT_FALSE(std::isnan(least)) << rank;
    for (const float s : special) {
      ASSERT_TRUE(ScoreRank(s) > rank || !(s < least)) << rank << " " << s;
    }
    const float any = std::bit_cast<float>(static_cast<uint32_t>(rng()));
    ASSERT_TRUE(ScoreRank(any) > rank || !(any < least)) << rank << " " << any;
    if (std::isnan(any)) continue;
    ASSERT_EQ(ScoreRank(ScoreOfRank(ScoreRank(any))), ScoreRank(any)) << any;
  }
}

TEST(ScoreOrder, EqualScoresByLowerIndex) {
  EXPECT_LT(ScoreKey(0.5f, 3), ScoreKey(0.5f, 4));
  EXPECT_LT(ScoreKey(0.5f, 0xffffffffu), ScoreKey(0.25f, 0));
  EXPECT_EQ(IndexOfKey(ScoreKey(-7.0f, 0x80000001u)), 0x80000001u);
}

}  // namespace
}  // namespace detops::math
