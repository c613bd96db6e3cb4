// SPDX-License-Identifier: Apache-2.0
//
// The oracle against the examples of the design documents and results computed by hand. The exact
// geometry has its own file, quad_test.cc.

#include "oracle.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "internal.h"

namespace detops::oracle {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

TEST(Rounded, MatchesTheFloatUnit) {
  std::mt19937 rng(1);
  const auto check = [](Rounded got, float expected) {
    ASSERT_TRUE(std::bit_cast<uint32_t>(got.Float()) == std::bit_cast<uint32_t>(expected) ||
                (got.IsNan() && std::isnan(expected)));
  };
  for (int i = 0; i < 1000000; ++i) {
    const auto bits = static_cast<uint32_t>(rng());
    const float a = std::bit_cast<float>(bits);
    // Exponents close to those of a, or any exponents, so that every operation gets hard cases.
    const auto random = static_cast<uint32_t>(rng());
    const uint32_t other = i % 2 == 0 ? random : bits ^ (random & 0x81ffffff);
    const float b = std::bit_cast<float>(other);
    check(Rounded(a) + b, a + b);
    check(Rounded(a) - b, a - b);
    check(Rounded(a) * b, a * b);
    check(Rounded(a) / b, a / b);
  }
}

TEST(BboxOverlaps, DocumentExamples) {
  const Floats b1 = {0, 0, 10, 10, 10, 10, 20, 20, 32, 32, 38, 42};
  const Floats b2 = {0, 0, 10, 20, 0, 10, 10, 19, 10, 10, 20, 20};
  EXPECT_EQ(BboxOverlaps(b1, b2, 0, false, 0), Floats({0.5f, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(BboxOverlaps(b1, b2, 0, true, 0), Floats({0.5f, 0, 0}));
  EXPECT_TRUE(BboxOverlaps({}, b2, 0, false, 0).empty());
  EXPECT_TRUE(BboxOverlaps(b1, {}, 0, false, 0).empty());
}

TEST(BboxOverlaps, ModesOffsetAndSpecials) {
  const Floats a = {0, 0, 3, 3}, b = {1, 1, 3, 7};
  EXPECT_EQ(BboxOverlaps(a, b, 0, false, 0), Floats({4.0f / 17.0f}));
  EXPECT_EQ(BboxOverlaps(a, b, 1, false, 0), Floats({4.0f / 9.0f}));
  EXPECT_EQ(BboxOverlaps(a, b, 0, false, 1), Floats({9.0f / 28.0f}));
  EXPECT_EQ(BboxOverlaps(a, b, 1, false, 1), Floats({9.0f / 16.0f}));
  EXPECT_NEAR(BboxOverlapsWide(a, b, 0, false, 0)[0], 4.0 / 17.0, 1e-16);
  const Floats point = {2, 2, 2, 2};
  EXPECT_TRUE(std::isnan(BboxOverlaps(point, point, 0, false, 0)[0]));
  EXPECT_EQ(BboxOverlaps(point, point, 0, false, 1), Floats({1}));
  for (int i = 0; i < 4; ++i) {
    Floats bad = b;
    bad[i] = kNan;
    // IoF of a does not use the area of b, and still the NaN must be propagated.
    EXPECT_TRUE(std::isnan(BboxOverlaps(a, bad, 1, false, 1)[0]));
    EXPECT_TRUE(std::isnan(BboxOverlaps(bad, a, 0, false, 1)[0]));
    EXPECT_TRUE(std::isnan(BboxOverlapsWide(a, bad, 0, false, 1)[0]));
  }
}

// The document's example is in NCHW with one channel per border; the argmax is computed by hand.
TEST(BorderAlign, DocumentExample) {
  const Floats nchw = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 6,  7,  5,  8,
                       2,  1,  3,  4,  12, 9,  11, 10, -2, -3, 2,  0,  -4, -5, 1,  -1,
                       -1, -1, -1, -1, 0,  -1, 2,  1,  -4, -3, -2, -1, -1, -2, -3, -4};
  const Floats boxes = {0, 0, 2, 1, 1, 0, 3, 1, 1, 0, 2, 1, 0, 0, 3, 1, 0, 0, 1, 2, 0, 0, 2, 2,
                        1, 0, 2, 1, 1, 0, 3, 1, 0, 1, 1, 2, 0, 0, 3, 2, 1, 0, 3, 2, 2, 0, 3, 2};
  const Floats output = {3, 6,  1,  2,  4, 7,  -1, 1, 3, 7, 1,  2, 4, 6,  -1, 1,
                         2, 12, -1, -1, 3, 12, -1, 2, 3, 7, 1,  2, 4, 7,  -1, 1,
                         6, 12, -1, -2, 4, 12, -1, 1, 4, 9, -1, 1, 4, 11, -1, 1};
  const Ints argmax = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1,
                       1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1};
  const BorderAlignResult result = BorderAlign(nchw, boxes, 1, 3, 4, 1, 12, 1, true);
  EXPECT_EQ(result.output, output);
  EXPECT_EQ(result.argmax, argmax);
  Floats nhwc(nchw.size());
  for (int i = 0; i < 48; ++i) nhwc[i % 12 * 4 + i / 12] = nchw[i];
  const BorderAlignResult same = BorderAlign(nhwc, boxes, 1, 3, 4, 1, 12, 1, false);
  EXPECT_EQ(same.output, output);
  EXPECT_EQ(same.argmax, argmax);
  EXPECT_EQ(BorderAlignWide(nhwc, boxes, 1, 3, 4, 1, 12, 1, false),
            std::vector<double>(output.begin(), output.end()));
}

TEST(BorderAlign, LayoutsAgreeOnManyChannels) {
  std::mt19937 rng(2);
  std::uniform_real_distribution<float> value(-1, 1), place(-2, 9);
  const int n = 2, h = 5, w = 7, c = 3, k = 4, planes = 4 * c;
  Floats nhwc(n * h * w * planes), nchw(nhwc.size()), boxes(n * k * 4);
  for (float& v : nhwc) v = value(rng);
  for (float& v : boxes) v = place(rng);
  for (size_t i = 0; i < nhwc.size(); ++i) {
    const size_t plane = i % planes, cell = i / planes % (h * w), image = i / (planes * h * w);
    nchw[(image * planes + plane) * h * w + cell] = nhwc[i];
  }
  const BorderAlignResult a = BorderAlign(nhwc, boxes, n, h, w, c, k, 3, false);
  const BorderAlignResult b = BorderAlign(nchw, boxes, n, h, w, c, k, 3, true);
  const std::vector<double> wide = BorderAlignWide(nhwc, boxes, n, h, w, c, k, 3, false);
  for (size_t i = 0; i < a.output.size(); ++i) {
    const size_t channel = i % c, row = i / c % (4 * k), image = i / (c * 4 * k);
    const size_t moved = (image * c + channel) * 4 * k + row;
    EXPECT_EQ(a.output[i], b.output[moved]);
    EXPECT_EQ(a.argmax[i], b.argmax[moved]);
    EXPECT_NEAR(a.output[i], wide[i], 1e-6);
  }
}

TEST(BorderAlign, EdgesOfTheMapAndSpecials) {
  const Floats input(2 * 2 * 4, -3.0f);
  const auto run = [&](const Floats& map, const Floats& box) {
    return BorderAlign(map, box, 1, 2, 2, 1, 1, 2, false);
  };
  // Still inside: down to -1 and up to the size. The first negative value loses to an outside 0.
  EXPECT_EQ(run(input, {-1, -1, 2, 2}).output, Floats({-3, -3, -3, -3}));
  EXPECT_EQ(run(input, {-1, -1, 4, 2}).argmax, Ints({2, 0, 0, 0}));
  EXPECT_EQ(run(input, {0, 0, 1, kInf}).output, Floats({0, 0, 0, 0}));
  EXPECT_EQ(run(input, {0, kNan, 1, 1}).argmax, Ints({0, 0, 0, 0}));
  Floats with_nan = input;
  for (int i = 0; i < 4; ++i) with_nan[i] = kNan;  // the cell (0,0) of all four borders
  const BorderAlignResult result = run(with_nan, {0, 0, 1, 1});
  EXPECT_TRUE(std::isnan(result.output[0]) && std::isnan(result.output[1]));
  EXPECT_EQ(result.output[2], -3);
  EXPECT_EQ(result.argmax, Ints({0, 0, 0, 0}));
}

TEST(GenerateProposals, DocumentNanExample) {
  const Floats scores = {0.2f, kNan, 0.5f, -kInf};
  const Floats deltas = {0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2};
  const Floats anchors = {1, 1, 3, 3, 1, 1, 3, 3};
  const Proposals result = GenerateProposals(scores, deltas, Floats{5, 5, 5, 5}, anchors, anchors,
                                             2, 1, 2, 1, 2000, 1000, 0.5f, 0, false);
  EXPECT_EQ(result.rois, Floats({0, 0, 5, 5, 0, 0, 5, 5}));
  EXPECT_TRUE(std::isnan(result.probs[0]));
  EXPECT_EQ(result.probs[1], 0.5f);
  EXPECT_EQ(result.num, Ints({1, 1}));
  EXPECT_FALSE(result.near_decision);
}

// The random example cannot be reproduced, but its result has to satisfy these rules.
TEST(GenerateProposals, DocumentRandomExample) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> unit(0, 1);
  const auto random = [&](size_t count) {
    Floats out(count);
    for (float& v : out) v = unit(rng);
    return out;
  };
  const int64_t n = 2, h = 54, w = 40, a = 15, count = h * w * a;
  const Proposals result = GenerateProposals(
      random(n * count), random(n * count * 4), Floats{10, 10, 5, 5}, random(count * 4),
      random(count * 4), n, h, w, a, 2000, 1000, 0.5f, 0, false);
  ASSERT_EQ(result.num.size(), 2u);
  ASSERT_EQ(result.probs.size(), static_cast<size_t>(result.num[0] + result.num[1]));
  for (size_t i = 0; i < result.probs.size(); ++i) {
    const float* box = &result.rois[4 * i];
    const bool empty = box[2] == 0 && result.probs[i] == 0;
    EXPECT_TRUE(empty || (box[2] - box[0] >= 1 && box[3] - box[1] >= 1));
  }
}

class OneImage : public ::testing::Test {
 protected:
  // Zero deltas, so the proposals are the clipped anchors.
  Proposals Run(const Floats& anchors, const Floats& scores, const Floats& shape, bool offset) {
    const Floats zeros(anchors.size(), 0.0f), ones(anchors.size(), 1.0f);
    return GenerateProposals(scores, zeros, shape, anchors, ones, 1, 1, scores.size(), 1, pre_,
                             post_, thresh_, min_size_, offset);
  }

