// SPDX-License-Identifier: Apache-2.0
//
// One named test for each rule of README.md, run on every implementation.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

using Indices = std::vector<int32_t>;

class PointsInBoxesTest : public testing::TestWithParam<std::string> {
 protected:
  Indices Run(const std::vector<float>& points, const std::vector<float>& boxes) {
    return PointsInBoxes(GetParam(), points, boxes, 1, static_cast<int64_t>(points.size() / 3),
                         static_cast<int64_t>(boxes.size() / 7));
  }
  void ExpectAsOracle(const std::vector<float>& points, const std::vector<float>& boxes, int64_t b,
                      int64_t m, int64_t t) {
    EXPECT_EQ(PointsInBoxes(GetParam(), points, boxes, b, m, t),
              oracle::PointsInBoxes(points, boxes, b, m, t));
  }
};

constexpr float kMargin = 1e-5f;

TEST_P(PointsInBoxesTest, FirstBoxThatHoldsThePoint) {
  const std::vector<float> boxes = {9, 9, 9, 1, 1, 1, 0,  //
                                    0, 0, 0, 4, 4, 4, 0,  //
                                    0, 0, 0, 8, 8, 8, 0};
  EXPECT_EQ(Run({0, 0, 0, 3, 3, 3, 50, 0, 0}, boxes), (Indices{1, 2, -1}));
}

TEST_P(PointsInBoxesTest, ZFaceIsInsideWithoutMargin) {
  const std::vector<float> box = {0, 0, 1, 2, 2, 2, 0};
  EXPECT_EQ(Run({0, 0, 2, 0, 0, 0, 0, 0, std::nextafterf(2.0f, 3.0f), 0, 0, -1e-6f}, box),
            (Indices{0, 0, -1, -1}));
}

TEST_P(PointsInBoxesTest, XAndYFacesHaveTheMargin) {
  const std::vector<float> box = {0, 0, 0, 2, 4, 2, 0};
  EXPECT_EQ(Run({1, 0, 0, 1 + 0.9f * kMargin, 0, 0, 1 + 1.2f * kMargin, 0, 0}, box),
            (Indices{0, 0, -1}));
  EXPECT_EQ(Run({0, -2, 0, 0, -2 - 0.9f * kMargin, 0, 0, -2 - 1.2f * kMargin, 0}, box),
            (Indices{0, 0, -1}));
}

// 0.5 + double(1e-5f) lies between two floats: the comparison in double must tell them apart.
TEST_P(PointsInBoxesTest, RightSideIsTakenInDouble) {
  const double bound = 0.5 + static_cast<double>(kMargin);
  auto below = static_cast<float>(bound);
  if (below >= bound) below = std::nextafterf(below, 0.0f);
  const float above = std::nextafterf(below, 1.0f);
  EXPECT_EQ(Run({below, 0, 0, above, 0, 0}, {0, 0, 0, 1, 1, 1, 0}), (Indices{0, -1}));
}

TEST_P(PointsInBoxesTest, HeadingTurnsCounterClockwiseFromX) {
  const float quarter = 0.78539816f;  // 45 degrees
  const std::vector<float> box = {0, 0, 0, 10, 0.1f, 2, quarter};
  EXPECT_EQ(Run({3, 3, 0, 3, -3, 0, 4.9f, 0, 0}, box), (Indices{0, -1, -1}));
}

TEST_P(PointsInBoxesTest, NanPointIsNowhere) {
  const std::vector<float> box = {0, 0, 0, 9, 9, 9, 0};
  EXPECT_EQ(Run({kNan, 0, 0, 0, kNan, 0, 0, 0, kNan, 0, 0, 0}, box), (Indices{-1, -1, -1, 0}));
}

