// SPDX-License-Identifier: Apache-2.0
//
// One named test for each rule of README.md, run on every implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "oracle/oracle.h"
#include "support/device_buffer.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

constexpr int kIoU = 0, kIoF = 1;

std::vector<uint16_t> Narrowed(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (const float v : values) halves.push_back(oracle::FloatToHalf(v));
  return halves;
}
std::vector<float> Widened(const std::vector<uint16_t>& halves) {
  std::vector<float> values;
  for (const uint16_t h : halves) values.push_back(oracle::HalfToFloat(h));
  return values;
}

// Equal to the reference, where all NaNs count as equal.
void ExpectSameHalves(const std::string& implementation, const std::vector<float>& a,
                      const std::vector<float>& b, const std::string& what) {
  const std::vector<uint16_t> half_a = Narrowed(a), half_b = Narrowed(b);
  const auto run = [&](const std::string& by) {
    return Widened(BboxOverlaps(by, Halfs(half_a), Halfs(half_b), kIoU, false, 0));
  };
  ExpectSameFloats(run(implementation), run("cpu:reference"), "halves, " + what);
}

class BboxOverlapsTest : public testing::TestWithParam<std::string> {
 protected:
  std::vector<float> Run(Floats bbox1, Floats bbox2, int mode = kIoU, bool aligned = false,
                         int offset = 0) {
    return BboxOverlaps(GetParam(), bbox1, bbox2, mode, aligned, offset);
  }
};

TEST_P(BboxOverlapsTest, DocumentExample) {
  const std::vector<float> bbox1 = {0, 0, 10, 10, 10, 10, 20, 20, 32, 32, 38, 42};
  const std::vector<float> bbox2 = {0, 0, 10, 20, 0, 10, 10, 19, 10, 10, 20, 20};
  EXPECT_EQ(Run(bbox1, bbox2), (std::vector<float>{0.5f, 0, 0, 0, 0, 1, 0, 0, 0}));
}

TEST_P(BboxOverlapsTest, EmptySidesSucceedAndWriteNothing) {
  const std::vector<float> none, one = {0, 0, 10, 9};
  EXPECT_TRUE(Run(none, one).empty());
  EXPECT_TRUE(Run(one, none).empty());
  EXPECT_TRUE(Run(none, none).empty());
  EXPECT_TRUE(Run(none, none, kIoU, true).empty());
}

TEST_P(BboxOverlapsTest, IoFDividesByTheAreaOfTheFirst) {
  const std::vector<float> small = {0, 0, 2, 2}, large = {1, 0, 9, 9};
  EXPECT_EQ(Run(small, large, kIoF), std::vector<float>{0.5f});
  EXPECT_EQ(Run(large, small, kIoF), std::vector<float>{2.0f / 72.0f});
}

// Boxes that start at 0: the i-th row and column are the hardest floats to divide, with a quotient
// whose relative distance from the midpoint of two floats is 2^-47.
TEST_P(BboxOverlapsTest, IoFIsTheQuotientRoundedOnce) {
  Rng rng(18);
  std::vector<float> divisors, dividends;
  while (divisors.size() < 1000) {
    const uint64_t b = 1 << 23 | (rng() % (1 << 23)) | 1;
    uint64_t inverse = b;  // modulo 2^24: 3 bits are right, and each step doubles them
    for (int i = 0; i < 4; ++i) inverse *= 2 - b * inverse;
    // b * middle is 1 or -1 modulo 2^24, so 2^24 * a is just below or above it.
    const bool above = rng() % 2 == 0;
    const uint64_t middle = 1 << 24 | (above ? -inverse : inverse) % (1 << 24);
    const uint64_t a = (b * middle + (above ? 1 : -1)) >> 24;
    if (a >= 1 << 24) continue;
    divisors.push_back(0x1p-23f * static_cast<float>(b));
    dividends.push_back(0x1p-24f * static_cast<float>(a));
  }
  // Also where quotients are so small that a remainder is not a float.
  for (const float scale : {1.0f, 0x1p-19f, 0x1p-59f}) {
    std::vector<float> rows, columns;
    for (const float b : divisors) rows.insert(rows.end(), {0, 0, b, 1});
    for (const float a : dividends) columns.insert(columns.end(), {0, 0, a * scale, scale});
    const std::vector<float> overlaps = Run(rows, columns, kIoF);
    size_t k = 0;
    for (const float b : divisors) {
      for (const float a : dividends) {
        const float inter = std::min(a * scale, b) * scale;
        ASSERT_EQ(overlaps[k++], inter / b) << a << " over " << b << ", scale " << scale;
      }
    }
  }
}

