// SPDX-License-Identifier: Apache-2.0
//
// Many boxes: enough for the spatial order in which fast implementations process them, in scenes
// that are hard for that order. The kept boxes must equal the reference's, and the work must be in
// proportion to the overlaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "math/quad_frame.h"
#include "support/environment.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

using Boxes = std::vector<float>;

// Enough for every strategy that an implementation may choose.
constexpr int64_t kMost = 4400 / kSlowdown + 600;
// On a simulated device, which has tiles, batches and chunks of a few hundred boxes.
constexpr int64_t kMostSimulated = 1100;

void Add(Boxes& boxes, const Quad& quad, float score) {
  boxes.insert(boxes.end(), quad.begin(), quad.end());
  boxes.push_back(score);
}

void AddRectangle(Boxes& boxes, float x, float y, float width, float height, float score) {
  Add(boxes, {x, y, x + width, y, x + width, y + height, x, y + height}, score);
}

class PolyNmsScenesTest : public testing::TestWithParam<std::string> {
 protected:
  int64_t Most() const {
    return SlowdownOf(GetParam()) > 1 ? std::min(kMost, kMostSimulated) : kMost;
  }
  // On the CPU, fewer suffice for the strategies of most scenes, and the reference takes less time.
  int64_t Many() const { return DeviceOf(GetParam()) == "cpu" ? 2400 / kSlowdown + 600 : Most(); }
  // Enough for a frame (math/quad_frame.h).
  int64_t EnoughForAFrame() const {
    return DeviceOf(GetParam()) == "cpu" ? math::kLeastFramed
           : SlowdownOf(GetParam()) > 1  ? kMostSimulated
                                         : 5000;
  }
  void ExpectAsReference(const Boxes& boxes) {
    for (const float threshold : {0.0f, 0.1f, 0.5f}) ExpectAsReferenceAt(threshold, boxes);
  }
  void ExpectAsReferenceAt(float threshold, const Boxes& boxes) {
    EXPECT_EQ(PolyNms(GetParam(), boxes, threshold), PolyNms("cpu:reference", boxes, threshold))
        << "threshold " << threshold;
  }
  void ExpectCandidatesPerBoxBelow(double most, const Boxes& boxes, float threshold) {
    const auto counting = CountingImplementationsOf("poly_nms");
    if (std::find(counting.begin(), counting.end(), GetParam()) == counting.end()) return;
    PolyNms(GetParam(), boxes, threshold);
    EXPECT_LT(static_cast<double>(LastCandidateCount()),
              most * (static_cast<double>(boxes.size()) / 9));
  }
};

TEST_P(PolyNmsScenesTest, Scattered) {
  Rng rng(80);
  ExpectAsReference(RandomQuads(rng, Many()));
}

TEST_P(PolyNmsScenesTest, FarFromTheOrigin) {
  Rng rng(81);
  ExpectAsReference(RandomQuads(rng, Many(), -1e6f));
}

TEST_P(PolyNmsScenesTest, ScoresAllEqual) {
  Rng rng(82);
  Boxes boxes = RandomQuads(rng, Many());
  for (size_t i = 8; i < boxes.size(); i += 9) boxes[i] = 1.0f;
  ExpectAsReference(boxes);
}

TEST_P(PolyNmsScenesTest, SpecialValues) {
  Rng rng(83);
  Boxes boxes = RandomQuads(rng, Many());
  Spoil(rng, boxes, 100);
  ExpectAsReference(boxes);
}

