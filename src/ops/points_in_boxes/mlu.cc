// SPDX-License-Identifier: Apache-2.0
#include "ops/points_in_boxes/mlu.h"

#include <algorithm>

#include "ops/points_in_boxes/plan.h"
#include "runtime/mlu/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

using namespace points_in_boxes;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

PointsInBoxesMlu Prepare(core::WorkspaceLayout& layout, const PointsInBoxesPlan& plan,
                         const PointsInBoxesArgs& args) {
  PointsInBoxesMlu call = {};
  call.batches = plan.batches;
  call.points = plan.points;
  call.boxes = plan.boxes;
  call.pieces = DivideUp(plan.boxes, kMostBoxes);
  call.boxes_per_piece = call.pieces == 0 ? 0 : DivideUp(plan.boxes, call.pieces);
  while (kBoxesPerLeaf << call.depth < call.boxes_per_piece) ++call.depth;
  const int64_t leaves = core::CheckedMul(core::CheckedMul(plan.batches, call.pieces, "boxes"),
                                          int64_t{1} << call.depth, "boxes");
  const int64_t words = core::CheckedMul(kWordsPerLeaf, leaves, "boxes");
  call.indexes.nodes = layout.Array<Node>(core::CheckedMul(2, leaves, "boxes"));
  call.indexes.words = layout.Array<WordSlabs>(words);
  call.indexes.records = layout.Array<BoxRecord>(core::CheckedMul(kBoxesPerWord, words, "boxes"));
  call.all_points = args.points;
  call.all_boxes = args.boxes;
  call.points_indices = args.points_indices;
  return call;
}

// Divides the work so that all cores have the same, as far as possible.
void Divide(PointsInBoxesMlu& call, int cores, int arch) {
  // Of 64 bytes of results.
  constexpr int64_t kGrain = 16;
  const int64_t least = DivideUp(call.points, MostPoints(arch));
  const int64_t rounds = DivideUp(least * call.batches, cores);
  call.units = std::max(least, rounds * cores / call.batches);
  call.points_per_unit = DivideUp(DivideUp(call.points, call.units), kGrain) * kGrain;
  call.units = DivideUp(call.points, call.points_per_unit);
  const int64_t leaves = (call.batches * call.pieces) << call.depth;
  call.tasks_per_leaf =
      leaves == 0 ? 1 : static_cast<int>(std::clamp<int64_t>(cores / leaves, 1, 4 * kWordsPerLeaf));
}

int64_t Workspace(const PointsInBoxesPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  Prepare(layout, plan, {});
  return layout.Bytes();
}

void Run(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args, void* workspace,
         const runtime::Launch& call) {
  const mlu::Launcher launch(call);
  core::WorkspaceLayout layout(workspace);
  PointsInBoxesMlu parameters = Prepare(layout, plan, args);
  Divide(parameters, launch.grid().cores(), launch.arch());
  launch("points_in_boxes", [&](const mlu::Grid& grid, auto arch) {
    if (plan.boxes > 0) LaunchBuildIndexes<arch()>(grid, parameters);
    LaunchFindBoxes<arch()>(grid, parameters);
  });
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::PointsInBoxes>&
detops::runtime::PluginImplementation() {
  using Plan = ops::PointsInBoxesPlan;
  static const Implementation<ops::PointsInBoxes> implementation = {
      "mlu:bang", UsableEverywhere, SupportsAll<Plan>, ops::Workspace, ops::Run};
  return implementation;
}
