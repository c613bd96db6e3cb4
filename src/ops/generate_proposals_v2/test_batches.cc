// SPDX-License-Identifier: Apache-2.0
//
// Sizes at which implementations begin another batch, chunk, tile or group of images, and values
// that their filters can't decide. The results must equal the reference's bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/handle.h"
#include "support/operators.h"
#include "support/proposal_inputs.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

class GenerateProposalsBatchesTest : public testing::TestWithParam<std::string> {
 protected:
  void ExpectAsReference(const ProposalInputs& in, const ProposalScalars& scalars) {
    const ProposalResult got = GenerateProposals(GetParam(), in, scalars);
    const ProposalResult expected = GenerateProposals("cpu:reference", in, scalars);
    EXPECT_EQ(got.num, expected.num);
    ExpectSameFloats(got.rois, expected.rois, "rois");
    ExpectSameFloats(got.probs, expected.probs, "probs");
  }
};

// Boxes of one size in rows; `gap` may be negative.
std::vector<float> Rows(int64_t count, int64_t across, float size, float gap) {
  std::vector<float> anchors;
  for (int64_t i = 0; i < count; ++i) {
    const float x = (size + gap) * static_cast<float>(i % across);
    const float y = (size + gap) * static_cast<float>(i / across);
    anchors.insert(anchors.end(), {x, y, x + size, y + size});
  }
  return anchors;
}

// MLUs give one image all clusters, and many images one each.
TEST_P(GenerateProposalsBatchesTest, ImagesInGroups) {
  Rng rng(71);
  for (const int64_t images : {2, 3, 5, 8, 13, 25}) {
    SCOPED_TRACE(images);
    ProposalInputs in = NetworkInputs(rng, images, 3, 4, 31);
    std::fill_n(in.bbox_deltas.begin() + (images - 1) * 4 * 372, 4, kNan);
    ExpectAsReference(in, {0, 150, 0.5f, 0.1f, false, 1.0f});
    ExpectAsReference(in, {300, 60, 0.3f, 20.0f, true, 1.0f});
  }
}

// All candidates are kept, and then nearly all.
TEST_P(GenerateProposalsBatchesTest, CandidatesAroundBatches) {
  Rng rng(72);
  for (const int64_t count : {1, 32, 33, 256, 257, 512, 513, 4096, 4097}) {
    SCOPED_TRACE(count);
    ProposalInputs in =
        PlainInputs(Rows(count, 67, 10, 1), UniformFloats(rng, count, 0, 1), 1e5f, 1e5f);
    ExpectAsReference(in, {0, 100000, 0.5f, 0.1f, false, 1.0f});
    for (size_t i = 0; i < in.scores.size(); i += 29) in.bbox_deltas[4 * i] = Uniform(rng, 0, 1);
    ExpectAsReference(in, {0, 100000, 0.3f, 0.1f, true, 1.0f});
    ExpectAsReference(in, {0, static_cast<int>(count / 2 + 1), 0.3f, 0.1f, false, 1.0f});
  }
}

// More candidates than one batch holds, all of which are kept: later batches are compared with
// many that were kept before. Strips that cross can't be sorted out by where they are.
TEST_P(GenerateProposalsBatchesTest, SeveralBatches) {
  Rng rng(73);
  const int64_t count = GetParam().starts_with("mlu") ? 5000 : 9000;
  const float side = 2.0f * static_cast<float>(count);
  std::vector<float> anchors;
  for (int64_t i = 0; i < count; ++i) {
    const float at = 2.0f * static_cast<float>(i);
    if (i % 2 == 0) {
      anchors.insert(anchors.end(), {0, at, side, at + 2});
    } else {
      anchors.insert(anchors.end(), {at, 0, at + 2, side});
    }
  }
  // One in four is there twice.
  for (int64_t i = 3; i < count; i += 4)
    std::copy_n(anchors.begin() + 4 * i - 8, 4, anchors.begin() + 4 * i);
  ExpectAsReference(PlainInputs(anchors, UniformFloats(rng, count, 0, 1), side, side),
                    {0, 100000, 0.5f, 0.1f, false, 1.0f});
}

// Equal scores: more of them than a batch holds, alone and between others.
TEST_P(GenerateProposalsBatchesTest, ManyTies) {
  Rng rng(74);
  const int64_t count = 9500;
  ProposalInputs in =
      PlainInputs(Rows(count, 97, 4, -3), std::vector<float>(count, 0.25f), 1e4f, 1e4f);
  const ProposalScalars all = {0, 100000, 0.5f, 0.1f, false, 1.0f};
  ExpectAsReference(in, all);
  ExpectAsReference(in, {7000, 6500, 0.5f, 0.1f, false, 1.0f});
  for (size_t i = 0; i < in.scores.size(); i += 7) in.scores[i] = Uniform(rng, 0, 0.5f);
  ExpectAsReference(in, all);
  for (size_t i = 0; i < in.scores.size(); ++i) {
    if (in.scores[i] == 0.25f) in.scores[i] = i % 2 == 0 ? kNan : -kNan;
  }
  ExpectAsReference(in, all);
  for (float& score : in.scores) score = static_cast<float>(rng() % 3) - 1.0f;
  ExpectAsReference(in, all);
}

