// SPDX-License-Identifier: Apache-2.0
//
// What the tests of nms share: problems, runs whose results are checked for what they left alone,
// and the definition of greedy suppression on the oracle's exact IoU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "ops/names.h"
#include "oracle/judge.h"
#include "oracle/oracle.h"
#include "schema/invocation.h"
#include "support/handle.h"
#include "support/random_data.h"

namespace detops::test {

using Values = std::vector<float>;
using Kept = std::vector<int32_t>;
using schema::Array;
using schema::Problem;
using Scenes = schema::Scenes<ops::Nms>;

inline constexpr mluOpDataType_t kFloat = MLUOP_DTYPE_FLOAT, kHalf = MLUOP_DTYPE_HALF;

inline Problem ProblemOf(const Values& boxes, const Values& scores, float threshold,
                         mluOpDataType_t dtype = kFloat) {
  Problem problem(schema::SchemaOf<ops::Nms>());
  const auto count = static_cast<int64_t>(scores.size());
  problem.inputs = {Array::FromFloats(dtype, {count, 4}, boxes),
                    Array::FromFloats(dtype, {count}, scores)};
  problem.set_scalar("iou_threshold", threshold);
  return problem;
}

inline Problem SceneOf(std::string_view scene, int64_t count, float threshold,
                       mluOpDataType_t dtype, uint64_t seed = 31) {
  Problem problem(schema::SchemaOf<ops::Nms>());
  problem.MakeInputs({count}, dtype);
  problem.set_scalar("iou_threshold", threshold);
  Rng rng(seed);
  Scenes::Fill(scene, rng, problem);
  problem.scene = scene;
  return problem;
}

inline std::string TextOf(const Problem& problem) { return problem.schema->describe(problem); }

// The results, output cut to what was written. Nothing beyond that may have been touched.
inline std::vector<Array> Results(const std::string& implementation, const Problem& problem,
                                  int64_t* pairs = nullptr, int64_t* candidates = nullptr) {
  const Handle handle(implementation);
  schema::Invocation invocation(handle, problem);
  EXPECT_OK(invocation.Prepare());
  invocation.Poison();
  const std::vector<Array> poison = invocation.Results();
  EXPECT_OK(invocation.Start());
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  EXPECT_EQ(detopsGetLastImplementation(handle), implementation);
  if (pairs != nullptr) *pairs = detopsGetLastPairCount(handle);
  if (candidates != nullptr) *candidates = detopsGetLastCandidateCount(handle);
  EXPECT_TRUE(invocation.GuardsIntact()) << "something wrote beside a buffer";
  std::vector<Array> results = invocation.Results();
  const int64_t kept = results[1].As<int32_t>()[0];
  EXPECT_TRUE(kept >= 0 && kept <= problem.size('N')) << kept;
  const auto first = static_cast<size_t>(std::clamp<int64_t>(kept, 0, problem.size('N')));
  const auto rest = results[0].As<int32_t>().subspan(first);
  EXPECT_TRUE(std::ranges::equal(rest, poison[0].As<int32_t>().subspan(first)))
      << "written beyond result_num";
  problem.Trim(results);
  return results;
}

inline Kept KeptOf(const std::vector<Array>& results) {
  const auto kept = results[0].As<int32_t>();
  return {kept.begin(), kept.end()};
}

// The definition, step by step, on the oracle's exact IoU of every pair.
inline Kept Greedy(const Problem& problem) {
  const Values boxes = problem.inputs[0].Floats(), scores = problem.inputs[1].Floats();
  const auto threshold = static_cast<float>(problem.scalar("iou_threshold"));
  const Values ious = oracle::BboxOverlaps(boxes, boxes, 0, false, 0);
  const auto is_better = [&](int32_t a, int32_t b) {
    const float x = scores[static_cast<size_t>(a)], y = scores[static_cast<size_t>(b)];
    if (std::isnan(x) != std::isnan(y)) return std::isnan(x);
    return x > y || (!(x < y) && a < b);
  };
  Kept order(scores.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), is_better);
  for (const int32_t box : order) {
    const float* row = ious.data() + static_cast<size_t>(box) * scores.size();
    if (std::ranges::none_of(kept, [&](int32_t ahead) { return row[ahead] > threshold; })) {
      kept.push_back(box);
    }
  }
  return kept;
}

class NmsTest : public testing::TestWithParam<std::string> {
 protected:
  Kept Run(const Problem& problem) { return KeptOf(Results(GetParam(), problem)); }
  Kept Run(const Values& boxes, const Values& scores, float threshold,
           mluOpDataType_t dtype = kFloat) {
    return Run(ProblemOf(boxes, scores, threshold, dtype));
  }
  // Boxes whose order is that of their indices.
  Kept RunInOrder(const Values& boxes, float threshold, mluOpDataType_t dtype = kFloat) {
    Values scores(boxes.size() / 4);
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = -static_cast<float>(i);
    return Run(boxes, scores, threshold, dtype);
  }
  void ExpectAsGreedy(const Problem& problem) {
    EXPECT_EQ(Run(problem), Greedy(problem)) << TextOf(problem);
  }
  void ExpectJudgedRight(const Problem& problem) {
    const oracle::Verdict verdict =
        oracle::MakeJudge(problem)->Compare(Results(GetParam(), problem));
    for (const oracle::Accuracy& output : verdict.outputs) {
      EXPECT_TRUE(output.passed) << output.output << " of " << TextOf(problem);
    }
    EXPECT_EQ(verdict.sample, "");
  }
};

inline void AddBox(Values& boxes, float x, float y, float w, float h) {
  boxes.insert(boxes.end(), {x, y, x + w, y + h});
}

inline Kept AllOf(size_t count) {
  Kept all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace detops::test
