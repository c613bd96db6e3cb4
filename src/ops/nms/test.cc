// SPDX-License-Identifier: Apache-2.0
//
// One named test for each rule of README.md, run on every implementation.
#include <limits>

#include "ops/nms/test_support.h"

namespace detops::test {
namespace {

const Values kApart = {0, 0, 1, 1, 10, 0, 11, 1, 20, 0, 21, 1, 30, 0, 31, 1, 40, 0, 41, 1};
const Values kEqual = {0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4};
const Values kQuarter = {0, 0, 2, 2, 0, 0, 1, 1};  // their IoU
const Values kHalves = {0, 0, 2, 1, 0, 0, 1, 1};
const Values kThird = {0, 0, 3, 1, 0, 0, 1, 1};
const Values kThreeFifths = {0, 0, 5, 1, 0, 0, 3, 1};

// ---- the order ------------------------------------------------------------------------------

TEST_P(NmsTest, BestFirst) {
  EXPECT_EQ(Run(kApart, {0.3f, -kInf, 7, kInf, -2}, 0.5f), (Kept{3, 2, 0, 4, 1}));
  EXPECT_EQ(Run(kApart, {0.25f, 0.5f, 1e-7f, 4, -3}, 0.5f, kHalf), (Kept{3, 1, 0, 2, 4}));
}

TEST_P(NmsTest, EqualScoresLowerIndexFirst) {
  EXPECT_EQ(Run(kApart, {1, 2, 1, 2, 1}, 0.5f), (Kept{1, 3, 0, 2, 4}));
  EXPECT_EQ(Run(kEqual, {1, 2, 2}, 0.5f), Kept{1});
}

TEST_P(NmsTest, ZerosOfBothSignsAreEqualScores) {
  for (const mluOpDataType_t dtype : {kFloat, kHalf}) {
    EXPECT_EQ(Run(kApart, {-0.0f, 0.0f, -0.0f, 1, 0.0f}, 0.5f, dtype), (Kept{3, 0, 1, 2, 4}));
    EXPECT_EQ(Run(kEqual, {-0.0f, 0.0f, -1}, 0.5f, dtype), Kept{0});
  }
}

TEST_P(NmsTest, NanScoresGoFirstWhateverTheirSign) {
  for (const mluOpDataType_t dtype : {kFloat, kHalf}) {
    EXPECT_EQ(Run(kApart, {kInf, -kNan, 1, kNan, -kNan}, 0.5f, dtype), (Kept{1, 3, 4, 0, 2}));
    EXPECT_EQ(Run(kEqual, {kInf, -kNan, kNan}, 0.5f, dtype), Kept{1});
  }
}

TEST_P(NmsTest, ASuppressedBoxSuppressesNothing) {
  // IoU 1/3 with the next, 0 with the one after that.
  EXPECT_EQ(RunInOrder({0, 0, 4, 4, 2, 0, 6, 4, 4, 0, 8, 4}, 0.2f), (Kept{0, 2}));
}

// ---- the threshold --------------------------------------------------------------------------

TEST_P(NmsTest, ThresholdIsStrict) {
  for (const mluOpDataType_t dtype : {kFloat, kHalf}) {
    for (const auto& [boxes, iou] : {std::pair(kQuarter, 0.25f), std::pair(kHalves, 0.5f),
                                     std::pair(kThird, 1.0f / 3), std::pair(kThreeFifths, 0.6f)}) {
      EXPECT_EQ(RunInOrder(boxes, iou, dtype), AllOf(2)) << iou;
      EXPECT_EQ(RunInOrder(boxes, std::nextafterf(iou, 0.0f), dtype), Kept{0}) << iou;
    }
  }
}

// Where an operation is fused, reordered or done in double, the IoU of some pair is another float;
// where areas alone rule pairs out, those with one box inside the other come closest to that bound.
TEST_P(NmsTest, ThresholdsEqualToAnIou) {
  Rng rng(40);
  for (const bool nested : {false, true}) {
    Values boxes = RandomBoxes(rng, 150, 40, 1.7f);
    for (size_t i = 0; nested && i < boxes.size(); ++i) {
      if (i % 4 < 2) boxes[i] = 0.3f;
    }
    const Values scores = UniformFloats(rng, 150, 0, 1);
    Values ious = oracle::BboxOverlaps(boxes, boxes, 0, false, 0);
    std::erase_if(ious, [](float iou) { return !(iou > 0 && iou < 1); });
    ASSERT_GT(ious.size(), 100u);
    for (int i = 0; i < 40; ++i) {
      const float iou = ious[rng() % ious.size()];
      ExpectAsGreedy(ProblemOf(boxes, scores, iou));
      ExpectAsGreedy(ProblemOf(boxes, scores, std::nextafterf(iou, 0.0f)));
    }
  }
}

TEST_P(NmsTest, ZeroThresholdNeedsSharedArea) {
  const Values boxes = {0,      0,      1,    1,      1, 0, 2, 1, 0, 1, 1, 2, 1, 1, 2, 2,  // touch
                        0.875f, 0.875f, 1.5f, 0.9375f};  // overlaps two of them
  for (const float threshold : {0.0f, -0.0f}) {
    EXPECT_EQ(RunInOrder(boxes, threshold), (Kept{0, 1, 2, 3}));
  }
  EXPECT_EQ(RunInOrder(boxes, 0.5f), AllOf(5));
}

TEST_P(NmsTest, ThresholdOfOneOrMoreKeepsAll) {
  for (const float threshold : {1.0f, 1.5f, kInf}) {
    EXPECT_EQ(RunInOrder(kEqual, threshold), AllOf(3));
    const Problem problem = SceneOf("repeated", 300, threshold, kFloat);
    EXPECT_EQ(Run(problem).size(), 300u);
    ExpectAsGreedy(problem);
  }
  EXPECT_EQ(RunInOrder(kEqual, std::nextafterf(1.0f, 0.0f)), Kept{0});
}

TEST_P(NmsTest, ThresholdNanIsRefused) {
  const Problem problem = ProblemOf(kEqual, {1, 2, 3}, kNan);
  const Handle handle(GetParam());
  schema::Invocation invocation(handle, problem);
  EXPECT_OK(invocation.Prepare());
  const std::vector<Array> poison = invocation.Results();
  EXPECT_EQ(invocation.Start(), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string_view(detopsGetLastErrorMessage()).find("iou_threshold"),
            std::string_view::npos);
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  const std::vector<Array> results = invocation.Results();
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(results[i].bytes(), poison[i].bytes()));
  }
}

