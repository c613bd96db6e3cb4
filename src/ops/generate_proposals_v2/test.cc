// SPDX-License-Identifier: Apache-2.0
//
// One named test for each rule of README.md, run on every implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/proposal_inputs.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

class GenerateProposalsTest : public testing::TestWithParam<std::string> {
 protected:
  ProposalResult Run(const ProposalInputs& inputs, const ProposalScalars& scalars) {
    return GenerateProposals(GetParam(), inputs, scalars);
  }
  // Counts and scores equal; coordinates within the effect of an ulp of exp.
  void ExpectAsOracle(const ProposalInputs& in, const ProposalScalars& s, const std::string& what) {
    const oracle::Proposals expected = oracle::GenerateProposals(
        in.scores, in.bbox_deltas, in.im_shape, in.anchors, in.variances, in.n, in.h, in.w, in.a,
        s.pre_nms_top_n, s.post_nms_top_n, s.nms_thresh, s.min_size, s.pixel_offset);
    const ProposalResult got = Run(in, s);
    if (expected.near_decision) return;
    ++compared_;
    ASSERT_EQ(got.num, expected.num) << what;
    ExpectSameFloats(got.probs, expected.probs, what + ": probs");
    ASSERT_EQ(got.rois.size(), expected.rois.size());
    for (size_t i = 0; i < got.rois.size(); ++i) {
      const float tolerance = 1e-6f * std::max(1.0f, std::abs(expected.rois[i]));
      if (got.rois[i] == expected.rois[i]) continue;  // infinities too
      ASSERT_NEAR(got.rois[i], expected.rois[i], tolerance) << what << ": roi value " << i;
    }
  }
  int compared_ = 0;
};

// ---- the document's examples ----------------------------------------------------------------

