// SPDX-License-Identifier: Apache-2.0
//
// One named test for each rule of README.md, run on every implementation.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "math/quad_frame.h"
#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

using Boxes = std::vector<float>;
using Kept = std::vector<int32_t>;

class PolyNmsTest : public testing::TestWithParam<std::string> {
 protected:
  Kept Run(const Boxes& boxes, float threshold) { return PolyNms(GetParam(), boxes, threshold); }
};

void AddSquare(Boxes& boxes, float x, float y, float side, float score) {
  boxes.insert(boxes.end(), {x, y, x + side, y, x + side, y + side, x, y + side, score});
}

void AddQuad(Boxes& boxes, const Quad& quad, float score) {
  boxes.insert(boxes.end(), quad.begin(), quad.end());
  boxes.push_back(score);
}

Kept AllOf(size_t count) {
  Kept all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// ---- the document's examples ----------------------------------------------------------------

TEST_P(PolyNmsTest, DocumentOneBox) { EXPECT_EQ(Run({0, 0, 1, 0, 1, 1, 0, 1, 3}, 0.1f), Kept{0}); }

TEST_P(PolyNmsTest, DocumentLowerScoreIsSuppressed) {
  EXPECT_EQ(Run({0,   0,   1,    0,   1,    1,    0,   1,    1,  //
                 0.5, 0.5, 1.5,  0.5, 1.5,  1.5,  0.5, 1.5,  2,  //
                 0,   0,   -0.5, 0,   -0.5, -0.5, 0,   -0.5, 3},
                0.1f),
            (Kept{1, 2}));
}

TEST_P(PolyNmsTest, DocumentOneSuppressesTwo) {
  EXPECT_EQ(Run({0,   0,   1,   0,   1,   1,   0,   1,   3,  //
                 0.5, 0.5, 1.5, 0.5, 1.5, 1.5, 0.5, 1.5, 2,  //
                 0,   0,   0.5, 0,   0.5, 0.5, 0,   0.5, 1},
                0.1f),
            Kept{0});
}

TEST_P(PolyNmsTest, DocumentSeventhIsMoreThanATenth) {
  EXPECT_EQ(Run({0,   0,   1,    0,   1,    1,    0,   1,    3,  //
                 0.5, 0.5, 1.5,  0.5, 1.5,  1.5,  0.5, 1.5,  2,  //
                 0,   0,   -0.5, 0,   -0.5, -0.5, 0,   -0.5, 1},
                0.1f),
            (Kept{0, 2}));
}

// The document prints these results for a threshold of 0.1, but the IoU of the pair is 0.0526.
TEST_P(PolyNmsTest, DocumentInfAndNanScores) {
  const auto boxes = [](float score) {
    return Boxes{0,   0,   2,    0,   2,    2,    0,   2,    score,  //
                 1.5, 1.5, 2.5,  1.5, 2.5,  2.5,  1.5, 2.5,  1,      //
                 0,   0,   -0.5, 0,   -0.5, -0.5, 0,   -0.5, 3};
  };
  EXPECT_EQ(Run(boxes(kInf), 0.05f), (Kept{0, 2}));
  EXPECT_EQ(Run(boxes(-kInf), 0.05f), (Kept{1, 2}));
  EXPECT_EQ(Run(boxes(kNan), 0.05f), (Kept{0, 2}));
  for (float score : {kInf, -kInf, kNan}) EXPECT_EQ(Run(boxes(score), 0.1f), AllOf(3));
}

TEST_P(PolyNmsTest, DocumentInfAndNanCoordinates) {
  const Boxes tail = {1.5, 1.5, 2.5,  1.5, 2.5,  2.5,  1.5, 2.5,  1,  //
                      0,   0,   -0.5, 0,   -0.5, -0.5, 0,   -0.5, 3};
  for (Boxes boxes :
       {Boxes{kInf, 0, 2, 0, 2, 2, kInf, 2, 2}, Boxes{0, 0, kInf, kInf, 2, 2, 0, 2, 2},
        Boxes{0, 0, 2, 0, 2, 2, 0, kNan, 2}}) {
    boxes.insert(boxes.end(), tail.begin(), tail.end());
    EXPECT_EQ(Run(boxes, 0.05f), AllOf(3));
  }
}

// ---- the contract ---------------------------------------------------------------------------

TEST_P(PolyNmsTest, EqualScoresSuppressLowerIndexFirst) {
  Boxes boxes;
  for (int i = 0; i < 5; ++i) AddSquare(boxes, 0.1f * static_cast<float>(i), 0, 4, 0.5f);
  EXPECT_EQ(Run(boxes, 0.1f), Kept{0});
}

TEST_P(PolyNmsTest, ZerosOfBothSignsAreEqualScores) {
  Boxes boxes;
  AddSquare(boxes, 0, 0, 4, -0.0f);
  AddSquare(boxes, 0, 0, 4, 0.0f);
  EXPECT_EQ(Run(boxes, 0.1f), Kept{0});
}

TEST_P(PolyNmsTest, NanScoresGoFirstLowerIndexAmongThem) {
  Boxes boxes;
  AddSquare(boxes, 0, 0, 4, kInf);
  AddSquare(boxes, 0, 0, 4, -kNan);
  AddSquare(boxes, 0, 0, 4, kNan);
  EXPECT_EQ(Run(boxes, 0.1f), Kept{1});
}

TEST_P(PolyNmsTest, ASuppressedBoxSuppressesNothing) {
  Boxes boxes;  // a chain: the second would suppress the third, but is suppressed itself
  AddSquare(boxes, 0, 0, 4, 3);
  AddSquare(boxes, 2, 0, 4, 2);
  AddSquare(boxes, 4, 0, 4, 1);
  EXPECT_EQ(Run(boxes, 0.2f), (Kept{0, 2}));
}

TEST_P(PolyNmsTest, ThresholdIsStrict) {
  Boxes boxes;  // IoU exactly 1/4
  AddSquare(boxes, 0, 0, 2, 2);
  AddSquare(boxes, 0, 0, 1, 1);
  EXPECT_EQ(Run(boxes, 0.25f), AllOf(2));
  EXPECT_EQ(Run(boxes, std::nextafterf(0.25f, 0.0f)), Kept{0});
}

// IoU exactly 4/8, from whichever corner and in whichever direction the boxes are listed.
TEST_P(PolyNmsTest, ATieIsKept) {
  const Quad a = {0, 0, 2, 0, 2, 3, 0, 3}, b = {0, 1, 3, 1, 3, 3, 0, 3};
  const uint64_t step = SlowdownOf(GetParam()) > 1 ? 5 : 1;
  for (uint64_t listing = 0; listing < 64; listing += step) {
    Boxes boxes;
    AddQuad(boxes, Listed(a, listing % 8), 2);
    AddQuad(boxes, Listed(b, listing / 8), 1);
    EXPECT_EQ(Run(boxes, 0.5f), AllOf(2)) << listing;
    EXPECT_EQ(Run(boxes, std::nextafterf(0.5f, 0.0f)), Kept{0}) << listing;
  }
}

// Pairs of whole rectangles, each pair by itself, of which many are ties. Where both are rotated
// alike, whole numbers decide: IoU > m / 2^k where shared * (2^k + m) > m * (area + area).
TEST_P(PolyNmsTest, WholeRectanglesAsExactArithmeticSays) {
  constexpr int64_t kPairsPerCall = 500, kPitch = 128;
  Rng rng(28);
  int64_t ties = 0;
  // The reference, which compares all boxes of a call, and simulated devices get a part of the
  // pairs.
  const bool slow = GetParam() == "cpu:reference" || SlowdownOf(GetParam()) > 1;
  const int64_t pairs = PolygonPairs() / (slow ? 100 : 10);
  for (int64_t done = 0; done < pairs; done += kPairsPerCall) {
    static constexpr float kThresholds[] = {0.5f, 0.25f, 0.125f, 0.75f, 0.1f, 0.375f};
    const float threshold = kThresholds[rng() % 6];
    const auto m = static_cast<int64_t>(std::ldexp(threshold, 30));
    const int64_t origin = rng() % 2 == 0 ? 0 : 8000000;
    Boxes boxes;
    Kept expected;
    for (int32_t i = 0; i < kPairsPerCall; ++i) {
      const auto a = RandomWholeRectangle(rng), b = RandomWholeRectangle(rng);
      const bool rotated = rng() % 2 == 0, together = rng() % 16 > 0;
      const int64_t x = origin + kPitch * (i % 25), y = origin + kPitch * (i / 25);
      const Quad quad_a = Listed(a.Outline(x, y, rotated), rng());
      const Quad quad_b = Listed(b.Outline(x, y, rotated == together), rng());
      const int64_t left = a.SharedArea(b) * ((int64_t{1} << 30) + m);
      const int64_t right = m * (a.Area() + b.Area());
      if (together && left == right) ++ties;
      AddQuad(boxes, quad_a, 2);
      AddQuad(boxes, quad_b, 1);
      expected.push_back(2 * i);
      if (!(together ? left > right : oracle::QuadIouGreater(quad_a, quad_b, threshold))) {
        expected.push_back(2 * i + 1);
      }
    }
    ASSERT_EQ(Run(boxes, threshold), expected) << "after " << done << " pairs";
  }
  EXPECT_GT(ties, pairs / 200);
}

TEST_P(PolyNmsTest, NegativeThresholdLeavesOne) {
  Boxes boxes;
  for (int i = 0; i < 20; ++i)
    AddSquare(boxes, 100.0f * static_cast<float>(i), 0, 1, i == 7 ? 2 : 1);
  boxes[9 * 3] = kNan;  // a box that no threshold of 0 or more would touch
  EXPECT_EQ(Run(boxes, -0.1f), Kept{7});
  EXPECT_EQ(Run(boxes, -kInf), Kept{7});
}

TEST_P(PolyNmsTest, ZeroThresholdNeedsSharedArea) {
  Boxes boxes;
  AddSquare(boxes, 0, 0, 1, 3);
  AddSquare(boxes, 1, 0, 1, 2);          // touches
  AddSquare(boxes, 0.99f, 0.99f, 1, 1);  // overlaps at a corner
  EXPECT_EQ(Run(boxes, 0.0f), (Kept{0, 1}));
  EXPECT_EQ(Run(boxes, -0.0f), (Kept{0, 1}));
}

TEST_P(PolyNmsTest, ThresholdOfOneOrMoreKeepsAll) {
  Rng rng(21);
  Boxes boxes;
  const Quad quad = RandomRectangle(rng, 17.3f, -4.1f);
  for (int i = 0; i < 10; ++i) {
    boxes.insert(boxes.end(), quad.begin(), quad.end());
    boxes.push_back(static_cast<float>(i));
  }
  EXPECT_EQ(Run(boxes, 1.0f), AllOf(10));
  EXPECT_EQ(Run(boxes, kInf), AllOf(10));
  EXPECT_EQ(Run(boxes, 0.9999f), Kept{9});
}

TEST_P(PolyNmsTest, ZeroAreaIsKept) {
  Boxes boxes;
  AddSquare(boxes, 0, 0, 4, 9);
  boxes.insert(boxes.end(), {1, 1, 3, 3, 2, 2, 1, 1, 1});  // a line
  AddSquare(boxes, 2, 2, 0, 1);                            // a point
  EXPECT_EQ(Run(boxes, 0.0f), AllOf(3));
}

TEST_P(PolyNmsTest, MixedOrientation) {
  Boxes boxes = {0, 0, 4, 0, 4, 4, 0, 4, 2,  //
                 0, 4, 4, 4, 4, 0, 0, 0, 1};
  EXPECT_EQ(Run(boxes, 0.9f), Kept{0});
}

TEST_P(PolyNmsTest, ConcaveBoxSparesWhatLiesInItsNotch) {
  const Boxes boxes = {0,    0,    4,    2,    0,    4,    2,    2,    3,   // a dart
                       0,    1.5f, 1,    1.5f, 1,    2.5f, 0,    2.5f, 2,   // in the notch
                       2.5f, 1.5f, 3.5f, 1.5f, 3.5f, 2.5f, 2.5f, 2.5f, 1};  // in the body
  EXPECT_EQ(Run(boxes, 0.05f), (Kept{0, 1}));
}

// Two unit squares with IoU 1/7, which the usual float code takes for identical at (1e4, 1e4).
TEST_P(PolyNmsTest, FarFromTheOrigin) {
  for (float at : {1e4f, 1e5f, 1e6f}) {
    Boxes boxes;
    AddSquare(boxes, at, at, 1, 2);
    AddSquare(boxes, at + 0.5f, at + 0.5f, 1, 1);
    EXPECT_EQ(Run(boxes, 0.15f), AllOf(2)) << at;
    EXPECT_EQ(Run(boxes, 0.14f), Kept{0}) << at;
  }
}

// Areas beyond float's largest and smallest.
TEST_P(PolyNmsTest, HugeAndTinyBoxes) {
  for (float side : {1e-30f, 1e-22f, 3e-20f, 1e15f, 1.5e19f, 1e25f, 1e38f}) {
    Boxes boxes;
    AddSquare(boxes, 0, 0, side, 2);
    AddSquare(boxes, 0.25f * side, 0, side, 1);  // IoU 3/5
    EXPECT_EQ(Run(boxes, 0.59f), Kept{0}) << side;
    EXPECT_EQ(Run(boxes, 0.61f), AllOf(2)) << side;
  }
}

TEST_P(PolyNmsTest, SelfIntersectingNeverCrashes) {
  Rng rng(22);
  Boxes boxes = UniformFloats(rng, 9 * 200, 0, 10);
  const Kept kept = Run(boxes, 0.3f);
  EXPECT_GE(kept.size(), 1u);
}

TEST_P(PolyNmsTest, SpecialValuesEverywhereNeverCrash) {
  Rng rng(23);
  const int rounds = SlowdownOf(GetParam()) > 1 ? 5 : 20;
  for (int round = 0; round < rounds; ++round) {
    Boxes boxes = RandomQuads(rng, 50);
    Spoil(rng, boxes, 10);
    const Kept kept = Run(boxes, 0.1f);
    EXPECT_EQ(kept, PolyNms("cpu:reference", boxes, 0.1f));
  }
}

// ---- against exact arithmetic ---------------------------------------------------------------

TEST_P(PolyNmsTest, RandomQuadsAsExactArithmeticSays) {
  Rng rng(24);
  for (int64_t count : {2, 7, 33, 70, 119, 500}) {
    for (float origin : {0.0f, 1e4f, 1e6f}) {
      for (float threshold : {0.0f, 0.1f, 0.5f}) {
        const Boxes boxes = RandomQuads(rng, count / kSlowdown + 2, origin, true);
        EXPECT_EQ(Run(boxes, threshold), oracle::PolyNms(boxes, threshold));
      }
    }
  }
}

// Each of these once misled a filter of MLUs: bounds that lie apart along both axes, a concave
// outline thinner than floats can tell, and corners so near a line that products are subnormal.
TEST_P(PolyNmsTest, PairsThatAreHardForFilters) {
  struct Pair {
    float threshold;
    Quad a, b;
    bool is_tie;  // by less than what counts as a difference
  };
  const Pair pairs[] = {{0.0f, {2, 6, 2, 1, 4, 1, 4, 6}, {6, 14, 6, 7, 8, 7, 8, 14}, false},
                        {2e-15f, {2, 6, 2, 1, 4, 1, 4, 6}, {6, 14, 6, 7, 8, 7, 8, 14}, false},
                        {0x1.c04e78p-1f,
                         {0, 0, 0x1.4c4ad6p-1f, 0x1.e2a6b8p-2f, 0x1.fc04b2p-1f, -0x1.fdd4ep-4f,
                          0x1.4c4ad6p-1f, 0x1.e2a6b6p-2f},
                         {0, -0x1p-149f, 0x1.4c4ad6p-1f, 0x1.e2a6b8p-2f, 0x1.fc04b2p-1f,
                          -0x1.fdd4ep-4f, 0x1.4c4ad6p-1f, 0x1.e2a6b6p-2f},
                         false},
                        {0x1.4a2d92p-5f,
                         {-0x1.ad51a4p-1f, 0x1.5d1906p-4f, 0x1.a65c78p-83f, 0x1p-3f,
                          -0x1.a65c78p-83f, -0x1p-3f, -0x1.91a346p-1f, -0x1.755ddep-4f},
                         {0x1.387b64p-79f, 0x1.cp+0f, -0x1.4a415cp-1f, 0x1.b1b972p+0f,
                          -0x1.446016p-1f, -0x1.855aecp-9f, 0x1p-149f, 0},
                         false},
                        {0.0f,
                         {-0x1.e21204p-1f, -0x1.cf037cp-1f, -0x1.8510b2p-100f, -1, 0, 0,
                          -0x1.ff856cp-1f, 0x1.83b9b2p-4f},
                         {-0x1.8510b2p-100f, -1, 0x1.4dcecp-101f, 0x1.8p-1f, -0x1.33995cp-83f,
                          0x1.ab7238p-1f, -0x1.23566ep-83f, 0x1.cab6eap-2f},
                         true}};
  for (const Pair& pair : pairs) {
    Boxes boxes;
    AddQuad(boxes, pair.a, 2);
    AddQuad(boxes, pair.b, 1);
    const bool suppressed = !pair.is_tie && oracle::QuadIouGreater(pair.a, pair.b, pair.threshold);
    EXPECT_EQ(Run(boxes, pair.threshold), suppressed ? Kept{0} : AllOf(2)) << pair.threshold;
  }
}

TEST_P(PolyNmsTest, TiedScoresAsExactArithmeticSays) {
  Rng rng(25);
  Boxes boxes = RandomQuads(rng, 200, 0.0f, true);
  for (size_t i = 8; i < boxes.size(); i += 9) boxes[i] = static_cast<float>(rng() % 3);
  EXPECT_EQ(Run(boxes, 0.1f), oracle::PolyNms(boxes, 0.1f));
}

TEST_P(PolyNmsTest, PiledOnOneSpotAsExactArithmeticSays) {
  Rng rng(26);
  Boxes boxes;
  for (int i = 0; i < 150; ++i) {
    const Quad quad = RandomRectangle(rng, Uniform(rng, -1, 1), Uniform(rng, -1, 1));
    boxes.insert(boxes.end(), quad.begin(), quad.end());
    boxes.push_back(Uniform(rng, 0, 1));
  }
  for (float threshold : {0.1f, 0.5f, 0.8f}) {
    EXPECT_EQ(Run(boxes, threshold), oracle::PolyNms(boxes, threshold));
  }
}

TEST_P(PolyNmsTest, NoLimitAt9770) {
  Rng rng(27);
  const Boxes boxes = RandomQuads(rng, 9771 / kSlowdown + 1, 0.0f, true);
  const Kept kept = Run(boxes, 0.1f);
  EXPECT_GT(kept.size(), boxes.size() / 9 / 3);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
}

// ---- the work follows the overlaps, counted in pairs clipped ---------------------------------

class PolyNmsWorkTest : public PolyNmsTest {
 protected:
  static constexpr int64_t kCount = 20000 / kSlowdown + 1000;
  // Enough for a frame (math/quad_frame.h).
  static constexpr int64_t kFramed = std::max(kCount, 2 * math::kLeastFramed);
  // Pairs clipped per box.
  double PairsPerBox(const Boxes& boxes, float threshold) {
    Run(boxes, threshold);
    EXPECT_GE(LastPairCount(), 0);
    EXPECT_GE(LastCandidateCount(), 0);
    // The candidates of a box are the cells around it and the kept boxes in them.
    EXPECT_LT(static_cast<double>(LastCandidateCount()),
              200.0 * static_cast<double>(boxes.size()) / 9);
    return static_cast<double>(LastPairCount()) / (static_cast<double>(boxes.size()) / 9);
  }
};

TEST_P(PolyNmsWorkTest, Scattered) {
  Rng rng(70);
  EXPECT_LT(PairsPerBox(RandomQuads(rng, kCount, 0.0f, true), 0.1f), 2.0);
}

TEST_P(PolyNmsWorkTest, AllScoresEqual) {
  Rng rng(71);
  Boxes boxes = RandomQuads(rng, kCount, 0.0f, true);
  for (size_t i = 8; i < boxes.size(); i += 9) boxes[i] = 0.5f;
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 2.0);
}