TEST_P(BboxOverlapsTest, OffsetAddsOneToEveryLength) {
  const std::vector<float> a = {0, 0, 9, 9}, b = {5, 5, 14, 14};
  EXPECT_EQ(Run(a, b, kIoU, false, 1), std::vector<float>{25.0f / 175.0f});
  EXPECT_EQ(Run(a, b, kIoF, false, 1), std::vector<float>{25.0f / 100.0f});
}

TEST_P(BboxOverlapsTest, OffsetIsTheFloorOfTheDenominator) {
  const std::vector<float> inverted = {5, 5, 0, 0.5f}, unit = {0, 0, 0, 0};
  // (0-5+1)*(0.5-5+1) is positive, so use one that is not: width -4, height 1.
  const std::vector<float> negative_area = {5, 0, 0, 0};
  EXPECT_EQ(Run(negative_area, unit, kIoF, false, 1), std::vector<float>{0.0f});
  EXPECT_EQ(Run(negative_area, negative_area, kIoU, false, 1), std::vector<float>{0.0f});
  EXPECT_EQ(Run(inverted, unit, kIoU, false, 1), std::vector<float>{0.0f});
}

TEST_P(BboxOverlapsTest, ZeroOverZeroIsNan) {
  const std::vector<float> point = {3, 3, 3, 3};
  EXPECT_TRUE(std::isnan(Run(point, point)[0]));
  EXPECT_TRUE(std::isnan(Run(point, std::vector<float>{0, 0, 9, 9}, kIoF)[0]));
  EXPECT_EQ(Run(point, std::vector<float>{0, 0, 9, 9})[0], 0.0f);
}

TEST_P(BboxOverlapsTest, NanCoordinateInEitherBoxGivesNan) {
  const std::vector<float> good = {0, 0, 10, 10};
  for (size_t i = 0; i < 4; ++i) {
    std::vector<float> bad = good;
    bad[i] = kNan;
    for (int mode : {kIoU, kIoF}) {
      for (int offset : {0, 1}) {
        EXPECT_TRUE(std::isnan(Run(bad, good, mode, false, offset)[0])) << i;
        EXPECT_TRUE(std::isnan(Run(good, bad, mode, false, offset)[0])) << i;
      }
    }
  }
}

TEST_P(BboxOverlapsTest, AlignedTakesBothShapesOfTheDocument) {
  const std::vector<float> boxes = {0, 0, 4, 4, 2, 2, 6, 6, 1, 1, 2, 2};
  const std::vector<float> others = {0, 0, 4, 2, 0, 0, 1, 1, 1, 1, 2, 2};
  const Handle handle(GetParam());
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{3}, std::vector<int64_t>{3, 1}}) {
    const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {3, 4}), ious_desc(MLUOP_DTYPE_FLOAT, dims);
    const DeviceArray<float> in1{Floats(boxes)}, in2{Floats(others)}, ious(size_t{3});
    ASSERT_OK(mluOpBboxOverlaps(handle, kIoU, true, 0, boxes_desc, in1.data(), boxes_desc,
                                in2.data(), ious_desc, ious.data()));
    EXPECT_EQ(ious.Download(), (std::vector<float>{0.5f, 0.0f, 1.0f}));
  }
}

