// SPDX-License-Identifier: Apache-2.0
//
// The one definition of efficiency, on figures made up for it.
#include "measuring/limits.h"

#include <gtest/gtest.h>

namespace detops::cli::test {
namespace {

constexpr Peaks kPeaks = {.device = {}, .fill = 10, .copy = 20, .operations = 100};

TEST(Limits, BytesGoInPairsOrAreFilled) {
  EXPECT_DOUBLE_EQ(MemorySeconds({.read = 40, .written = 40}, 10, 20), 4);
  EXPECT_DOUBLE_EQ(MemorySeconds({.read = 0, .written = 40}, 10, 20), 4);
  EXPECT_DOUBLE_EQ(MemorySeconds({.read = 60, .written = 20}, 10, 20), 4);
  EXPECT_DOUBLE_EQ(MemorySeconds({.read = 20, .written = 60}, 10, 20), 2 + 4);
}

TEST(Limits, TheLargerFloorCounts) {
  Timing timing = {.seconds = 10,
                   .floor = schema::Work{.read = 0, .written = 20, .operations = 700}};
  const Efficiency arithmetic = EfficiencyOf(timing, kPeaks);
  EXPECT_DOUBLE_EQ(arithmetic.of_limit.value(), 0.7);  // 7 s of operations, 2 s of memory
  EXPECT_DOUBLE_EQ(arithmetic.limit_seconds.value(), 7);
  timing.floor->operations = 100;
  EXPECT_DOUBLE_EQ(EfficiencyOf(timing, kPeaks).of_limit.value(), 0.2);
  timing.in_cache = true;  // then the memory limits nothing
  EXPECT_DOUBLE_EQ(EfficiencyOf(timing, kPeaks).of_limit.value(), 0.1);
}

TEST(Limits, EachRoundHasItsOwnRates) {
  Timing timing = {.seconds = 10,
                   .rounds = {{10, 20, 4}, {5, 10, 5}, {20, 40, 4}},  // 0.5, 0.8, 0.25
                   .floor = schema::Work{.read = 0, .written = 20}};
  EXPECT_DOUBLE_EQ(EfficiencyOf(timing, kPeaks).of_limit.value(), 0.5);
}

TEST(Limits, NoFloorNoShare) {
  const Timing timing = {.seconds = 10, .tensors = {.read = 40, .written = 40}};
  const Efficiency e = EfficiencyOf(timing, kPeaks);
  EXPECT_FALSE(e.of_limit || e.limit_seconds || e.compute);
  EXPECT_DOUBLE_EQ(e.io.value(), 0.4);
  EXPECT_EQ(e.side, "io");
}

}  // namespace
}  // namespace detops::cli::test