// Far more cells than boxes, and all boxes at the same position within a block of cells.
TEST_P(PolyNmsScenesTest, SparseAtRegularDistances) {
  Rng rng(84);
  Boxes boxes;
  for (int64_t i = 0; i < Many(); ++i) {
    const float x = 16384.0f * static_cast<float>(i / 3 % 40);
    const float y = 16384.0f * static_cast<float>(i / 120);
    Add(boxes, RandomRectangle(rng, x + Uniform(rng, -9, 9), y), Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
  ExpectCandidatesPerBoxBelow(100.0, boxes, 0.1f);
}

// A line of boxes, each overlapping the next: every box waits for its neighbour, from the last to
// the first.
TEST_P(PolyNmsScenesTest, ChainsInBothDirections) {
  for (const float direction : {1.0f, -1.0f}) {
    Boxes boxes;
    for (int64_t i = 0; i < Many(); ++i) {
      const auto x = static_cast<float>(i);
      AddRectangle(boxes, 6 * x, 0.5f * x, 10, 10, direction * x);
    }
    ExpectAsReference(boxes);
    ExpectCandidatesPerBoxBelow(100.0, boxes, 0.1f);
  }
}

// A neighbour search must extend as far as boxes reach; these all reach equally far.
TEST_P(PolyNmsScenesTest, PairsThatOverlapByASliver) {
  Rng rng(93);
  Boxes boxes;
  for (int64_t i = 0; i < Many() / 2; ++i) {
    const float x = 100.0f * static_cast<float>(i % 40) + Uniform(rng, 0, 50);
    const float y = 100.0f * static_cast<float>(i / 40) + Uniform(rng, 0, 50);
    const float side = Uniform(rng, 15.8f, 15.9f), beside = side - 0.01f;
    AddRectangle(boxes, x, y, side, side, Uniform(rng, 0, 1));
    AddRectangle(boxes, i % 2 == 0 ? x + beside : x, i % 2 == 0 ? y : y + beside, side, side,
                 Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
}

// The output of a detector for 60 objects, each detected many times: the same quadrilateral, moved
// a little.
TEST_P(PolyNmsScenesTest, ObjectsDetectedManyTimes) {
  Rng rng(92);
  std::vector<Quad> objects;
  for (int i = 0; i < 60; ++i) {
    objects.push_back(RandomRectangle(rng, Uniform(rng, 0, 500), Uniform(rng, 0, 500)));
  }
  Boxes boxes;
  for (int64_t i = 0; i < Most(); ++i) {
    Quad quad = objects[rng() % objects.size()];
    for (float& v : quad) v += Uniform(rng, -1, 1);
    Add(boxes, quad, Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
}

TEST_P(PolyNmsScenesTest, Clusters) {
  Rng rng(85);
  Boxes boxes;
  for (int64_t i = 0; i < Most(); ++i) {
    const float x = 300.0f * static_cast<float>(rng() % 6),
                y = 40.0f * static_cast<float>(rng() % 6);
    Add(boxes, RandomQuad(rng, x + Uniform(rng, -5, 5), y + Uniform(rng, -5, 5)),
        Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
}

// In a dense cluster, all boxes are first compared with the highest-scoring ones: for any number of
// boxes, whether those suppress nearly all or hardly any.
TEST_P(PolyNmsScenesTest, DenseClusters) {
  Rng rng(90);
  for (const int64_t count : {int64_t{513}, int64_t{1025}, Many()}) {
    Boxes boxes;
    for (int64_t i = 0; i < count; ++i) {
      Add(boxes, RandomRectangle(rng, Uniform(rng, -9, 9), Uniform(rng, -9, 9)),
          Uniform(rng, 0, 1));
    }
    ExpectAsReference(boxes);
    EXPECT_EQ(PolyNms(GetParam(), boxes, 0.9f), PolyNms("cpu:reference", boxes, 0.9f));
    for (size_t i = 8; i < boxes.size(); i += 9) {
      boxes[i] = rng() % 4 == 0 ? std::nanf("") : static_cast<float>(rng() % 2);
    }
    ExpectAsReference(boxes);
    for (size_t i = 8; i < boxes.size(); i += 9) boxes[i] = 1.0f;
    Spoil(rng, boxes, 20);
    ExpectAsReference(boxes);
  }
}

// Every second box has a low score: a sample of those alone misjudges the highest scores.
TEST_P(PolyNmsScenesTest, DenseClusterWhoseScoresDeceiveASample) {
  Rng rng(91);
  Boxes boxes;
  for (int64_t i = 0; i < 2048; ++i) {
    Add(boxes, RandomRectangle(rng, Uniform(rng, -9, 9), Uniform(rng, -9, 9)),
        Uniform(rng, 0, 1) + static_cast<float>(i % 2));
  }
  ExpectAsReference(boxes);
}

TEST_P(PolyNmsScenesTest, SizesOverManyDecadesOnOneSpot) {
  Rng rng(86);
  Boxes boxes;
  for (int64_t i = 0; i < Many(); ++i) {
    Quad quad = RandomQuad(rng, Uniform(rng, -20, 20), Uniform(rng, -20, 20));
    const float scale = std::pow(10.0f, Uniform(rng, -12, 12));
    for (float& v : quad) v *= scale;
    Add(boxes, quad, Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
}

// The giants wait for every other box, and others wait for them.
TEST_P(PolyNmsScenesTest, GiantsOfAnyScoreOverAll) {
  Rng rng(87);
  Boxes boxes = RandomQuads(rng, Many());
  for (const float score : {0.0f, 0.3f, 0.6f, 0.9f}) {
    AddRectangle(boxes, -1e4f * (1 + score), -1e4f, 2e4f, 2e4f, score);
  }
  ExpectAsReference(boxes);
  ExpectCandidatesPerBoxBelow(200.0, boxes, 0.1f);
}

// A large box covers thousands of tiny cells, but no box in them can suppress it.
TEST_P(PolyNmsScenesTest, AllSizesEverywhere) {
  Rng rng(89);
  Boxes boxes;
  for (int64_t i = 0; i < Many(); ++i) {
    const float side = std::exp2(Uniform(rng, -6, 8));
    const float x = Uniform(rng, 0, 1300), y = Uniform(rng, 0, 1300);
    AddRectangle(boxes, x, y, side, Uniform(rng, 0.1f, 1) * side, Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
  ExpectCandidatesPerBoxBelow(100.0, boxes, 0.1f);
}

// A few tiny boxes all over the scene must not make every box visit tiny cells.
TEST_P(PolyNmsScenesTest, FewTinyAmongMany) {
  Rng rng(88);
  Boxes boxes = RandomQuads(rng, Many());
  for (int i = 0; i < 8; ++i) {
    const float x = Uniform(rng, 0, 1000), y = Uniform(rng, 0, 1000);
    AddRectangle(boxes, x, y, 1e-3f, 1e-3f, Uniform(rng, 0, 1));
  }
  ExpectAsReference(boxes);
  ExpectCandidatesPerBoxBelow(200.0, boxes, 0.1f);
}

// Where a sample of thin strips overlaps by its bounds, all are bounded in other coordinates
// (math/quad_frame.h): parallel ones along them, others by their directions. Some lie apart, so
// that the reference has fewer pairs to decide.
TEST_P(PolyNmsScenesTest, ThinStripsInOneDirectionOrInAll) {
  Rng rng(94);
  const int64_t count = EnoughForAFrame();
  for (const bool parallel : {true, false}) {
    Boxes boxes;
    for (int64_t i = 0; i < count; ++i) {
      const auto middle = 1e5f * static_cast<float>(i % 8);
      const Quad strip = RandomStrip(rng, middle, parallel ? 0.7f : Uniform(rng, 0, 3.1415926f));
      Add(boxes, i % 50 == 0 ? RandomRectangle(rng, middle, 0) : strip, Uniform(rng, 0, 1));
    }
    for (const float scale : {1e-22f, 1e16f, 1e32f}) {
      Boxes scaled = boxes;
      for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= i % 9 == 8 ? 1.0f : scale;
      ExpectAsReferenceAt(0.1f, scaled);
    }
    Spoil(rng, boxes, 20);
    ExpectAsReference(boxes);
  }
}

// A frame that squeezes and stretches must not lose boxes that it makes larger than any float, nor
// be made from one.
TEST_P(PolyNmsScenesTest, ThinStripsAndHugeBoxes) {
  Rng rng(95);
  const int64_t count = EnoughForAFrame();
  for (const float size : {1e15f, 1e20f, 1e30f, 1e37f}) {
    Boxes boxes;
    for (int64_t i = 0; i < count; ++i) {
      const auto middle = 1e5f * static_cast<float>(i % 8);
      Quad quad = RandomStrip(rng, middle, 0.7f);
      if (i % 80 < 2) {
        quad = {-size, 2 * size, 0, 2 * size, 0, 3 * size, -size, 3 * size};
      } else if (i % 64 < 2) {
        quad = {0, 0, 3 * size, 0, 3 * size, 0.3f * size, 0, 0.3f * size};
      }
      Add(boxes, quad, Uniform(rng, 0, 1));
    }
    ExpectAsReferenceAt(0.1f, boxes);
  }
}

std::vector<std::string> FastImplementations() {
  std::vector<std::string> names = ImplementationsOf("poly_nms");
  std::erase(names, "cpu:reference");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, PolyNmsScenesTest, testing::ValuesIn(FastImplementations()),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
