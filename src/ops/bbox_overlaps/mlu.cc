// SPDX-License-Identifier: Apache-2.0
#include "ops/bbox_overlaps/mlu.h"

#include "ops/bbox_overlaps/plan.h"
#include "runtime/mlu/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

void Run(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, void*,
         const runtime::Launch& call) {
  const mlu::Launcher launch(call);
  const BboxOverlapsMlu parameters = {
      plan.rows,   plan.cols,  plan.iof,   plan.aligned, plan.dtype == MLUOP_DTYPE_HALF,
      plan.offset, args.bbox1, args.bbox2, args.ious};
  launch("bbox_overlaps",
         [&](const mlu::Grid& grid, auto arch) { LaunchBboxOverlaps<arch()>(grid, parameters); });
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::BboxOverlaps>&
detops::runtime::PluginImplementation() {
  using Plan = ops::BboxOverlapsPlan;
  static const Implementation<ops::BboxOverlaps> implementation = {
      "mlu:bang", UsableEverywhere, SupportsAll<Plan>, NoWorkspace<Plan>, ops::Run};
  return implementation;
}