// Well-formed boxes take a faster path, a row or a tile of columns at a time: one that is not
// well-formed must be detected wherever it is.
TEST_P(BboxOverlapsTest, OneMalformedBoxAmongWellFormedOnes) {
  Rng rng(16);
  const std::vector<std::vector<float>> malformed = {{5, 1, 3, 9},
                                                     {1, 9, 3, 5},
                                                     {5, 9, 3, 1},
                                                     {2, 2, 2, 2},
                                                     {0, 0, kInf, 4},
                                                     {-kInf, 0, 4, 4},
                                                     {0, kNan, 4, 4},
                                                     {kNan, kNan, kNan, kNan},
                                                     {-2e38f, 0, 2e38f, 4},
                                                     {0, -3e38f, 4, 3e38f},
                                                     {-0.0f, -0.0f, 0, 0},
                                                     {-0.0f, 0, 4, -0.0f},
                                                     {-1e18f, -1e18f, 1e18f, 1e18f},
                                                     {-2e18f, -1e18f, 1e18f, 2e18f},
                                                     {-kInf, -kInf, kInf, kInf}};
  for (const std::vector<float>& one : malformed) {
    for (const int64_t at : {0, 1, 2, 3, 4, 16, 17, 18}) {
      std::vector<float> few = RandomBoxes(rng, 19, 8), many = RandomBoxes(rng, 37, 8);
      const std::vector<float> ordinary = few;
      std::copy(one.begin(), one.end(), few.begin() + 4 * at);
      std::copy(one.begin(), one.end(), many.begin() + 8 * at);
      for (const int mode : {kIoU, kIoF}) {
        const auto expect = [&](const std::vector<float>& a, const std::vector<float>& b) {
          ExpectSameFloats(Run(a, b, mode),
                           BboxOverlaps("cpu:reference", Floats(a), Floats(b), mode, false, 0),
                           "box " + std::to_string(at) + ": " + std::to_string(one[0]));
        };
        expect(few, RandomBoxes(rng, 37, 8));
        expect(ordinary, many);
        expect(few, many);
      }
    }
  }
}

// Two rows may share a division where no column overlaps both: boxes beside, below and inside each
// other, columns that span the gap between rows or end where it begins, some rows without an area.
TEST_P(BboxOverlapsTest, RowsNearAndFarFromEachOther) {
  Rng rng(19);
  const auto scattered = [&](int64_t count, float wide, float high, float least, float most) {
    std::vector<float> boxes;
    for (int64_t i = 0; i < count; ++i) {
      const float x = Uniform(rng, -0.1f, 1) * wide, y = Uniform(rng, -0.1f, 1) * high;
      boxes.insert(boxes.end(), {x, y, x + Uniform(rng, least, most) * wide,
                                 y + Uniform(rng, least, most) * high});
    }
    return boxes;
  };
  const auto with = [](std::vector<float> boxes, const std::vector<float>& one, size_t each) {
    for (size_t i = 0; i < boxes.size(); i += 4 * each) {
      std::copy(one.begin(), one.end(), boxes.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return boxes;
  };
  const auto rounded = [](std::vector<float> boxes, float to) {
    for (float& v : boxes) v = std::round(v / to) * to;
    return boxes;
  };
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{2, 512},
                                      {3, 513},
                                      {65, 700},
                                      {300, 1024},
                                      {517, 1040},
                                      {130, 2100}}) {
    const std::vector<float> a = scattered(rows, 1300, 300, 0.01f, 0.2f);
    const std::vector<float> b = scattered(columns, 1300, 300, 0.01f, 0.2f);
    std::vector<float> row_of_boxes;  // each as wide as the gap to the next
    for (int64_t i = 0; i < rows; ++i) {
      const auto x = static_cast<float>(20 * (i * 7 % 50));
      row_of_boxes.insert(row_of_boxes.end(), {x, 0, x + 10, 10});
    }
    const std::vector<std::pair<std::vector<float>, std::vector<float>>> scenes = {
        {a, b},
        {scattered(rows, 300, 1300, 0.01f, 0.2f), scattered(columns, 300, 1300, 0.01f, 0.2f)},
        {rounded(a, 20), rounded(b, 20)},  // edges that touch
        {row_of_boxes, rounded(b, 10)},
        {a, with(b, {-500, -500, 2000, 2000}, 40)},  // columns across everything
        {with(a, {10, 10, 10, 20}, 3), b},           // rows without an area
        {with(a, {20, 10, 10, 20}, 50), b},          // inverted
        {a, with(b, {20, 10, 10, 20}, 600)},
        {with(a, {5, 5, 105, 105}, 1), b},                                      // all identical
        {scattered(rows, 100, 100, 2, 3), scattered(columns, 100, 100, 2, 3)},  // a dense cluster
        {scattered(rows, 1e-40f, 1e15f, 0.01f, 0.1f),
         scattered(columns, 1e-40f, 1e15f, 0.01f, 0.1f)},
    };
    for (size_t s = 0; s < scenes.size(); ++s) {
      const auto& [bbox1, bbox2] = scenes[s];
      const std::string what =
          std::to_string(rows) + " x " + std::to_string(columns) + ", scene " + std::to_string(s);
      ExpectSameFloats(Run(bbox1, bbox2),
                       BboxOverlaps("cpu:reference", Floats(bbox1), Floats(bbox2), kIoU, false, 0),
                       what);
      ExpectSameHalves(GetParam(), bbox1, bbox2, what);
    }
  }
}

