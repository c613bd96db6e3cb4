// SPDX-License-Identifier: Apache-2.0
//
// The work follows the points near boxes, counted in tests and in candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/oracle.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

class PointsInBoxesWorkTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t kPoints = 100000, kBoxes = 400;
  // Checks the result and returns the number of tests per point.
  double TestsPerPoint(const std::vector<float>& points, const std::vector<float>& boxes) {
    const auto m = static_cast<int64_t>(points.size() / 3);
    const auto t = static_cast<int64_t>(boxes.size() / 7);
    const std::vector<int32_t> got = PointsInBoxes(GetParam(), points, boxes, 1, m, t);
    const auto tests = static_cast<double>(LastPairCount());
    EXPECT_GE(tests, 0);
    EXPECT_EQ(got, oracle::PointsInBoxes(points, boxes, 1, m, t));
    return tests / static_cast<double>(m);
  }
};

TEST_P(PointsInBoxesWorkTest, SmallBoxesInALargeScene) {
  Rng rng(80);
  EXPECT_LT(TestsPerPoint(RandomPoints(rng, kPoints), RandomBoxes3d(rng, kBoxes)), 0.5);
}

TEST_P(PointsInBoxesWorkTest, AllBoxesOnOneSpot) {
  Rng rng(81);
  std::vector<float> boxes = RandomBoxes3d(rng, kBoxes);
  for (size_t i = 0; i < boxes.size(); i += 7) boxes[i] = boxes[i + 1] = 10.0f;
  EXPECT_LT(TestsPerPoint(RandomPoints(rng, kPoints), boxes), 2.0);
}

TEST_P(PointsInBoxesWorkTest, OneGiantAmongTiny) {
  Rng rng(82);
  std::vector<float> boxes = RandomBoxes3d(rng, kBoxes);
  const std::vector<float> giant = {0, 0, 50, 1000, 1000, 1, 0.3f};  // above all points
  boxes.insert(boxes.begin(), giant.begin(), giant.end());
  EXPECT_LT(TestsPerPoint(RandomPoints(rng, kPoints), boxes), 2.0);
}

TEST_P(PointsInBoxesWorkTest, LongThinBoxesAcross) {
  Rng rng(83);
  std::vector<float> boxes = RandomBoxes3d(rng, 100);
  for (size_t i = 0; i < boxes.size(); i += 7) {
    boxes[i + 3] = 100.0f;
    boxes[i + 4] = 0.1f;
  }
  EXPECT_LT(TestsPerPoint(RandomPoints(rng, kPoints), boxes), 8.0);
}

TEST_P(PointsInBoxesWorkTest, PositionsOverTwelveDecades) {
  Rng rng(84);
  std::vector<float> boxes = RandomBoxes3d(rng, kBoxes), points = RandomPoints(rng, kPoints);
  for (size_t i = 0; i < boxes.size(); i += 7) {
    const float scale = std::pow(10.0f, Uniform(rng, -6, 6));
    for (size_t j : {0, 1, 3, 4}) boxes[i + j] *= scale;
  }
  for (size_t i = 0; i < points.size(); i += 3) {
    const float scale = std::pow(10.0f, Uniform(rng, -6, 6));
    points[i] *= scale;
    points[i + 1] *= scale;
  }
  EXPECT_LT(TestsPerPoint(points, boxes), 40.0);
}

// What no grid over the ground tells apart. `candidates`, the cells, boxes and nodes examined to
// find the boxes that are tested, include those of building the index.
class PointsInBoxesAdverseTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t kPoints = 20000, kBoxes = 2000;
  std::vector<float> points_, boxes_;

  // [x y z], [cx cy cz dx dy dz heading]
  template <class PerPoint, class PerBox>
  void Make(uint64_t seed, const PerPoint& per_point, const PerBox& per_box) {
    Rng rng(seed);
    points_ = RandomPoints(rng, kPoints);
    boxes_ = RandomBoxes3d(rng, kBoxes);
    for (int64_t i = 0; i < kPoints; ++i) per_point(rng, points_.data() + 3 * i);
    for (int64_t i = 0; i < kBoxes; ++i) per_box(rng, boxes_.data() + 7 * i, i);
  }
  // Per point; also checks the result of every 16th.
  void ExpectFewer(double tests, double candidates) {
    const std::vector<int32_t> got = PointsInBoxes(GetParam(), points_, boxes_, 1, kPoints, kBoxes);
    EXPECT_LT(static_cast<double>(LastPairCount()) / kPoints, tests);
    EXPECT_LT(static_cast<double>(LastCandidateCount()) / kPoints, candidates);
    std::vector<int32_t> some;
    std::vector<float> some_points;
    for (int64_t i = 0; i < kPoints; i += 16) {
      some.push_back(got[i]);
      some_points.insert(some_points.end(), &points_[3 * i], &points_[3 * i] + 3);
    }
    EXPECT_EQ(some, oracle::PointsInBoxes(some_points, boxes_, 1, static_cast<int64_t>(some.size()),
                                          kBoxes));
  }
};

void Leave(Rng&, float*) {}

// A column of boxes as high as there are boxes, and the points in it.
void InTower(Rng& rng, float* p) {
  p[0] /= 40;
  p[1] /= 40;
  p[2] = Uniform(rng, -1500, 1500);
}
void ToTower(Rng& rng, float* b, int64_t) {
  b[0] = b[1] = 0;
  b[2] = Uniform(rng, -1500, 1500);
}