TEST_P(PolyNmsWorkTest, OneGiantAmongTiny) {
  Rng rng(72);
  Boxes boxes = RandomQuads(rng, kCount, 0.0f, true);
  AddSquare(boxes, -1e6f, -1e6f, 2e6f, 2.0f);
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 2.0);  // areas alone rule the giant out
  EXPECT_LT(PairsPerBox(boxes, 0.001f), 3.0);
}

TEST_P(PolyNmsWorkTest, SizesAndPositionsOverTwelveDecades) {
  Rng rng(73);
  Boxes boxes;
  for (int64_t i = 0; i < kCount; ++i) {
    const float scale = std::pow(10.0f, Uniform(rng, -6, 6));
    Quad quad = RandomRectangle(rng, Uniform(rng, -4000, 4000), Uniform(rng, -4000, 4000));
    for (float& v : quad) v *= scale;
    AddQuad(boxes, quad, Uniform(rng, 0, 1));
  }
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 2.0);
}

TEST_P(PolyNmsWorkTest, PiledOnOneSpot) {
  Rng rng(74);
  Boxes boxes;
  for (int64_t i = 0; i < kCount; ++i) {
    AddQuad(boxes, RandomRectangle(rng, Uniform(rng, -1, 1), Uniform(rng, -1, 1)),
            Uniform(rng, 0, 1));
  }
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 3.0);
}