TEST_P(PointsInBoxesTest, NanBoxHoldsNothing) {
  for (size_t i = 0; i < 7; ++i) {
    std::vector<float> boxes = {0, 0, 0, 9, 9, 9, 0, 0, 0, 0, 9, 9, 9, 0};
    boxes[i] = kNan;
    EXPECT_EQ(Run({0, 0, 0}, boxes), Indices{1}) << i;
  }
}

TEST_P(PointsInBoxesTest, InfiniteHeadingHoldsNothing) {
  EXPECT_EQ(Run({0, 0, 0}, {0, 0, 0, 9, 9, 9, kInf}), Indices{-1});
}

// inf <= inf, in the formula as it is written.
TEST_P(PointsInBoxesTest, InfiniteHeightHoldsEveryZ) {
  EXPECT_EQ(Run({1, 2, 3}, {0, 0, kInf, 9, 9, kInf, 0}), Indices{0});
  EXPECT_EQ(Run({1, 2, -kInf}, {0, 0, 5, 9, 9, kInf, 0}), Indices{0});
  EXPECT_EQ(Run({1, 2, 3}, {0, 0, kInf, 9, 9, 7, 0}), Indices{-1});
}

TEST_P(PointsInBoxesTest, NegativeAndZeroSizesHoldNothingButForTheMargin) {
  EXPECT_EQ(Run({0, 0, 0}, {0, 0, 0, -1, 1, 1, 0}), Indices{-1});
  EXPECT_EQ(Run({0, 0, 0}, {0, 0, 0, 1, 1, -1, 0}), Indices{-1});
  EXPECT_EQ(Run({0, 0, 0}, {0, 0, 0, 0, 0, 0, 0}), Indices{0});  // |0| < 0 + 1e-5, 0 <= 0
  EXPECT_EQ(Run({2e-5f, 0, 0}, {0, 0, 0, 0, 0, 0, 0}), Indices{-1});
}

TEST_P(PointsInBoxesTest, EmptyInputs) {
  EXPECT_TRUE(PointsInBoxes(GetParam(), {}, {}, 0, 5, 3).empty());
  const std::vector<float> box = {0, 0, 0, 1, 1, 1, 0}, points = {0, 0, 0, 1, 1, 1};
  EXPECT_TRUE(PointsInBoxes(GetParam(), {}, box, 1, 0, 1).empty());
  EXPECT_EQ(PointsInBoxes(GetParam(), points, {}, 1, 2, 0), (Indices{-1, -1}));
}

TEST_P(PointsInBoxesTest, BatchesAreApart) {
  const std::vector<float> points = {0, 0, 0, 5, 5, 5, 0, 0, 0, 5, 5, 5};
  const std::vector<float> boxes = {0, 0, 0, 1, 1, 1, 0, 5, 5, 5, 1, 1, 1, 0};
  EXPECT_EQ(PointsInBoxes(GetParam(), points, boxes, 2, 2, 1), (Indices{0, -1, -1, 0}));
}

TEST_P(PointsInBoxesTest, SizesAroundTheVectorWidth) {
  Rng rng(41);
  for (int64_t m : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 1000}) {
    for (int64_t t : {1, 2, 16, 17, 66}) {
      std::vector<float> points = UniformFloats(rng, 2 * m * 3, -6, 6);
      const std::vector<float> boxes = UniformFloats(rng, 2 * t * 7, -4, 6);
      ExpectAsOracle(points, boxes, 2, m, t);
    }
  }
}

TEST_P(PointsInBoxesTest, NetworkSize) {
  Rng rng(42);
  for (int64_t boxes : {66, 75}) {
    const int64_t points = (boxes == 66 ? 272414 : 274207) / kSlowdown;
    ExpectAsOracle(RandomPoints(rng, points), RandomBoxes3d(rng, boxes), 1, points, boxes);
  }
}