// [2,1,2,1]: scores 0.2, nan / 0.5, -inf; the result is printed there.
TEST_P(GenerateProposalsTest, DocumentNanExample) {
  ProposalInputs in = {2, 1, 2, 1, {0.2f, kNan, 0.5f, -kInf}, {}, {5, 5, 5, 5}, {}, {}};
  for (int i = 0; i < 4; ++i) in.bbox_deltas.insert(in.bbox_deltas.end(), {0, 0, 2, 2});
  in.anchors = {1, 1, 3, 3, 1, 1, 3, 3};
  in.variances = {1, 1, 3, 3, 1, 1, 3, 3};
  ProposalScalars scalars;
  scalars.min_size = 0;
  const ProposalResult got = Run(in, scalars);
  EXPECT_EQ(got.num, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(got.rois, (std::vector<float>{0, 0, 5, 5, 0, 0, 5, 5}));
  ASSERT_EQ(got.probs.size(), 2u);
  EXPECT_TRUE(std::isnan(got.probs[0]));
  EXPECT_EQ(got.probs[1], 0.5f);
}

// Anchors in the unit square: hardly any proposal has the size of 1 that step 3 requires, which is
// why the document's first image gives the one all-zero box.
TEST_P(GenerateProposalsTest, DocumentRandomExample) {
  Rng rng(51);
  const int64_t anchors = 54 * 40 * 15;
  ProposalInputs in = {2, 54, 40, 15, {}, {}, {10, 10, 5, 5}, {}, {}};
  in.scores = UniformFloats(rng, 2 * anchors, 0, 1);
  in.bbox_deltas = UniformFloats(rng, 2 * anchors * 4, 0, 1);
  in.anchors = UniformFloats(rng, anchors * 4, 0, 1);
  in.variances = UniformFloats(rng, anchors * 4, 0, 1);
  const ProposalScalars scalars = {2000, 1000, 0.5f, 0.0f, false, 1.0f};
  ExpectAsOracle(in, scalars, "document");
  for (int32_t count : Run(in, scalars).num) EXPECT_GE(count, 1);
}

// ---- the contract ---------------------------------------------------------------------------

TEST_P(GenerateProposalsTest, NoneLeftGivesOneZeroBox) {
  const ProposalResult got = Run(PlainInputs({1, 1, 1.5f, 1.5f}, {0.9f}, 10, 10), {});
  EXPECT_EQ(got.num, std::vector<int32_t>{1});
  EXPECT_EQ(got.rois, (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(got.probs, std::vector<float>{0});
}

TEST_P(GenerateProposalsTest, ImagesArePacked) {
  Rng rng(52);
  ProposalInputs in = NetworkInputs(rng, 3, 1, 4, 4);
  std::fill_n(in.bbox_deltas.begin() + 16 * 4, 16 * 4, kNan);  // the second image has none left
  const ProposalResult got = Run(in, {});
  EXPECT_EQ(got.num[1], 1);
  const auto first = static_cast<size_t>(got.num[0]);
  EXPECT_EQ(got.probs[first], 0.0f);
  EXPECT_GT(got.probs[first + 1], 0.0f);
  ExpectAsOracle(in, {}, "packed");
}

TEST_P(GenerateProposalsTest, ScoreOrderAndTies) {
  // Far apart, so nothing is suppressed and the order is visible.
  std::vector<float> anchors;
  for (int i = 0; i < 6; ++i) {
    const float x = 20.0f * static_cast<float>(i);
    anchors.insert(anchors.end(), {x, 0, x + 10, 10});
  }
  const ProposalResult got =
      Run(PlainInputs(anchors, {0.5f, -kInf, kNan, 0.5f, kInf, -0.0f}, 1000, 1000), {});
  ASSERT_EQ(got.num, std::vector<int32_t>{6});
  const float x_of_rank[] = {40, 80, 0, 60, 100, 20};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(got.rois[4 * i], x_of_rank[i]) << i;
  EXPECT_TRUE(std::isnan(got.probs[0]));
  EXPECT_EQ(got.probs[5], -kInf);
}

TEST_P(GenerateProposalsTest, PreNmsTopNOfZeroOrLessOrTooManyTakesAll) {
  Rng rng(53);
  const ProposalInputs in = NetworkInputs(rng, 1, 3, 5, 5);
  ProposalScalars all;
  all.pre_nms_top_n = 75;
  const ProposalResult expected = Run(in, all);
  for (int pre : {0, -1, 76, 100000}) {
    ProposalScalars scalars;
    scalars.pre_nms_top_n = pre;
    EXPECT_EQ(Run(in, scalars).rois, expected.rois) << pre;
  }
  ProposalScalars one;
  one.pre_nms_top_n = 1;
  EXPECT_EQ(Run(in, one).probs,
            std::vector<float>{*std::max_element(in.scores.begin(), in.scores.end())});
}

TEST_P(GenerateProposalsTest, TopKBreaksTiesByIndex) {
  std::vector<float> anchors;
  for (int i = 0; i < 8; ++i) {
    const float x = 20.0f * static_cast<float>(i);
    anchors.insert(anchors.end(), {x, 0, x + 10, 10});
  }
  ProposalScalars scalars;
  scalars.pre_nms_top_n = 3;
  const ProposalResult got =
      Run(PlainInputs(anchors, std::vector<float>(8, 0.5f), 999, 999), scalars);
  ASSERT_EQ(got.num, std::vector<int32_t>{3});
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(got.rois[4 * i], 20.0f * static_cast<float>(i));
}

TEST_P(GenerateProposalsTest, StopsAtPostNmsTopN) {
  Rng rng(54);
  const ProposalInputs in = NetworkInputs(rng, 2, 3, 8, 8);
  ProposalScalars scalars;
  const ProposalResult all = Run(in, scalars);
  ASSERT_GT(all.num[0], 5);
  scalars.post_nms_top_n = 5;
  const ProposalResult some = Run(in, scalars);
  EXPECT_EQ(some.num, (std::vector<int32_t>{5, 5}));
  EXPECT_TRUE(std::equal(some.rois.begin(), some.rois.begin() + 20, all.rois.begin()));
  scalars.post_nms_top_n = 0;
  EXPECT_EQ(Run(in, scalars).num, (std::vector<int32_t>{0, 0}));
}

TEST_P(GenerateProposalsTest, MinSizeHasAFloorOfOne) {
  const std::vector<float> anchors = {0, 0, 0.99f, 5, 10, 0, 11, 5, 20, 0, 23, 5};
  ProposalScalars scalars;
  scalars.min_size = 0;
  EXPECT_EQ(Run(PlainInputs(anchors, {3, 2, 1}, 99, 99), scalars).probs,
            (std::vector<float>{2, 1}));
  scalars.min_size = 3;
  EXPECT_EQ(Run(PlainInputs(anchors, {3, 2, 1}, 99, 99), scalars).probs, (std::vector<float>{1}));
}

TEST_P(GenerateProposalsTest, ClipsToTheImage) {
  const ProposalResult got = Run(PlainInputs({-5, -6, 50, 60}, {1}, 30, 20), {});
  EXPECT_EQ(got.rois, (std::vector<float>{0, 0, 20, 30}));
}

TEST_P(GenerateProposalsTest, PixelOffset) {
  ProposalScalars scalars;
  scalars.pixel_offset = true;
  // Clipped to side - 1; the length counts one more pixel.
  EXPECT_EQ(Run(PlainInputs({-5, -6, 50, 60}, {1}, 30, 20), scalars).rois,
            (std::vector<float>{0, 0, 19, 29}));
  EXPECT_EQ(Run(PlainInputs({3, 3, 3, 3}, {1}, 30, 20), scalars).rois,
            (std::vector<float>{3, 3, 3, 3}));
}

// With the offset, boxes whose corners coincide have one pixel. By rounding, some even end before
// they begin. Each occurs twice, among enough others for a spatial search.
TEST_P(GenerateProposalsTest, PixelOffsetOfBoxesWithoutLength) {
  Rng rng(58);
  std::vector<float> anchors;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<float> at = UniformFloats(rng, 2, 0, 40);
    for (int copy = 0; copy < 2; ++copy) {
      anchors.insert(anchors.end(), {at[0], at[1], at[0], at[1]});
    }
  }
  const ProposalInputs in = PlainInputs(anchors, UniformFloats(rng, 2000, 0, 1), 50, 50);
  for (const int post : {100, 2000}) {
    ProposalScalars scalars;
    scalars.pixel_offset = true;
    scalars.post_nms_top_n = post;
    ExpectAsOracle(in, scalars, "boxes without length");
    EXPECT_GE(Run(in, scalars).num[0], 100);
  }
}

TEST_P(GenerateProposalsTest, PixelOffsetDropsCentresBeyondTheImage) {
  ProposalScalars scalars;
  scalars.pixel_offset = true;
  // Clipped to the one pixel at side - 1 = -0.5 -> 0; its centre 0.5 lies beyond the width 0.25.
  const ProposalResult got = Run(PlainInputs({0, 0, 9, 9}, {1}, 20, 0.25f), scalars);
  EXPECT_EQ(got.probs, std::vector<float>{0});  // the all-zero box
  scalars.pixel_offset = false;
  EXPECT_EQ(Run(PlainInputs({0, 0, 9, 9}, {1}, 20, 2), scalars).probs, std::vector<float>{1});
}

TEST_P(GenerateProposalsTest, NanImageSideMeansNoUpperBound) {
  const std::vector<float> anchors = {-5, -6, 5000, 6000};
  EXPECT_EQ(Run(PlainInputs(anchors, {1}, kNan, 20), {}).rois,
            (std::vector<float>{0, 0, 20, 6000}));
  EXPECT_EQ(Run(PlainInputs(anchors, {1}, 30, kNan), {}).rois,
            (std::vector<float>{0, 0, 5000, 30}));
  EXPECT_EQ(Run(PlainInputs(anchors, {1}, kInf, kInf), {}).rois,
            (std::vector<float>{0, 0, 5000, 6000}));
  ProposalScalars offset;
  offset.pixel_offset = true;
  EXPECT_EQ(Run(PlainInputs(anchors, {1}, kNan, kNan), offset).rois,
            (std::vector<float>{0, 0, 5000, 6000}));
}

TEST_P(GenerateProposalsTest, NanProposalsAreDropped) {
  ProposalInputs in = PlainInputs({0, 0, 9, 9, 20, 20, 29, 29}, {2, 1}, 99, 99);
  for (size_t i = 0; i < 4; ++i) {
    ProposalInputs bad = in;
    bad.bbox_deltas[i] = kNan;
    EXPECT_EQ(Run(bad, {}).probs, std::vector<float>{1});
    bad = in;
    bad.anchors[i] = kNan;
    EXPECT_EQ(Run(bad, {}).probs, std::vector<float>{1});
  }
}

TEST_P(GenerateProposalsTest, StretchIsCappedAtLog1000Over16) {
  ProposalInputs in = PlainInputs({500, 500, 516, 516}, {1}, 9999, 9999);
  in.bbox_deltas = {0, 0, 50, 4.1351666f};
  const ProposalResult got = Run(in, {});
  EXPECT_NEAR(got.rois[2] - got.rois[0], 1000, 0.1);
  EXPECT_EQ(got.rois[0], got.rois[1]);
}

TEST_P(GenerateProposalsTest, SuppressionIsStrict) {
  // IoU exactly 0.5.
  const std::vector<float> anchors = {0, 0, 10, 10, 0, 0, 10, 5};
  ProposalScalars scalars;
  scalars.nms_thresh = 0.5f;
  EXPECT_EQ(Run(PlainInputs(anchors, {2, 1}, 99, 99), scalars).probs, (std::vector<float>{2, 1}));
  scalars.nms_thresh = std::nextafterf(0.5f, 0.0f);
  EXPECT_EQ(Run(PlainInputs(anchors, {2, 1}, 99, 99), scalars).probs, (std::vector<float>{2}));
}

TEST_P(GenerateProposalsTest, EtaAboveOneIsPlainSuppression) {
  Rng rng(55);
  const ProposalInputs in = NetworkInputs(rng, 1, 3, 5, 5);
  ProposalScalars scalars;
  const ProposalResult plain = Run(in, scalars);
  scalars.eta = 3.0f;
  EXPECT_EQ(Run(in, scalars).rois, plain.rois);
}

// ---- against the independent exact implementation -------------------------------------------

TEST_P(GenerateProposalsTest, NetworkSizes) {
  Rng rng(56);
  constexpr int64_t kSizes[][3] = {{15, 54, 40}, {15, 48, 64},  {3, 11, 11},   {3, 25, 38},
                                   {3, 50, 76},  {3, 100, 152}, {3, 160, 216}, {3, 200, 304}};
  for (const auto& [a, h, w] : kSizes) {
    const int64_t rows = h / (SlowdownOf(GetParam()) > 1 ? 4 : kSlowdown) + 1;
    const ProposalInputs in = NetworkInputs(rng, 1, a, rows, w);
    ExpectAsOracle(in, {12000, 2000, 0.5f, 0.1f, false, 1.0f}, "network size");
  }
  EXPECT_GE(compared_, 6);
}

TEST_P(GenerateProposalsTest, RandomScalars) {
  Rng rng(57);
  for (int round = 0; round < 40; ++round) {
    const auto a = static_cast<int64_t>(1 + rng() % 5), h = static_cast<int64_t>(1 + rng() % 9);
    const auto w = static_cast<int64_t>(1 + rng() % 9), n = static_cast<int64_t>(1 + rng() % 3);
    ProposalInputs in = NetworkInputs(rng, n, a, h, w);
    in.variances = UniformFloats(rng, a * h * w * 4, 0.1f, 2);
    if (round % 4 == 0) {
      for (float& s : in.scores) s = static_cast<float>(rng() % 4);
    }
    const ProposalScalars scalars = {static_cast<int>(rng() % 200),
                                     static_cast<int>(1 + rng() % 60),
                                     Uniform(rng, 0.1f, 0.9f),
                                     Uniform(rng, 0, 40),
                                     rng() % 2 == 0,
                                     1.0f};
    ExpectAsOracle(in, scalars, "round " + std::to_string(round));
  }
  EXPECT_GE(compared_, 30);
}

TEST_P(GenerateProposalsTest, SpecialValues) {
  Rng rng(58);
  for (int round = 0; round < 40; ++round) {
    ProposalInputs in = NetworkInputs(rng, 2, 3, 6, 6);
    Spoil(rng, in.scores, 6);
    Spoil(rng, in.bbox_deltas, 20);
    Spoil(rng, in.anchors, 20);
    Spoil(rng, in.variances, 20);
    if (round % 3 == 0) Spoil(rng, in.im_shape, 3);
    ProposalScalars scalars;
    scalars.pixel_offset = round % 2 == 0;
    ExpectAsOracle(in, scalars, "round " + std::to_string(round));
  }
  EXPECT_GE(compared_, 30);
}

INSTANTIATE_TEST_SUITE_P(Table, GenerateProposalsTest,
                         testing::ValuesIn(ImplementationsOf("generate_proposals_v2")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