// The bounds of every two overlap; the strips hardly do.
TEST_P(PolyNmsWorkTest, ThinStripsInOneDirection) {
  Rng rng(76);
  Boxes boxes;
  for (int64_t i = 0; i < kFramed; ++i)
    AddQuad(boxes, RandomStrip(rng, 0, 0.7f), Uniform(rng, 0, 1));
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 5.0);
  EXPECT_LT(PairsPerBox(boxes, 0.001f), 10.0);
}

TEST_P(PolyNmsWorkTest, ThinStripsInAllDirections) {
  Rng rng(77);
  Boxes boxes;
  for (int64_t i = 0; i < kFramed; ++i) {
    AddQuad(boxes, RandomStrip(rng, 0, Uniform(rng, 0, 3.1415926f)), Uniform(rng, 0, 1));
  }
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 5.0);
}

TEST_P(PolyNmsWorkTest, Identical) {
  Rng rng(75);
  Boxes boxes;
  const Quad quad = RandomRectangle(rng, 5, 5);
  for (int64_t i = 0; i < kCount; ++i) AddQuad(boxes, quad, 0.5f);
  EXPECT_LT(PairsPerBox(boxes, 0.1f), 2.1);  // one proof attempted and one decision per pair
  EXPECT_EQ(Run(boxes, 0.1f), Kept{0});
}

INSTANTIATE_TEST_SUITE_P(Table, PolyNmsWorkTest,
                         testing::ValuesIn(CountingImplementationsOf("poly_nms")),
                         [](const auto& tested) { return TestName(tested.param); });
INSTANTIATE_TEST_SUITE_P(Table, PolyNmsTest, testing::ValuesIn(ImplementationsOf("poly_nms")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