// Streamed rows begin at any offset within a vector, or always at the same, or alternately at two;
// the last rows of a tile may be too few to be computed together.
TEST_P(BboxOverlapsTest, StreamedRowsOfAnyLength) {
  Rng rng(17);
  const int64_t less = SlowdownOf(GetParam()) > 1 ? 16 : 1;
  for (const int64_t columns : {2048, 2056, 2052, 2050, 2049}) {
    const std::vector<float> a = RandomBoxes(rng, 2051 / less, 300),
                             b = RandomBoxes(rng, columns, 300);
    ExpectSameFloats(Run(a, b), BboxOverlaps("cpu:reference", Floats(a), Floats(b), kIoU, false, 0),
                     std::to_string(columns));
  }
  for (const int64_t columns : {2048, 2056, 2049}) {
    const std::vector<float> a = RandomBoxes(rng, 4103 / less, 300),
                             b = RandomBoxes(rng, columns, 300);
    ExpectSameHalves(GetParam(), a, b, std::to_string(columns));
  }
}

// Results above 16 MB bypass the caches, in aligned vectors: rows of odd length start at any
// offset.
TEST_P(BboxOverlapsTest, LargeResultsEqualTheReference) {
  Rng rng(15);
  const int64_t less = SlowdownOf(GetParam()) > 1 ? 16 : 1;
  const std::vector<float> a = RandomBoxes(rng, 2101 / less, 300), b = RandomBoxes(rng, 2003, 300);
  ExpectSameFloats(Run(a, b), BboxOverlaps("cpu:reference", Floats(a), Floats(b), kIoU, false, 0),
                   "pairs");
  const std::vector<float> many = RandomBoxes(rng, 4200001 / less, 300);
  std::vector<float> others = many;
  std::rotate(others.begin(), others.begin() + 4, others.end());
  ExpectSameFloats(Run(many, others, kIoU, true),
                   BboxOverlaps("cpu:reference", Floats(many), Floats(others), kIoU, true, 0),
                   "aligned");
  std::vector<uint16_t> half_a(4 * (2903 / less)), half_b(4 * 2907);
  for (uint16_t& h : half_a) h = static_cast<uint16_t>(rng() % 0x6000);
  for (uint16_t& h : half_b) h = static_cast<uint16_t>(rng() % 0x6000);
  const auto halves = [&](const std::string& implementation) {
    return BboxOverlaps(implementation, Halfs(half_a), Halfs(half_b), kIoF, false, 1);
  };
  EXPECT_EQ(halves(GetParam()), halves("cpu:reference"));
  // Well-formed boxes too: not inverted.
  for (std::vector<uint16_t>* boxes : {&half_a, &half_b}) {
    for (size_t i = 0; i < boxes->size(); i += 4) {
      if ((*boxes)[i] > (*boxes)[i + 2]) std::swap((*boxes)[i], (*boxes)[i + 2]);
      if ((*boxes)[i + 1] > (*boxes)[i + 3]) std::swap((*boxes)[i + 1], (*boxes)[i + 3]);
    }
  }
  EXPECT_EQ(BboxOverlaps(GetParam(), Halfs(half_a), Halfs(half_b), kIoU, false, 0),
            BboxOverlaps("cpu:reference", Halfs(half_a), Halfs(half_b), kIoU, false, 0));
}

