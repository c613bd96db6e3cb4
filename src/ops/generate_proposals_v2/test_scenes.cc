// SPDX-License-Identifier: Apache-2.0
//
// Many boxes: enough for the strategies by which fast implementations suppress boxes and find the
// highest scores, in scenes that are hard for them. The results must equal the reference's bit by
// bit, and the work must be in proportion to the overlaps.
#include <gtest/gtest.h>

#include "ops/names.h"
#include "schema/schema.h"
#include "support/environment.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/proposal_inputs.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

ProposalInputs SceneInputs(std::string_view scene, const std::vector<int64_t>& dims) {
  using Scenes = schema::Scenes<ops::GenerateProposalsV2>;
  schema::Problem problem(schema::SchemaOf<ops::GenerateProposalsV2>());
  problem.MakeInputs(dims, MLUOP_DTYPE_FLOAT);
  Rng rng(31);
  Scenes::Fill(scene, rng, problem);
  const auto values = [&](size_t input) { return problem.inputs[input].Floats(); };
  return {dims[0],   dims[1],   dims[2],   dims[3],  values(0),
          values(1), values(2), values(3), values(4)};
}

class GenerateProposalsScenesTest : public testing::TestWithParam<std::string> {
 protected:
  ProposalResult Run(const ProposalInputs& inputs, const ProposalScalars& scalars) {
    return GenerateProposals(GetParam(), inputs, scalars);
  }
  void ExpectAsReference(const ProposalInputs& in, const ProposalScalars& scalars) {
    const ProposalResult got = Run(in, scalars);
    const ProposalResult expected = GenerateProposals("cpu:reference", in, scalars);
    EXPECT_EQ(got.num, expected.num);
    ExpectSameFloats(got.rois, expected.rois, "rois");
    ExpectSameFloats(got.probs, expected.probs, "probs");
  }
};

constexpr float kLargeSide = 1100.0f;

// Large boxes side by side, as many small ones in a corner, and one small box far from them, so
// that small and large boxes span the same area.
ProposalInputs LargeAndSmallInputs(Rng& rng, int side) {
  const float world = kLargeSide * static_cast<float>(side);
  std::vector<float> anchors;
  const auto add = [&](float x, float y, float length) {
    anchors.insert(anchors.end(), {x, y, x + length, y + length});
  };
  for (int i = 0; i < side * side; ++i) {
    const auto x = static_cast<float>(i % side), y = static_cast<float>(i / side);
    add(kLargeSide * x, kLargeSide * y, kLargeSide);
    add(3 * x, 3 * y, 3);
  }
  add(world - 3, world - 3, 3);
  const auto count = static_cast<int64_t>(anchors.size() / 4);
  return PlainInputs(anchors, UniformFloats(rng, count, 0, 1), world, world);
}

// Clusters of eight among isolated boxes: some are suppressed by many, some by boxes that are
// suppressed themselves, and it takes several rounds to find enough.
TEST_P(GenerateProposalsScenesTest, SmallClustersBitByBit) {
  Rng rng(59);
  constexpr int kSpots = 1600, kAcross = 40, kClusterSize = 8;
  for (float jitter : {2.0f, 12.0f, 40.0f}) {
    std::vector<float> anchors;
    for (int i = 0; i < kSpots * kClusterSize; ++i) {
      const int spot = i % kSpots;
      if (i >= kSpots && spot % 5 != 0) continue;
      const float x = 100.0f * static_cast<float>(spot % kAcross) + Uniform(rng, 0, jitter);
      const float y = 100.0f * static_cast<float>(spot / kAcross) + Uniform(rng, 0, jitter);
      anchors.insert(anchors.end(),
                     {x, y, x + Uniform(rng, 30, 30 + jitter), y + Uniform(rng, 30, 30 + jitter)});
    }
    const auto count = static_cast<int64_t>(anchors.size() / 4);
    const ProposalInputs in =
        PlainInputs(anchors, UniformFloats(rng, count, 0, 1), 100 * kAcross, 100 * kAcross);
    ProposalScalars scalars;
    for (int post_nms_top_n : {600, 1500, 5000}) {
      for (bool pixel_offset : {false, true}) {
        scalars.post_nms_top_n = post_nms_top_n;
        scalars.nms_thresh = jitter > 20 ? 0.2f : 0.5f;
        scalars.pixel_offset = pixel_offset;
        ExpectAsReference(in, scalars);
      }
    }
  }
}

// Several thresholds, around the one from which on a small box can't suppress a large one.
TEST_P(GenerateProposalsScenesTest, LargeAndSmallBitByBit) {
  Rng rng(63);
  ProposalInputs in = LargeAndSmallInputs(rng, 30);
  // Each small box becomes larger, inside the large one before it, up to a side just below a power
  // of 4; the side of the large one is above it.
  for (size_t i = 1; i < in.scores.size(); i += 2) {
    const float* large = in.anchors.data() + 4 * (i - 1);
    const float length = Uniform(rng, 0.3f * kLargeSide, 1023.0f);
    float* box = in.anchors.data() + 4 * i;
    box[0] = large[0];
    box[1] = large[1];
    box[2] = box[0] + length;
    box[3] = box[1] + length;
  }
  for (float threshold : {0.01f, 0.011f, 0.3f, 0.5f, 0.7f}) {
    for (bool pixel_offset : {false, true}) {
      ExpectAsReference(in, {0, 1000000, threshold, 0.1f, pixel_offset, 1.0f});
    }
  }
}