constexpr float kNegative[] = {-0.1f, -2.0f, -kInf, -std::numeric_limits<float>::denorm_min()};

TEST_P(NmsTest, NegativeThresholdSuppressesWhereIouIsANumber) {
  for (const float t : kNegative) {
    EXPECT_EQ(Run(kApart, {1, 2, 3, 9, 4}, t), Kept{3}) << t;
    // A point: 0/0 with another, 0 with a box.
    EXPECT_EQ(RunInOrder({5, 5, 5, 5, 5, 5, 5, 5}, t), AllOf(2)) << t;
    EXPECT_EQ(RunInOrder({5, 5, 5, 5, 0, 0, 1, 1}, t), Kept{0}) << t;
    // Area -4: the union with one of area 1 is raised to 0, that with one of area 9 is 5.
    EXPECT_EQ(RunInOrder({2, 0, 0, 2, 0, 0, 1, 1}, t), AllOf(2)) << t;
    EXPECT_EQ(RunInOrder({2, 0, 0, 2, 0, 0, 3, 3}, t), Kept{0}) << t;
    // Area 4, from two negative sides.
    EXPECT_EQ(RunInOrder({2, 2, 0, 0, 0, 0, 1, 1}, t), Kept{0}) << t;
    EXPECT_EQ(RunInOrder({0, 0, kNan, 1, 0, 0, 1, 1, 0, 0, 1, kNan}, t), AllOf(3)) << t;
    // Infinite areas: 0 with finite ones, NaN where the shared area is infinite or 0 * inf, ...
    EXPECT_EQ(RunInOrder({0, 0, kInf, 1, 5, 0, kInf, 1, 0, 0, 1, 1}, t), (Kept{0, 1})) << t;
    EXPECT_EQ(RunInOrder({0, 0, kInf, 1, 5, 2, kInf, 3}, t), AllOf(2)) << t;
    // ... but 0 where it is finite, though both areas are infinite.
    EXPECT_EQ(RunInOrder({0, 0, 2e19f, 2e19f, 4e19f, 0, 6e19f, 2e19f}, t), Kept{0}) << t;
    // Area -inf: the union is raised to 0.
    EXPECT_EQ(RunInOrder({kInf, 0, 0, 1, 0, 0, 9, 9}, t), AllOf(2)) << t;
  }
}