// Many scores per core, in an image of which one core has all that count.
TEST_P(GenerateProposalsBatchesTest, ManyScores) {
  Rng rng(75);
  ProposalInputs in = NetworkInputs(rng, 7, 3, 120, 115);
  const int64_t anchors = 120 * 115 * 3;
  for (int64_t i = 0; i < anchors; ++i) {
    in.scores[static_cast<size_t>(2 * anchors + i)] += i >= anchors - 600 ? 1.0f : 0.0f;
  }
  ExpectAsReference(in, {1000, 300, 0.5f, 0.1f, false, 1.0f});
}

// Boxes of few sizes at few places, and thresholds that many quotients are equal to.
TEST_P(GenerateProposalsBatchesTest, OverlapsAtTheThreshold) {
  Rng rng(76);
  std::vector<float> anchors;
  for (int i = 0; i < 700; ++i) {
    const auto x = static_cast<float>(rng() % 40), y = static_cast<float>(rng() % 40);
    anchors.insert(anchors.end(), {x, y, x + static_cast<float>(1 + rng() % 4),
                                   y + static_cast<float>(1 + rng() % 4)});
  }
  const ProposalInputs in = PlainInputs(anchors, UniformFloats(rng, 700, 0, 1), 50, 50);
  for (const float t : {0.5f, 1.0f / 3, 0.25f, 0.2f, 1.0f / 7}) {
    for (const float threshold : {t, std::nextafterf(t, 0.0f), std::nextafterf(t, 1.0f)}) {
      for (const bool pixel_offset : {false, true}) {
        ExpectAsReference(in, {0, 1000, threshold, 0.1f, pixel_offset, 1.0f});
      }
    }
  }
}

TEST_P(GenerateProposalsBatchesTest, ExtremeThresholds) {
  Rng rng(77);
  const ProposalInputs in = NetworkInputs(rng, 1, 5, 8, 10);
  for (const float threshold :
       {1e-45f, 1e-39f, 1e-30f, 1e-19f, 1e-9f, 1e-6f, 0.999999f, 1.0f, 2.0f, 3e38f, kInf}) {
    for (const bool pixel_offset : {false, true}) {
      ExpectAsReference(in, {0, 1000, threshold, 0.1f, pixel_offset, 1.0f});
    }
  }
}

// Areas near the largest float and beyond it.
TEST_P(GenerateProposalsBatchesTest, HugeBoxes) {
  Rng rng(78);
  std::vector<float> anchors;
  for (int i = 0; i < 600; ++i) {
    const float size = std::ldexp(Uniform(rng, 1, 2), 58 + static_cast<int>(rng() % 8));
    const float x = Uniform(rng, 0, 1e19f), y = Uniform(rng, 0, 1e19f);
    anchors.insert(anchors.end(), {x, y, x + size, y + size * Uniform(rng, 0.5f, 2)});
  }
  const ProposalInputs in = PlainInputs(anchors, UniformFloats(rng, 600, 0, 1), kNan, kNan);
  for (const float threshold : {1e-9f, 0.1f, 0.5f}) {
    ExpectAsReference(in, {0, 1000, threshold, 0.1f, false, 1.0f});
  }
}

// Most boxes far from each other, some that span all of them, and a place where many lie.
TEST_P(GenerateProposalsBatchesTest, WideBoxesAmongScatteredOnes) {
  Rng rng(79);
  for (const int wide : {0, 1, 40}) {
    std::vector<float> anchors = Rows(1800, 60, 12, 14);
    for (int i = 0; i < wide; ++i) {
      const float y = Uniform(rng, 0, 700);
      anchors.insert(anchors.end(), {0, y, 1560, y + Uniform(rng, 2, 40)});
    }
    for (int i = 0; i < 300; ++i) {
      const float x = Uniform(rng, 600, 640), y = Uniform(rng, 300, 340);
      anchors.insert(anchors.end(), {x, y, x + Uniform(rng, 5, 30), y + Uniform(rng, 5, 30)});
    }
    const auto count = static_cast<int64_t>(anchors.size() / 4);
    const ProposalInputs in = PlainInputs(anchors, UniformFloats(rng, count, 0, 1), 1000, 1600);
    for (const bool pixel_offset : {false, true}) {
      ExpectAsReference(in, {0, 3000, 0.1f, 0.1f, pixel_offset, 1.0f});
      ExpectAsReference(in, {0, 1500, 0.6f, 0.1f, pixel_offset, 1.0f});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, GenerateProposalsBatchesTest,
                         testing::ValuesIn(ImplementationsOf("generate_proposals_v2")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test