// Pairs, and clusters beside a box of their own. A neighbour search must extend as far as boxes
// reach.
TEST_P(GenerateProposalsScenesTest, OverlapsOfASliver) {
  Rng rng(64);
  constexpr int kSpots = 400, kAcross = 20;
  for (int cluster_size : {1, 12}) {
    std::vector<float> anchors, scores;
    const auto add = [&](float x, float y, float side, float score) {
      anchors.insert(anchors.end(), {x, y, x + side, y + side});
      scores.push_back(score);
    };
    for (int spot = 0; spot < kSpots; ++spot) {
      const float x = 100.0f * static_cast<float>(spot % kAcross) + Uniform(rng, 0, 50);
      const float y = 100.0f * static_cast<float>(spot / kAcross) + Uniform(rng, 0, 50);
      const float side = Uniform(rng, 15.8f, 15.9f), beside = side - 0.01f;
      add(x, y, side, Uniform(rng, 0.5f, 1));
      for (int i = 0; i < cluster_size; ++i) {
        add(spot % 2 == 0 ? x + beside : x, spot % 2 == 0 ? y : y + beside, side,
            Uniform(rng, 0, 1));
      }
    }
    const ProposalInputs in = PlainInputs(anchors, scores, 100 * kAcross, 100 * kAcross);
    for (bool pixel_offset : {false, true}) {
      ExpectAsReference(in, {0, 6000, 1e-4f, 0.1f, pixel_offset, 1.0f});
    }
  }
}

// In an image without bounds, infinitely long boxes: from some position, or from the left or the
// top.
TEST_P(GenerateProposalsScenesTest, EndlessBoxesAmongOthers) {
  Rng rng(65);
  for (float score : {0.0f, 0.5f, 1.0f}) {
    ProposalInputs in = NetworkInputs(rng, 1, 3, 14, 20);
    in.im_shape = {kNan, kNan};
    for (size_t i = 0; i < in.scores.size(); i += 40) {
      const bool wide = rng() % 2 == 0, high = !wide || rng() % 2 == 0;
      float* anchor = in.anchors.data() + 4 * i;
      float* delta = in.bbox_deltas.data() + 4 * i;
      std::fill_n(delta, 4, 0.0f);
      for (int axis : {0, 1}) {  // 1e38 long, then 50 times that
        if (axis == 0 ? !wide : !high) continue;
        anchor[axis + 2] = 1e38f;
        delta[axis + 2] = 4.0f;
      }
      in.scores[i] = score;
    }
    for (bool pixel_offset : {false, true}) {
      for (float threshold : {1e-4f, 0.5f}) {
        ExpectAsReference(in, {0, 2000, threshold, 0.1f, pixel_offset, 1.0f});
      }
    }
  }
}

// More than one round of candidates, with scores that differ in hardly a bit.
TEST_P(GenerateProposalsScenesTest, NearlyEqualScores) {
  Rng rng(61);
  ProposalInputs in = NetworkInputs(rng, 1, 5, 60, 60);
  for (float& score : in.scores) score = 0.5f + Uniform(rng, 0, 1e-5f);
  ExpectAsReference(in, {15000, 2000, 0.3f, 0.1f, false, 1.0f});
}

// All between 0.5 and 0.5625, where scores differ in more than 12 bits of their rank, but nearly
// all at the lower end: an estimate that assumes a uniform distribution finds too few of the
// highest.
TEST_P(GenerateProposalsScenesTest, UnevenScores) {
  Rng rng(62);
  ProposalInputs in = NetworkInputs(rng, 1, 3, 55, 60);
  for (float& score : in.scores) score = 0.5f + Uniform(rng, 0, rng() % 100 == 0 ? 0.06f : 0.01f);
  ExpectAsReference(in, {0, 3000, 0.3f, 0.1f, false, 1.0f});
}