// Where all pairs are cut by rows, batches of columns or columns alone: few of one and many of the
// other, and sizes around what fits in an MLU's memory at a time.
TEST_P(BboxOverlapsTest, LongAndShortSides) {
  Rng rng(20);
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 20011},
                                      {3, 8640},
                                      {2, 12351},
                                      {47, 321},
                                      {49, 33},
                                      {15003, 1},
                                      {9001, 3},
                                      {2053, 31},
                                      {513, 257},
                                      {12300, 7}}) {
    for (const bool spoiled : {false, true}) {
      std::vector<float> a = RandomBoxes(rng, rows, 300), b = RandomBoxes(rng, columns, 300);
      if (spoiled) Spoil(rng, rows < columns ? b : a, 4000);
      const std::string what = std::to_string(rows) + " x " + std::to_string(columns);
      for (const int mode : {kIoU, kIoF}) {
        ExpectSameFloats(Run(a, b, mode),
                         BboxOverlaps("cpu:reference", Floats(a), Floats(b), mode, false, 0), what);
      }
      ExpectSameHalves(GetParam(), a, b, what);
    }
  }
  for (const int64_t pairs : {3071, 100003}) {
    const std::vector<float> a = RandomBoxes(rng, pairs, 30), b = RandomBoxes(rng, pairs, 30);
    ExpectSameFloats(Run(a, b, kIoU, true),
                     BboxOverlaps("cpu:reference", Floats(a), Floats(b), kIoU, true, 0),
                     std::to_string(pairs) + " pairs");
  }
}

// ---- against the independent exact implementation, bit by bit -------------------------------

using Case = std::tuple<std::string, int, bool, int>;  // implementation, mode, aligned, offset
std::string CaseName(const Case& tested) {
  const auto& [implementation, mode, aligned, offset] = tested;
  return TestName(implementation) + (mode == kIoU ? "_iou" : "_iof") +
         (aligned ? "_aligned" : "_pairs") + "_offset" + std::to_string(offset);
}
class BboxOverlapsOracleTest : public testing::TestWithParam<Case> {};

TEST_P(BboxOverlapsOracleTest, FloatsBitByBit) {
  const auto& [implementation, mode, aligned, offset] = GetParam();
  Rng rng(11);
  for (int64_t rows : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 65}) {
    for (int64_t cols : aligned ? std::vector<int64_t>{rows} : std::vector<int64_t>{1, 16, 33}) {
      for (float origin : {0.0f, 1e4f, 1e6f}) {
        const std::vector<float> a = RandomBoxes(rng, rows, 100, origin);
        const std::vector<float> b = RandomBoxes(rng, cols, 100, origin);
        ExpectSameFloats(BboxOverlaps(implementation, Floats(a), Floats(b), mode, aligned, offset),
                         oracle::BboxOverlaps(a, b, mode, aligned, offset), "random");
      }
    }
  }
}

