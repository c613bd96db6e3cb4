// SPDX-License-Identifier: Apache-2.0
//
// Sizes and scenes on every implementation, the judge of the results, and the C++ API.
#include "detops/detops.hpp"
#include "ops/nms/test_support.h"
#include "support/environment.h"

namespace detops::test {
namespace {

class NmsScenesTest : public NmsTest {};

TEST_P(NmsScenesTest, EmptyAndSingle) {
  EXPECT_EQ(Run({}, {}, 0.5f), Kept());
  for (const float coordinate : {4.0f, 0.0f, -4.0f, kInf, kNan}) {
    for (const float t : {-1.0f, 0.0f, 2.0f}) {
      EXPECT_EQ(Run({0, 0, coordinate, 4}, {kNan}, t), Kept{0});
    }
  }
}

TEST_P(NmsScenesTest, SizesWhereVectorsAndBlocksEnd) {
  for (const int64_t count : {2,  3,  7,   8,   9,   15,   16,   17,   31,   32,   33,  63,
                              64, 65, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097}) {
    for (const char* scene : {"scattered", "ties", "repeated"}) {
      ExpectJudgedRight(SceneOf(scene, count, 0.3f, kFloat, static_cast<uint64_t>(count)));
    }
    ExpectJudgedRight(SceneOf("piled", count, 0.8f, kHalf, static_cast<uint64_t>(count)));
  }
}

TEST_P(NmsScenesTest, EverySceneJudged) {
  for (const schema::Scene& scene : Scenes::List()) {
    for (const mluOpDataType_t dtype : {kFloat, kHalf}) {
      for (const float threshold : {-0.5f, 0.0f, 0.25f, 0.5f, 0.9f}) {
        const Problem problem = SceneOf(scene.name, 300, threshold, dtype);
        ExpectJudgedRight(problem);
        ExpectAsGreedy(problem);
      }
    }
  }
}

TEST_P(NmsScenesTest, EverySceneAsReference) {
  for (const schema::Scene& scene : Scenes::List()) {
    for (const int64_t count : {int64_t{300}, 5000 / kSlowdown}) {
      for (const auto& [dtype, threshold] : {std::pair(kFloat, 0.5f), std::pair(kFloat, 0.1f),
                                             std::pair(kFloat, 0.0f), std::pair(kHalf, 0.7f)}) {
        const Problem problem = SceneOf(scene.name, count, threshold, dtype);
        EXPECT_EQ(Run(problem), KeptOf(Results("cpu:reference", problem))) << TextOf(problem);
      }
    }
  }
}

TEST_P(NmsScenesTest, RandomProblemsJudged) {
  Rng rng(45);
  for (int i = 0; i < 60 / kSlowdown + 10; ++i) ExpectJudgedRight(Scenes::Random(rng));
}

constexpr int64_t kMany = 20000 / kSlowdown;

// Each overlaps the next by 3/7, so every second one is suppressed, from the best on.
TEST_P(NmsScenesTest, LongChainsInBothDirections) {
  for (const bool falling : {true, false}) {
    Values boxes, scores;
    Kept expected;
    for (int64_t i = 0; i < kMany; ++i) {
      AddBox(boxes, 4 * static_cast<float>(i), 0, 10, 10);
      scores.push_back(static_cast<float>(falling ? -i : i));
      const int64_t box = falling ? i : kMany - 1 - i;
      if (i % 2 == 0) expected.push_back(static_cast<int32_t>(box));
    }
    EXPECT_EQ(Run(boxes, scores, 0.3f), expected);
  }
}

TEST_P(NmsScenesTest, IdenticalBoxes) {
  Values boxes, scores(static_cast<size_t>(kMany), 0.5f);
  for (int64_t i = 0; i < kMany; ++i) AddBox(boxes, 7, 8, 9, 10);
  EXPECT_EQ(Run(boxes, scores, 0.5f), Kept{0});
  scores[static_cast<size_t>(kMany) / 3] = 1;
  EXPECT_EQ(Run(boxes, scores, 0.5f), Kept{static_cast<int32_t>(kMany / 3)});
}

TEST_P(NmsScenesTest, HugeAndTinyBoxesTogether) {
  Rng rng(46);
  for (const bool on_one_spot : {true, false}) {
    Values boxes;
    for (int64_t i = 0; i < kMany / 8; ++i) {
      const float size = std::pow(10.0f, Uniform(rng, -12, 12));
      const float spread = on_one_spot ? size : 1e4f;
      AddBox(boxes, spread * Uniform(rng, -1, 1), spread * Uniform(rng, -1, 1),
             size * Uniform(rng, 0.1f, 1), size * Uniform(rng, 0.1f, 1));
    }
    for (const float threshold : {0.0f, 0.3f, 0.7f}) {
      ExpectJudgedRight(ProblemOf(boxes, UniformFloats(rng, kMany / 8, 0, 1), threshold));
    }
  }
}

// Pairs that were compared, and candidates, the cells and boxes examined to find them.
class NmsWorkTest : public NmsTest {
 protected:
  void CountWork(const Problem& problem) {
    Results(GetParam(), problem, &pairs_, &candidates_);
    EXPECT_GE(pairs_, 0);
    EXPECT_GE(candidates_, 0);
  }
  int64_t pairs_ = -1, candidates_ = -1;
};

// A box overlaps four others, two of them ahead of it.
TEST_P(NmsWorkTest, FollowsTheOverlaps) {
  constexpr int64_t kCount = 30000 / kSlowdown;
  for (const float threshold : {0.1f, 0.5f}) {
    CountWork(SceneOf("scattered", kCount, threshold, kFloat));
    EXPECT_GT(pairs_, 0);
    EXPECT_LT(pairs_, 8 * kCount);
    EXPECT_LT(candidates_, 200 * kCount);
  }
}

// The worst case: half of all pairs overlap, and hardly a box is suppressed. No other pairs are
// compared, and candidates are at most all pairs.
TEST_P(NmsWorkTest, OfStripsThatCrossIsTheirPairs) {
  for (const int64_t count : {500 / kSlowdown + 500, 6000 / kSlowdown}) {
    for (const float threshold : {0.1f, 0.5f, 0.9f}) {
      CountWork(SceneOf("crossing", count, threshold, kFloat));
      EXPECT_GT(pairs_, count * count / 8) << count;
      EXPECT_LT(pairs_, count * count / 4 + count) << count;
      EXPECT_LT(candidates_, count * count / 2 + 64 * count) << count;
    }
    // The best one suppresses all that it crosses, and those left do not overlap.
    CountWork(SceneOf("crossing", count, 0, kFloat));
    EXPECT_LT(pairs_, count) << count;
    EXPECT_LT(candidates_, count * count / 4 + 64 * count) << count;
  }
}

// They share cells, but do not overlap.
TEST_P(NmsWorkTest, OfStripsBesideEachOtherHasNoPairs) {
  Rng rng(47);
  for (const int64_t count : {500 / kSlowdown + 500, 6000 / kSlowdown}) {
    Values boxes;
    for (int64_t i = 0; i < count; ++i) {
      AddBox(boxes, static_cast<float>(count) * Uniform(rng, -1, 1), 2 * static_cast<float>(i),
             2 * static_cast<float>(count), 1.5f);
    }
    CountWork(ProblemOf(boxes, UniformFloats(rng, count, 0, 1), 0.1f));
    EXPECT_EQ(pairs_, 0) << count;
    EXPECT_LT(candidates_, count * count / 2 + 64 * count) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, NmsWorkTest, testing::ValuesIn(CountingImplementationsOf("nms")),
                         [](const auto& tested) { return TestName(tested.param); });
INSTANTIATE_TEST_SUITE_P(Table, NmsScenesTest, testing::ValuesIn(ImplementationsOf("nms")),
                         [](const auto& tested) { return TestName(tested.param); });

// ---- the judge and the C++ API --------------------------------------------------------------

TEST(NmsJudge, FindsWhatIsWrong) {
  const Problem problem = SceneOf("scattered", 200, 0.2f, kFloat);
  const Kept right = Greedy(problem);
  ASSERT_TRUE(right.size() > 10 && right.size() < 190);
  const auto judge = oracle::MakeJudge(problem);
  const auto passes = [&](const Kept& kept, size_t count) {
    std::vector<Array> results = problem.MakeOutputs();
    results[0] = Array(MLUOP_DTYPE_INT32, {static_cast<int64_t>(kept.size())});
    std::ranges::copy(kept, results[0].As<int32_t>().begin());
    results[1].As<int32_t>()[0] = static_cast<int32_t>(count);
    const oracle::Verdict verdict = judge->Compare(results);
    return std::ranges::all_of(verdict.outputs, &oracle::Accuracy::passed);
  };
  EXPECT_TRUE(passes(right, right.size()));
  EXPECT_FALSE(passes(right, right.size() + 1));
  const Kept order = Greedy(SceneOf("scattered", 200, 1.0f, kFloat));  // keeps all
  for (int32_t box = 0; box < 200; ++box) {
    if (std::ranges::find(right, box) != right.end()) continue;
    Kept wrong = order;
    std::erase_if(
        wrong, [&](int32_t i) { return i != box && std::ranges::find(right, i) == right.end(); });
    EXPECT_FALSE(passes(wrong, wrong.size())) << "with " << box;
  }
  for (size_t i = 0; i < right.size(); ++i) {
    Kept wrong = right;
    wrong.erase(wrong.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(passes(wrong, wrong.size())) << "without " << i;
    wrong.insert(wrong.begin() + static_cast<std::ptrdiff_t>(i), 2, right[i]);
    EXPECT_FALSE(passes(wrong, wrong.size())) << "twice " << i;
    if (i > 0) {
      wrong = right;
      std::swap(wrong[i - 1], wrong[i]);
      EXPECT_FALSE(passes(wrong, wrong.size())) << "swapped " << i;
    }
    for (const int32_t other : {-1, 200}) {
      wrong = right;
      wrong[i] = other;
      EXPECT_FALSE(passes(wrong, wrong.size())) << "out of range at " << i;
    }
  }
}

TEST(NmsCppApi, ComesBackSized) {
  Context context("cpu");
  const Problem problem = SceneOf("scattered", 100, 0.3f, kFloat);
  const Values boxes = problem.inputs[0].Floats(), scores = problem.inputs[1].Floats();
  const Tensor kept = nms(context, {boxes.data(), {100, 4}}, {scores.data(), {100}}, 0.3f);
  EXPECT_EQ(kept.to_vector<int32_t>(), Greedy(problem));
  EXPECT_EQ(kept.shape(), (Shape{static_cast<int64_t>(Greedy(problem).size())}));
  const Tensor none = nms(context, {boxes.data(), {0, 4}}, {scores.data(), {0}}, 0.3f);
  EXPECT_EQ(none.shape(), Shape{0});
  const std::vector<half> half_boxes = {{0}, {0}, {0x4000}, {0x3c00}}, half_scores = {{0x3c00}};
  EXPECT_EQ(nms(context, {half_boxes.data(), {1, 4}}, {half_scores.data(), {1}}, 0.5f).shape(),
            Shape{1});
  EXPECT_THROW(nms(context, {boxes.data(), {100, 4}}, {scores.data(), {99}}, 0.3f), Error);
  EXPECT_THROW(nms(context, {boxes.data(), {100, 4}}, {scores.data(), {100}}, kNan), Error);
}

}  // namespace
}  // namespace detops::test