// Points on the faces of rotated boxes, where every rounding matters.
TEST_P(PointsInBoxesTest, OnTheFacesBitByBit) {
  Rng rng(43);
  const int64_t t = 40, per_box = 400 / kSlowdown + 5;
  const std::vector<float> boxes = RandomBoxes3d(rng, t);
  std::vector<float> points;
  for (int64_t i = 0; i < t; ++i) {
    const float* b = boxes.data() + 7 * i;
    const float c = std::cos(b[6]), s = std::sin(b[6]);
    for (int64_t j = 0; j < per_box; ++j) {
      const float along = Uniform(rng, -0.5f, 0.5f), side = rng() % 2 == 0 ? 0.5f : -0.5f;
      const bool on_x = rng() % 2 == 0;
      const float grow = 1.0f + static_cast<float>(rng() % 5) * 4e-6f;
      const float x = b[3] * (on_x ? side * grow : along), y = b[4] * (on_x ? along : side * grow);
      points.insert(points.end(), {b[0] + c * x - s * y, b[1] + s * x + c * y,
                                   b[2] + b[5] * (rng() % 4 == 0 ? 0.5f : along)});
    }
  }
  ExpectAsOracle(points, boxes, 1, t * per_box, t);
}

TEST_P(PointsInBoxesTest, SpecialValuesBitByBit) {
  Rng rng(44);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> points = UniformFloats(rng, 3 * 200, -6, 6);
    std::vector<float> boxes = UniformFloats(rng, 7 * 50, -4, 6);
    Spoil(rng, points, 10);
    Spoil(rng, boxes, 10);
    ExpectAsOracle(points, boxes, 1, 200, 50);
  }
}

TEST_P(PointsInBoxesTest, ManyBoxesAndHugeHeadings) {
  Rng rng(45);
  const int64_t t = 3000 / kSlowdown, m = 2000;
  std::vector<float> boxes = RandomBoxes3d(rng, t);
  for (size_t i = 6; i < boxes.size(); i += 7) boxes[i] *= std::pow(10.0f, Uniform(rng, 0, 30));
  ExpectAsOracle(RandomPoints(rng, m), boxes, 1, m, t);
}

// Distances between boxes that are no floats any more.
TEST_P(PointsInBoxesTest, ExtentsBeyondTheLargestFloat) {
  Rng rng(47);
  const int64_t t = 150, m = 2000;
  for (int round = 0; round < 4; ++round) {
    std::vector<float> boxes = RandomBoxes3d(rng, t), points = RandomPoints(rng, m);
    for (size_t i = 0; i < boxes.size(); i += 7) {
      boxes[i + i / 7 % 2] = 3e38f * Uniform(rng, -1, 1);
      if (i % 3 != 0) continue;
      boxes[i + 3] = Uniform(rng, 0, 3e38f);
      boxes[i + 4] = 1e37f;
    }
    for (size_t i = 0; i < points.size(); i += 3) {  // along the middles of the boxes
      const float* b = boxes.data() + 7 * (rng() % t);
      const float along = Uniform(rng, -0.5f, 0.5f) * b[3];
      points[i] = b[0] + along * std::cos(b[6]);
      points[i + 1] = b[1] + along * std::sin(b[6]);
    }
    ExpectAsOracle(points, boxes, 1, m, t);
  }
}

// Boxes that only their heights tell apart, some of them far away, and in more than one index of a
// GPU; in the end all at one height.
TEST_P(PointsInBoxesTest, TowersWithOutliers) {
  Rng rng(46);
  const int64_t t = 1500 / kSlowdown, m = 2000;
  const auto height = static_cast<float>(t);
  for (const float spread : {1.0f, 0.01f, 0.0f}) {
    std::vector<float> points = RandomPoints(rng, m), boxes = RandomBoxes3d(rng, t);
    for (size_t i = 0; i < points.size(); i += 3) {
      points[i] /= 40;
      points[i + 1] /= 40;
      points[i + 2] = spread * Uniform(rng, -height, height);
    }
    for (size_t i = 0; i < boxes.size(); i += 7) {
      boxes[i] = boxes[i + 1] = 0;
      boxes[i + 2] = spread * Uniform(rng, -height, height);
      boxes[i + 5] *= spread;
      if (i % (7 * 50) == 0) boxes[i + rng() % 3] = std::pow(10.0f, Uniform(rng, 0, 38));
      if (i % (7 * 60) == 0) boxes[i + 5] = kInf;
    }
    ExpectAsOracle(points, boxes, 1, m, t);
  }
}