TEST_P(NmsTest, NegativeThresholdOfAnyBoxes) {
  Rng rng(42);
  for (int kind = 0; kind < 6; ++kind) {
    Values boxes = RandomBoxes(rng, 100, kind == 5 ? 1e20f : 50.0f);
    for (size_t i = 0; i < boxes.size(); i += 4) {
      if (kind == 1) boxes[i + 2] = boxes[i];                          // no area
      if (kind == 2 || i % 3 == 0) std::swap(boxes[i], boxes[i + 2]);  // a negative one
      if (kind == 3 && i % 5 != 0) std::swap(boxes[i + 1], boxes[i + 3]);
    }
    if (kind == 4) Spoil(rng, boxes, 3);
    const Values scores = UniformFloats(rng, 100, 0, 1);
    for (const float t : kNegative) ExpectAsGreedy(ProblemOf(boxes, scores, t));
    ExpectAsGreedy(ProblemOf(boxes, scores, 0));
    ExpectAsGreedy(ProblemOf(boxes, scores, -1, kHalf));
  }
}

// ---- boxes whose area is 0, negative, infinite, NaN or denormal -----------------------------

TEST_P(NmsTest, ZeroAreaIsKept) {
  const Values boxes = {0, 0, 4, 4, 1, 1, 3, 1, 2, 0, 2, 4, 2, 2, 2, 2};  // two lines, a point
  for (const float threshold : {0.0f, 0.5f}) EXPECT_EQ(RunInOrder(boxes, threshold), AllOf(4));
}

TEST_P(NmsTest, TwoWithoutAreaAreBothKept) {
  EXPECT_EQ(RunInOrder({1, 1, 1, 1, 1, 1, 1, 1}, 0), AllOf(2));
  EXPECT_EQ(RunInOrder({1, 1, 3, 1, 1, 1, 3, 1, 0, 1, 9, 1}, 0), AllOf(3));
}

TEST_P(NmsTest, InvertedBoxesAreKeptAndSuppressNothing) {
  const Values upright = {0, 0, 4, 4};
  for (const Values& inverted : {Values{4, 0, 0, 4}, Values{0, 4, 4, 0}, Values{4, 4, 0, 0}}) {
    Values boxes;
    for (const Values& box : {inverted, inverted, upright, inverted, upright}) {
      boxes.insert(boxes.end(), box.begin(), box.end());
    }
    EXPECT_EQ(RunInOrder(boxes, 0), (Kept{0, 1, 2, 3}));
  }
}

TEST_P(NmsTest, NanCoordinatesAreKeptAndSuppressNothing) {
  for (const mluOpDataType_t dtype : {kFloat, kHalf}) {
    for (size_t at = 0; at < 4; ++at) {
      Values boxes = {0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4};
      boxes[at] = boxes[8 + at] = kNan;
      EXPECT_EQ(RunInOrder(boxes, 0, dtype), (Kept{0, 1, 2})) << at;
    }
  }
}

