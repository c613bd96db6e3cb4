// SPDX-License-Identifier: Apache-2.0
//
// The work of suppression on a GPU follows the boxes that overlap, also on scenes made to hurt:
// counted in pairs judged and boxes examined. A GPU judges more pairs than a CPU, as it does not
// know of boxes ahead whether they are kept; the CPU's bounds are in each operator's tests.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "schema/invocation.h"
#include "support/handle.h"

namespace detops::test {
namespace {

struct Bound {
  const char *op, *scene;
  std::vector<int64_t> sizes;
  const char* threshold;     // the scalar's name
  double pairs, candidates;  // per box, at most
};

void PrintTo(const Bound& bound, std::ostream* out) {
  *out << bound.op << " " << bound.scene << " " << bound.sizes[0];
}

class CudaWorkTest : public testing::TestWithParam<Bound> {};

TEST_P(CudaWorkTest, FollowsTheOverlaps) {
  const std::string reason = WhyNot("cuda");
  if (!reason.empty()) GTEST_SKIP() << reason;
  const Bound& bound = GetParam();
  EXPECT_OK(detopsSetDevice("cuda:0"));
  const Handle handle("cuda:simt");
  const schema::Schema& op = schema::Named(bound.op);
  schema::Problem problem(op);
  problem.set_scalar(bound.threshold, 0.1);
  problem.MakeInputs(bound.sizes, MLUOP_DTYPE_FLOAT);
  schema::Rng rng(1);
  op.fill(bound.scene, rng, problem);
  schema::Invocation invocation(handle, problem);
  ASSERT_OK(invocation.Prepare());
  ASSERT_OK(invocation.Start());
  double boxes = 1;
  for (const int64_t size : bound.sizes) boxes *= static_cast<double>(size);
  const double pairs = static_cast<double>(detopsGetLastPairCount(handle)) / boxes;
  const double candidates = static_cast<double>(detopsGetLastCandidateCount(handle)) / boxes;
  RecordProperty("pairs", std::to_string(pairs));
  RecordProperty("candidates", std::to_string(candidates));
  std::printf("%s %s: %.2f pairs, %.1f candidates per box\n", bound.op, bound.scene, pairs,
              candidates);
  EXPECT_GT(pairs, 0);
  EXPECT_LT(pairs, bound.pairs);
  EXPECT_GT(candidates, 0);
  EXPECT_LT(candidates, bound.candidates);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, CudaWorkTest,
    testing::Values(Bound{"poly_nms", "scattered", {50000}, "iou_threshold", 8, 300},
                    Bound{"poly_nms", "integer_grid", {50000}, "iou_threshold", 16, 300},
                    Bound{"poly_nms", "repeated", {20000}, "iou_threshold", 60, 1000},
                    Bound{"poly_nms", "piled", {20000}, "iou_threshold", 100, 4000},
                    Bound{"poly_nms", "identical", {20000}, "iou_threshold", 60, 1000},
                    Bound{"poly_nms", "diagonals", {20000}, "iou_threshold", 60, 2000},
                    Bound{"poly_nms", "fan", {20000}, "iou_threshold", 60, 2000},
                    Bound{"poly_nms", "falling_row", {20000}, "iou_threshold", 8, 1000},
                    Bound{"nms", "scattered", {50000}, "iou_threshold", 8, 300},
                    Bound{"nms", "repeated", {20000}, "iou_threshold", 60, 2000}),
    [](const auto& tested) { return std::string(tested.param.op) + "_" + tested.param.scene; });

}  // namespace
}  // namespace detops::test