// Where kernels for MLUs divide boxes into words, leaves and indexes, and points into parts.
TEST_P(PointsInBoxesTest, SizesAroundWordsLeavesAndIndexes) {
  Rng rng(48);
  const std::vector<std::pair<int64_t, int64_t>> sizes = {
      {33, 31},    {33, 32},   {33, 33},  {100, 64},  {100, 65},  {1151, 96},
      {1153, 97},  {2305, 60}, {50, 128}, {700, 129}, {700, 193}, {60000 / kSlowdown, 200},
      {300, 1000}, {60, 4096}, {60, 4097}};
  for (const auto& [m, t] : sizes) {
    std::vector<float> points = RandomPoints(rng, m), boxes = RandomBoxes3d(rng, t);
    const float shrink = std::sqrt(static_cast<float>(t) / 4000.0f);  // about one box per point
    for (size_t i = 0; i < points.size(); ++i) points[i] *= i % 3 < 2 ? shrink : 0.5f;
    for (size_t i = 0; i < boxes.size(); i += 7) {
      for (size_t axis = 0; axis < 3; ++axis) boxes[i + axis] *= axis < 2 ? shrink : 0.5f;
    }
    SCOPED_TRACE(testing::Message() << m << " x " << t);
    ExpectAsOracle(points, boxes, 1, m, t);
  }
}

TEST_P(PointsInBoxesTest, ManyBatches) {
  Rng rng(49);
  const int64_t b = 100, m = 70, t = 35;
  std::vector<float> points = RandomPoints(rng, b * m), boxes = RandomBoxes3d(rng, b * t);
  for (float& v : points) v /= 20;
  for (size_t i = 0; i < boxes.size(); ++i) boxes[i] /= i % 7 < 3 ? 20 : 1;
  ExpectAsOracle(points, boxes, b, m, t);
}

// Every point is in the bounds of all boxes and in many of them, or only in those of all.
TEST_P(PointsInBoxesTest, AllBoxesNearAllPoints) {
  Rng rng(50);
  const int64_t m = 3000, t = 150;
  for (const float width : {2.0f, 0.01f}) {
    std::vector<float> points = RandomPoints(rng, m), boxes = RandomBoxes3d(rng, t);
    for (float& v : points) v /= 100;
    for (size_t i = 0; i < boxes.size(); i += 7) {
      for (size_t axis = 0; axis < 3; ++axis) boxes[i + axis] /= 100;
      boxes[i + 3] = 5;
      boxes[i + 4] = width;
    }
    ExpectAsOracle(points, boxes, 1, m, t);
  }
}

// Boxes that no plane tells apart, and points of which few are near them.
TEST_P(PointsInBoxesTest, ManyBoxesThatCrossInOneSpot) {
  Rng rng(51);
  const int64_t m = 70000 / kSlowdown, t = 1300 / kSlowdown;
  std::vector<float> points = RandomPoints(rng, m), boxes = RandomBoxes3d(rng, t);
  for (size_t i = 0; i < points.size(); i += 3 * 500) points[i] = points[i + 1] = 0.001f;
  for (size_t i = 0; i < boxes.size(); i += 7) {
    boxes[i] = boxes[i + 1] = boxes[i + 2] = 0;
    boxes[i + 3] = 10;
    boxes[i + 4] = 0.001f;
  }
  ExpectAsOracle(points, boxes, 1, m, t);
}

INSTANTIATE_TEST_SUITE_P(Table, PointsInBoxesTest,
                         testing::ValuesIn(ImplementationsOf("points_in_boxes")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