  int pre_ = 0, post_ = 10;
  float thresh_ = 0.5f, min_size_ = 0;
};

TEST_F(OneImage, NoSurvivorGivesOneZeroBox) {
  min_size_ = 5;
  const Proposals result = Run({0, 0, 4, 4}, {0.9f}, {20, 20}, false);
  EXPECT_EQ(result.rois, Floats({0, 0, 0, 0}));
  EXPECT_EQ(result.probs, Floats({0}));
  EXPECT_EQ(result.num, Ints({1}));
  post_ = 0;
  EXPECT_EQ(Run({0, 0, 4, 4}, {0.9f}, {20, 20}, false).num, Ints({0}));
}

TEST_F(OneImage, FloorOfOneAndStrictThreshold) {
  EXPECT_EQ(Run({0, 0, 0.5f, 4}, {1}, {20, 20}, false).probs, Floats({0}));
  EXPECT_EQ(Run({0, 0, 1, 4}, {1}, {20, 20}, false).probs, Floats({1}));
  // IoU exactly one half is not greater than one half. The offset makes it 3/5.
  const Floats anchors = {0, 0, 4, 4, 0, 0, 4, 2};
  EXPECT_EQ(Run(anchors, {1, 2}, {20, 20}, false).probs, Floats({2, 1}));
  EXPECT_EQ(Run(anchors, {1, 2}, {20, 20}, true).probs, Floats({2}));
  thresh_ = 0.49f;
  EXPECT_EQ(Run(anchors, {2, 2}, {20, 20}, false).rois, Floats({0, 0, 4, 4}));
}

TEST_F(OneImage, ClippingCentreAndTopK) {
  const Floats anchors = {-3, -3, 3, 3, 8, 8, 30, 30};
  EXPECT_EQ(Run(anchors, {2, 1}, {10, 20}, false).rois, Floats({0, 0, 3, 3, 8, 8, 20, 10}));
  EXPECT_EQ(Run(anchors, {2, 1}, {kNan, 20}, false).rois, Floats({0, 0, 3, 3, 8, 8, 20, 30}));
  // With an offset everything beyond a side of 8 is the last pixel, 7, whose centre is 7.5.
  EXPECT_EQ(Run(anchors, {2, 1}, {8, 20}, true).rois, Floats({0, 0, 3, 3, 8, 7, 19, 7}));
  EXPECT_EQ(Run(anchors, {2, 1}, {0.25f, 20}, true).probs, Floats({0}));  // 0.5 is beyond 0.25
  EXPECT_EQ(Run({0, 0, kNan, 3, 1, 1, 9, 9}, {2, 1}, {10, 20}, false).probs, Floats({1}));
  pre_ = 1;
  EXPECT_EQ(Run(anchors, {-kInf, 1}, {10, 20}, false).probs, Floats({1}));
}

TEST(GenerateProposals, NearDecisionFollowsExp) {
  const auto run = [](float delta, float min_size) {
    const Floats anchor = {10, 10, 20, 20}, ones = {1, 1, 1, 1};
    return GenerateProposals(ones, Floats{0, 0, delta, 1}, Floats{99, 99}, anchor, ones, 1, 1, 1, 1,
                             0, 1, 0.5f, min_size, false);
  };
  int near = 0;
  for (int i = 1; i <= 100; ++i) {
    const float delta =
        0.009f * static_cast<float>(i);  // below 1, so the width is less than the height
    const Proposals result = run(delta, 0);
    const float width = result.rois[2] - result.rois[0];
    EXPECT_NEAR(width, 10 * std::exp(delta), 1e-5);
    EXPECT_FALSE(run(delta, width * (1 - 1e-5f)).near_decision);
    EXPECT_FALSE(run(delta, width * (1 + 1e-5f)).near_decision);
    near += run(delta, width).near_decision;
  }
  // Not always: an ulp of exp may be lost in the rounding of the corners.
  EXPECT_GT(near, 50);
  EXPECT_FALSE(run(0, 10).near_decision);  // exp(0) is exact
}

TEST(PointsInBoxes, FacesAndMargin) {
  const Floats boxes = {0, 0, 0, 2, 4, 6, 0, 0, 0, 0, 20, 20, 20, 0};
  const auto at = [&](float x, float y, float z) {
    return PointsInBoxes(Floats{x, y, z}, boxes, 1, 1, 2)[0];
  };
  EXPECT_EQ(at(0, 0, 0), 0);
  EXPECT_EQ(at(1, 2, 3), 0);  // faces belong to the box, in x and y by the margin
  EXPECT_EQ(at(1.000009f, 0, 0), 0);
  EXPECT_EQ(at(1.000011f, 0, 0), 1);
  EXPECT_EQ(at(0, -2.00002f, 0), 1);
  EXPECT_EQ(at(0, 0, std::nextafter(3.0f, 4.0f)), 1);  // no margin in z
  EXPECT_EQ(at(0, 0, 11), -1);
  EXPECT_EQ(at(kNan, 0, 0), -1);
  EXPECT_EQ(at(0, 0, kNan), -1);
}

TEST(PointsInBoxes, RotationBatchesAndBadBoxes) {
  const float quarter = std::acos(-1.0f) / 4;
  // Long along the diagonal x = y, counter-clockwise from x.
  const Floats box = {0, 0, 0, 10, 1, 1, quarter};
  EXPECT_EQ(PointsInBoxes(Floats{3, 3, 0, 3, -3, 0}, box, 1, 2, 1), Ints({0, -1}));
  for (int i = 0; i < 7; ++i) {
    Floats bad = {0, 0, 0, 10, 10, 10, 0};
    bad[i] = kNan;
    EXPECT_EQ(PointsInBoxes(Floats{0, 0, 0}, bad, 1, 1, 1), Ints({-1}));
  }
  EXPECT_EQ(PointsInBoxes(Floats{0, 0, 0}, Floats{0, 0, 0, -1, 1, 1, 0}, 1, 1, 1), Ints({-1}));
  EXPECT_EQ(PointsInBoxes(Floats{0, 0, 0}, {}, 1, 1, 0), Ints({-1}));
  const Floats two = {0, 0, 0, 1, 1, 1, 0, 9, 9, 9, 1, 1, 1, 0};
  EXPECT_EQ(PointsInBoxes(Floats{0, 0, 0, 0, 0, 0}, two, 2, 1, 1), Ints({0, -1}));
}

}  // namespace
}  // namespace detops::oracle