TEST_P(PointsInBoxesAdverseTest, ScatteredToCompareWith) {
  Make(90, Leave, [](Rng&, float*, int64_t) {});
  ExpectFewer(2.0, 4.0);
}

TEST_P(PointsInBoxesAdverseTest, OneOutlier) {
  Make(90, Leave, [](Rng&, float* b, int64_t i) {
    if (i == 0) b[0] = b[1] = 1e6f;
  });
  ExpectFewer(4.0, 4.0);
}

TEST_P(PointsInBoxesAdverseTest, OutliersInAllDirections) {
  Make(91, Leave, [](Rng& rng, float* b, int64_t i) {
    if (i % 50 == 0) {
      for (int axis = 0; axis < 3; ++axis) b[axis] = std::pow(10.0f, Uniform(rng, 0, 30));
    }
  });
  ExpectFewer(8.0, 8.0);
}

// Dense, so that cells as large as the boxes hold very many of them.
TEST_P(PointsInBoxesAdverseTest, DenseClusterAndOneOutlier) {
  Make(
      92, [](Rng&, float* p) { p[0] /= 20, p[1] /= 20; },
      [](Rng&, float* b, int64_t i) {
        b[0] = i == 0 ? 1e6f : b[0] / 20;
        b[1] = i == 0 ? 1e6f : b[1] / 20;
      });
  ExpectFewer(40.0, 40.0);
}

TEST_P(PointsInBoxesAdverseTest, Tower) {
  Make(93, InTower, ToTower);
  ExpectFewer(20.0, 60.0);
}

TEST_P(PointsInBoxesAdverseTest, TowerWithOutliers) {
  Make(94, InTower, [](Rng& rng, float* b, int64_t i) {
    ToTower(rng, b, i);
    if (i % 100 == 0) b[i / 100 % 3] = 1e9f;
  });
  ExpectFewer(20.0, 60.0);
}

TEST_P(PointsInBoxesAdverseTest, BesideBoxesThatCross) {
  Make(
      95,
      [](Rng&, float* p) {
        p[0] = 1;
        p[1] = -1 + p[1] / 1000;
        p[2] = 0;
      },
      [](Rng& rng, float* b, int64_t) {
        b[0] = b[1] = b[2] = 0;
        b[3] = 10;
        b[4] = 0.001f;
        b[6] = 0.785f + Uniform(rng, -0.01f, 0.01f);
      });
  ExpectFewer(20.0, 60.0);
}

TEST_P(PointsInBoxesAdverseTest, BelowBoxesOverEverything) {
  Make(96, Leave, [](Rng& rng, float* b, int64_t) {
    b[2] = Uniform(rng, 5, 10);
    b[3] = b[4] = Uniform(rng, 1000, 2000);
  });
  ExpectFewer(30.0, 60.0);
}

TEST_P(PointsInBoxesAdverseTest, InBoxesOverEverything) {
  Make(97, Leave, [](Rng& rng, float* b, int64_t) {
    b[3] = b[4] = Uniform(rng, 1000, 2000);
    b[5] = 10;
  });
  ExpectFewer(2.0, 60.0);
}

TEST_P(PointsInBoxesAdverseTest, ZeroSizesInOneSpot) {
  Make(
      98,
      [](Rng&, float* p) {
        p[0] = 1.2e-5f;  // just beyond the margin
        p[1] = p[2] = 0;
      },
      [](Rng&, float* b, int64_t) { std::fill_n(b, 6, 0.0f); });
  ExpectFewer(20.0, 60.0);
}

TEST_P(PointsInBoxesAdverseTest, NanAndInfiniteBoxes) {
  Make(99, Leave, [](Rng& rng, float* b, int64_t i) {
    const float special[] = {kNan, kInf, -kInf};
    if (i % 10 != 0) b[rng() % 7] = special[rng() % 3];
  });
  ExpectFewer(80.0, 80.0);
}

// Rows of thin boxes at 45 degrees: their bounds overlap everywhere, they do nowhere.
TEST_P(PointsInBoxesAdverseTest, DiagonalRow) {
  Make(
      100,
      [](Rng& rng, float* p) {
        p[0] = Uniform(rng, -3000, 3000);
        p[1] = p[0] + Uniform(rng, -1, 1);
      },
      [](Rng&, float* b, int64_t i) {
        b[0] = b[1] = 3 * (static_cast<float>(i) - kBoxes / 2);
        b[3] = 4;
        b[4] = 0.1f;
        b[6] = 0.78539816f;
      });
  ExpectFewer(30.0, 20.0);
}

// The worst that is known: the memory does not suffice to tell so many long boxes apart.
TEST_P(PointsInBoxesAdverseTest, LongThinDiagonals) {
  Make(101, Leave, [](Rng& rng, float* b, int64_t) {
    b[0] = Uniform(rng, -40, 40);
    b[1] = -b[0];
    b[3] = 150;
    b[4] = 0.001f;
    b[6] = 0.78539816f;
  });
  ExpectFewer(kBoxes / 20.0, 60.0);
}

INSTANTIATE_TEST_SUITE_P(Table, PointsInBoxesAdverseTest,
                         testing::ValuesIn(CountingImplementationsOf("points_in_boxes")),
                         [](const auto& tested) { return TestName(tested.param); });
INSTANTIATE_TEST_SUITE_P(Table, PointsInBoxesWorkTest,
                         testing::ValuesIn(CountingImplementationsOf("points_in_boxes")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