TEST_P(NmsTest, InfiniteCoordinates) {
  for (const mluOpDataType_t dtype : {kFloat, kHalf}) {
    EXPECT_EQ(
        RunInOrder({-kInf, -kInf, kInf,  kInf, 0,    0, 4,     4, -kInf, -kInf, kInf, kInf,  //
                    -kInf, 0,     4,     4,    0,    0, kInf,  4, kInf,  kInf,  kInf, kInf,  //
                    -kInf, 0,     -kInf, 4,    kInf, 0, -kInf, 4, 0,     0,     4,    4},
                   0, dtype),
        (Kept{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

TEST_P(NmsTest, InfiniteAreas) {
  Values boxes;
  for (int i = 0; i < 3; ++i) AddBox(boxes, 0, 0, 2e19f, 2e19f);      // 4e38: NaN with each other
  for (int i = 0; i < 3; ++i) AddBox(boxes, 1e19f, 0, 2e19f, 2e19f);  // and with these
  AddBox(boxes, 1.9e19f, 1.9e19f, 2e19f, 2e19f);                  // these overlap by a finite area
  for (int i = 0; i < 2; ++i) AddBox(boxes, 0, 0, 1e19f, 1e19f);  // 1e38: IoU 1
  EXPECT_EQ(RunInOrder(boxes, 0), AllOf(8));
  EXPECT_EQ(RunInOrder(boxes, 0.9f), AllOf(8));
  // Finite coordinates, but an infinite width.
  EXPECT_EQ(RunInOrder({-3e38f, 0, 3e38f, 1, -3e38f, 0, 3e38f, 1, 0, 0, 1, 1}, 0), AllOf(3));
  // Many, among others that are finite.
  Rng rng(41);
  const Values many = RandomBoxes(rng, 300, 1.6e20f), scores = UniformFloats(rng, 300, 0, 1);
  for (const float threshold : {0.0f, 0.3f}) ExpectAsGreedy(ProblemOf(many, scores, threshold));
}

// Each area is finite, but their sum is not, so that the IoU of equal boxes is 0.
TEST_P(NmsTest, AreasWhoseSumIsInfinite) {
  Values boxes;
  for (int i = 0; i < 3; ++i) AddBox(boxes, 0, 0, 1.5e19f, 1.5e19f);
  EXPECT_EQ(RunInOrder(boxes, 0), AllOf(3));
  EXPECT_EQ(RunInOrder(boxes, -1), Kept{0});
}

TEST_P(NmsTest, AreasThatUnderflow) {
  for (const float side : {1e-40f, 1e-30f, 1e-23f}) {  // the area is 0
    EXPECT_EQ(RunInOrder({0, 0, side, side, 0, 0, side, side}, 0), AllOf(2)) << side;
  }
  for (const float side : {1e-22f, 1e-21f, 1e-20f, 1e-19f}) {  // mostly denormal
    EXPECT_EQ(RunInOrder({0, 0, side, side, 0, 0, side, side}, 0.99f), Kept{0}) << side;
    Rng rng(43);
    Values boxes = RandomBoxes(rng, 60, 10);
    for (float& v : boxes) v *= side;
    ExpectAsGreedy(ProblemOf(boxes, UniformFloats(rng, 60, 0, 1), 0.3f));
  }
  // A denormal coordinate is not 0.
  EXPECT_EQ(RunInOrder({0, 0, 1e-40f, 1e20f, 0, 0, 1e-40f, 1e20f}, 0.5f), Kept{0});
}

// ---- half -----------------------------------------------------------------------------------

// As halves, 1/3 is less than 0.3333 and 3/5 more than 0.60005.
TEST_P(NmsTest, IouIsNotRoundedToHalf) {
  EXPECT_EQ(RunInOrder(kThird, 0.3333f, kHalf), Kept{0});
  EXPECT_EQ(RunInOrder(kThreeFifths, 0.60005f, kHalf), AllOf(2));
}

TEST_P(NmsTest, HalvesAreWidened) {
  // Areas beyond half's largest number, and below its smallest.
  EXPECT_EQ(RunInOrder({0, 0, 1024, 1024, 0, 0, 512, 1024}, 0.5f, kHalf), AllOf(2));
  EXPECT_EQ(RunInOrder({0, 0, 1024, 1024, 0, 0, 512, 1024}, 0.49f, kHalf), Kept{0});
  const float tiny = std::ldexp(1.0f, -24);
  EXPECT_EQ(RunInOrder({0, 0, 2 * tiny, tiny, 0, 0, tiny, tiny}, 0.49f, kHalf), Kept{0});
  Rng rng(44);
  const Values boxes = RandomBoxes(rng, 400, 60), scores = UniformFloats(rng, 400, 0, 1);
  for (const float threshold : {0.0f, 0.2f, 0.7f}) {
    ExpectAsGreedy(ProblemOf(boxes, scores, threshold, kHalf));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, NmsTest, testing::ValuesIn(ImplementationsOf("nms")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
