// SPDX-License-Identifier: Apache-2.0
#include "machine/region.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace {

std::set<const char*> Bytes(const bang::Region& region) {
  std::set<const char*> bytes;
  for (int64_t i = 0; i < region.segments(); ++i) {
    for (int64_t b = 0; b < region.bytes; ++b) bytes.insert(region.segment(i) + b);
  }
  return bytes;
}

// Against sets of bytes: small regions with strides that interlock.
TEST(Region, OverlapIsExact) {
  std::mt19937 random(1);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  char memory[512];
  int overlapping = 0;
  for (int round = 0; round < 20000; ++round) {
    bang::Region regions[2];
    for (bang::Region& region : regions) {
      region.begin = memory + pick(0, 100);
      region.bytes = pick(1, 6);
      region.side = {pick(0, 12), pick(0, 5), pick(0, 40), pick(0, 3)};
    }
    const std::set<const char*> bytes = Bytes(regions[0]);
    bool meet = false;
    for (const char* byte : Bytes(regions[1])) meet |= bytes.count(byte) > 0;
    overlapping += meet;
    ASSERT_EQ(meet, Overlap(regions[0], regions[1])) << "round " << round;
    ASSERT_EQ(meet, Overlap(regions[1], regions[0])) << "round " << round;
  }
  EXPECT_GT(overlapping, 2000);
  EXPECT_LT(overlapping, 18000);
}

}  // namespace