// Implementations that sample the scores to estimate the others must not be misled. They sample
// 2048, evenly spaced; in all of these cases the sample tells nothing, or the wrong thing.
TEST_P(GenerateProposalsScenesTest, ScoresOfWhichSomeMislead) {
  Rng rng(31);
  const int64_t h = 64, w = 128, a = 3, anchors = h * w * a, step = anchors / 2048;
  ProposalInputs in = NetworkInputs(rng, 1, a, h, w);
  ProposalScalars scalars;
  scalars.pre_nms_top_n = 3000;
  const auto expect_with = [&](const char* what, const auto& score) {
    SCOPED_TRACE(what);
    for (int64_t i = 0; i < anchors; ++i) in.scores[static_cast<size_t>(i)] = score(i);
    ExpectAsReference(in, scalars);
  };
  const auto any = [&] { return Uniform(rng, 0, 1); };
  expect_with("seen: low", [&](int64_t i) { return i % step == 0 ? any() - 2 : any(); });
  expect_with("seen: high", [&](int64_t i) { return i % step == 0 ? any() + 2 : any(); });
  expect_with("seen: NaN", [&](int64_t i) { return i % step == 0 ? kNan : any(); });
  expect_with("seen: -inf", [&](int64_t i) { return i % step == 0 ? -kInf : any(); });
  expect_with("all NaN", [&](int64_t) { return kNan; });
  expect_with("all +inf", [&](int64_t) { return kInf; });
  expect_with("all -inf", [&](int64_t) { return -kInf; });
  expect_with("NaN and -inf", [&](int64_t i) { return i % 9 == 0 ? kNan : -kInf; });
  expect_with("+inf and NaN", [&](int64_t i) { return i % 3 == 0 ? kNan : kInf; });
  expect_with("zeros of both signs", [&](int64_t i) { return i % 2 == 0 ? 0.0f : -0.0f; });
  expect_with("few above zeros", [&](int64_t i) { return i % 50 == 7 ? any() : -0.0f; });
  expect_with("negative", [&](int64_t) { return -1.0f - any(); });
  expect_with("the last are best", [&](int64_t i) { return static_cast<float>(i); });
  expect_with("tiny", [&](int64_t) { return any() * 1e-39f - 5e-40f; });
}

// ---- the work follows the overlaps, counted in pairs compared --------------------------------

class GenerateProposalsWorkTest : public GenerateProposalsScenesTest {};

TEST_P(GenerateProposalsWorkTest, FollowsTheOverlaps) {
  Rng rng(59);
  ProposalInputs in = NetworkInputs(rng, 1, 3, 100 / kSlowdown + 10, 100);
  const auto anchors = static_cast<double>(in.scores.size());
  // All of them, none suppressed before it is compared: a box is compared with its neighbours of
  // three sizes.
  const ProposalScalars all = {0, 1000000, 0.5f, 0.1f, false, 1.0f};
  Run(in, all);
  EXPECT_GT(LastPairCount(), 0);
  EXPECT_LT(static_cast<double>(LastPairCount()), 40 * anchors);
  EXPECT_LT(static_cast<double>(LastCandidateCount()), 500 * anchors);
  std::fill(in.scores.begin(), in.scores.end(), 0.5f);
  Run(in, all);
  EXPECT_LT(static_cast<double>(LastPairCount()), 40 * anchors);
  // Enough are kept long before all are examined.
  ProposalScalars few = all;
  few.post_nms_top_n = 50;
  Run(in, few);
  EXPECT_LT(LastPairCount(), 10000);
}

TEST_P(GenerateProposalsWorkTest, SmallBoxesCannotSuppressLargeOnes) {
  Rng rng(62);
  const ProposalInputs in = LargeAndSmallInputs(rng, 100 / kSlowdown);
  const auto count = static_cast<int64_t>(in.scores.size());
  for (bool pixel_offset : {false, true}) {
    const ProposalScalars all = {0, 1000000, 0.5f, 0.1f, pixel_offset, 1.0f};
    EXPECT_EQ(Run(in, all).num, (std::vector<int32_t>{static_cast<int32_t>(count)}));
    EXPECT_LT(LastCandidateCount(), 60 * count);
  }
}

// The scene 'crossing' is the worst case: half of all pairs overlap, and hardly a box is
// suppressed. At most these are compared, of the boxes that take part, and candidates, the cells
// and boxes examined to find them, are at most all pairs.
TEST_P(GenerateProposalsWorkTest, OfStripsThatCrossIsTheirPairs) {
  for (const int64_t side : {int64_t{18}, 70 / kSlowdown + 10}) {
    const ProposalInputs in = SceneInputs("crossing", {1, side, side, 2});
    const auto anchors = static_cast<int64_t>(in.scores.size());
    for (const auto& [pre, post] : {std::pair<int64_t, int64_t>(0, anchors), {400, 400}}) {
      const int64_t count = pre == 0 ? anchors : pre;
      const ProposalScalars scalars = {
          static_cast<int>(pre), static_cast<int>(post), 0.5f, 0.1f, false, 1.0f};
      const ProposalResult result = Run(in, scalars);
      EXPECT_GT(result.num[0], count / 2);
      EXPECT_GT(LastPairCount(), count * count / 8);
      EXPECT_LT(LastPairCount(), count * count / 4 + 16 * count);
      EXPECT_LT(LastCandidateCount(), count * count / 2 + 64 * count);
    }
    // Few are wanted: each is compared with those kept before it, whatever the number of anchors.
    Run(in, {0, 50, 0.5f, 0.1f, false, 1.0f});
    EXPECT_LT(LastPairCount(), 50 * 50);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, GenerateProposalsWorkTest,
                         testing::ValuesIn(CountingImplementationsOf("generate_proposals_v2")),
                         [](const auto& tested) { return TestName(tested.param); });
INSTANTIATE_TEST_SUITE_P(Table, GenerateProposalsScenesTest,
                         testing::ValuesIn(ImplementationsOf("generate_proposals_v2")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
