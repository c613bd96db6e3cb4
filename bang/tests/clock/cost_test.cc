// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "clock/copy_cost.h"
#include "clock/gdram_units.h"
#include "clock/shared_bandwidth.h"
#include "programs.h"

namespace bang {
namespace {

// Unit by unit, byte by byte.
GdramUnits CountSlowly(int64_t address, int64_t bytes, CopySide side) {
  GdramUnits sum{0, 0};
  std::vector<std::pair<int64_t, int64_t>> segments;
  for (int64_t j = 0; j <= side.count2; ++j) {
    for (int64_t i = 0; i <= side.count1; ++i) {
      const int64_t begin = address + j * side.stride2 + i * side.stride1;
      if (!segments.empty() && segments.back().second == begin) {
        segments.back().second += bytes;
      } else {
        segments.push_back({begin, begin + bytes});
      }
    }
  }
  for (const auto& [begin, end] : segments) {
    for (int64_t unit = begin / 64; unit * 64 < end; ++unit) {
      ++sum.touched;
      sum.partial += begin > unit * 64 || end < unit * 64 + 64;
    }
  }
  return sum;
}

TEST(GdramUnits, AsCountedOneByOne) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const int64_t bytes = 1 + random() % 300, address = random() % 200;
    CopySide side;
    side.count1 = random() % 150;
    side.stride1 = random() % 3 ? bytes + random() % 100 : bytes;
    // Rows that follow each other without a gap are one only if their segments do.
    const int64_t row = side.stride1 * (side.count1 + 1);
    side.count2 = random() % 3 ? 0 : random() % 100;
    side.stride2 = row + 1 + random() % 100;
    if (side.stride1 == bytes && random() % 2) side.stride2 = row;
    const GdramUnits quick = CountGdramUnits(address, bytes, side);
    const GdramUnits slow = CountSlowly(address, bytes, side);
    ASSERT_EQ(quick.touched, slow.touched) << i;
    ASSERT_EQ(quick.partial, slow.partial) << i;
  }
}

TEST(CopyCost, BytesThatGdramMoves) {
  const Card card = ReadCard(TEST_CARD);
  // 130 bytes are 3 units; a write is 1.25 times as much, 240, and its last unit is read first.
  EXPECT_EQ(CostOfCopy(Load(130), card).bytes, 192);
  EXPECT_EQ(CostOfCopy(Store(130), card).bytes, 240 + 64);
  // 10 segments of 64 bytes that lie apart: 10 units, and 32 (96) bytes more for each.
  Operation copy = Load(640);
  copy.segments = 10;
  copy.strided = true;
  EXPECT_EQ(CostOfCopy(copy, card).bytes, 640 + 320);
  copy = Store(640);
  copy.segments = 10;
  copy.strided = true;
  EXPECT_EQ(CostOfCopy(copy, card).bytes, 800 + 960);
  // The recorder saw the same bytes at an odd address: 20 units, all of them in part.
  copy.units = copy.partial_units = 20;
  EXPECT_EQ(CostOfCopy(copy, card).bytes, 1600 + 1280 + 960);
  // Within GDRAM everything is both read and written.
  EXPECT_EQ(CostOfCopy(Copy(Space::kGdram, Space::kGdram, 128), card).bytes, 128 + 160);
  EXPECT_EQ(CostOfCopy(Copy(Space::kGdram, Space::kGdram, 128), card).latency, 150);
}

TEST(CopyCost, OnChip) {
  const Card card = ReadCard(TEST_CARD);
  EXPECT_EQ(CostOfCopy(Copy(Space::kSram, Space::kNram, 100), card).bytes, 100);
  EXPECT_EQ(CostOfCopy(Copy(Space::kSram, Space::kNram, 100), card).latency, 20);
  EXPECT_EQ(CostOfCopy(Copy(Space::kSram, Space::kSram, 100), card).bytes, 200);
  EXPECT_EQ(CostOfCopy(Copy(Space::kSram, Space::kSram, 100), card).latency, 70);
  EXPECT_EQ(CostOfCopy(Copy(Space::kNram, Space::kWram, 100), card).latency, 12);
}

// Rates are 100 per flow, 150 per group, 360 in all.
TEST(SharedBandwidth, FairByGroupAndInAll) {
  constexpr int64_t kOne = SharedBandwidth::kFraction;
  SharedBandwidth shared(4, {.flow = 100 * kOne, .group = 150 * kOne, .total = 360 * kOne});
  EXPECT_EQ(shared.next_end(), kNever);
  EXPECT_EQ(shared.CyclesAlone(1001), 11);
  shared.Start(0, 0, 1000, 1);  // alone: 100 per cycle
  EXPECT_EQ(shared.next_end(), 10);
  shared.Start(4, 0, 1000, 2);  // 600 are left of flow 1; both get 75: it ends at 12
  EXPECT_EQ(shared.next_end(), 12);
  // Two more groups of one: 75 + 75 + 100 + 100 are below 360, nobody is slowed down.
  shared.Start(6, 1, 1000, 3);
  shared.Start(6, 2, 1000, 4);
  EXPECT_EQ(shared.next_end(), 12);
  // One more: 75 + 75 leave 210, 70 for each of the other three: less than 75, so all get 72.
  shared.Start(6, 3, 1000, 5);
  EXPECT_EQ(shared.next_end(), 13);  // 450 of flow 1 are left: 6.25 cycles
  EXPECT_EQ(shared.Finish(), 1);
  // Flow 2 has group 0 for itself: 90 for each of the four. It got 2 * 75 + 7 * 72 by now, and the
  // others 7 * 72.
  EXPECT_EQ(shared.next_end(), 13 + 4);  // 346 / 90
  EXPECT_EQ(shared.Finish(), 2);
  EXPECT_EQ(shared.next_end(), 17 + 2);  // 496 - 4 * 90 = 136 left, at 100
  EXPECT_EQ(shared.Finish(), 3);
  EXPECT_EQ(shared.Finish(), 4);
  EXPECT_EQ(shared.Finish(), 5);
  EXPECT_EQ(shared.next_end(), kNever);
}

}  // namespace
}  // namespace bang