TEST_P(BboxOverlapsOracleTest, SpecialValuesBitByBit) {
  const auto& [implementation, mode, aligned, offset] = GetParam();
  Rng rng(12);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> a = RandomBoxes(rng, 33, 10), b = RandomBoxes(rng, 33, 10);
    Spoil(rng, a, 6);
    Spoil(rng, b, 6);
    ExpectSameFloats(BboxOverlaps(implementation, Floats(a), Floats(b), mode, aligned, offset),
                     oracle::BboxOverlaps(a, b, mode, aligned, offset), "special values");
  }
}

// The boxes rounded to halves.
void ExpectHalvesAsOracle(const Case& tested, const std::vector<float>& a,
                          const std::vector<float>& b) {
  const auto& [implementation, mode, aligned, offset] = tested;
  const std::vector<uint16_t> half_a = Narrowed(a), half_b = Narrowed(b);
  const std::vector<uint16_t> got =
      BboxOverlaps(implementation, Halfs(half_a), Halfs(half_b), mode, aligned, offset);
  const std::vector<float> expected =
      oracle::BboxOverlaps(Widened(half_a), Widened(half_b), mode, aligned, offset);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(oracle::HalfToFloat(got[i])));
    } else {
      EXPECT_EQ(got[i], oracle::FloatToHalf(expected[i])) << i;
    }
  }
}

TEST_P(BboxOverlapsOracleTest, HalvesBitByBit) {
  Rng rng(13);
  const std::vector<float> a = RandomBoxes(rng, 67, 300), b = RandomBoxes(rng, 67, 300);
  ExpectHalvesAsOracle(GetParam(), a, b);
}

// Lengths of up to twice the largest coordinate, and the offset on top.
TEST_P(BboxOverlapsOracleTest, BoxesAcrossTheOriginBitByBit) {
  const auto& [implementation, mode, aligned, offset] = GetParam();
  Rng rng(14);
  for (float most : {0.3f, 0.9f, 1.9f, 3.7f, 15.6f, 127.6f, 1000.0f}) {
    std::vector<float> a, b;
    for (std::vector<float>* boxes : {&a, &b}) {
      for (int i = 0; i < 40; ++i) {
        const float x = Uniform(rng, 0.9f * most, most), y = Uniform(rng, 0.9f * most, most);
        boxes->insert(boxes->end(), {-x, -y, y, x});
      }
    }
    ExpectSameFloats(BboxOverlaps(implementation, Floats(a), Floats(b), mode, aligned, offset),
                     oracle::BboxOverlaps(a, b, mode, aligned, offset), "across the origin");
    ExpectHalvesAsOracle(GetParam(), a, b);
  }
}

TEST_P(BboxOverlapsOracleTest, AFewUlpFromTheTruth) {
  const auto& [implementation, mode, aligned, offset] = GetParam();
  Rng rng(14);
  const std::vector<float> a = RandomBoxes(rng, 100, 50), b = RandomBoxes(rng, 100, 50);
  const auto got = BboxOverlaps(implementation, Floats(a), Floats(b), mode, aligned, offset);
  const auto wide = oracle::BboxOverlapsWide(a, b, mode, aligned, offset);
  const oracle::Diffs diffs = oracle::Compare(got, wide, 1e-6);
  EXPECT_TRUE(diffs.special_match);
  EXPECT_LT(diffs.diff1, 1e-6);  // the document requires 3e-3
  EXPECT_LT(diffs.diff2, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Table, BboxOverlapsTest,
                         testing::ValuesIn(ImplementationsOf("bbox_overlaps")),
                         [](const auto& tested) { return TestName(tested.param); });
INSTANTIATE_TEST_SUITE_P(Table, BboxOverlapsOracleTest,
                         testing::Combine(testing::ValuesIn(ImplementationsOf("bbox_overlaps")),
                                          testing::Values(kIoU, kIoF), testing::Bool(),
                                          testing::Values(0, 1)),
                         [](const auto& tested) { return CaseName(tested.param); });

}  // namespace
}  // namespace detops::test
