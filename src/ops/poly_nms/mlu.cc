// SPDX-License-Identifier: Apache-2.0
#include "ops/poly_nms/mlu.h"

#include "ops/poly_nms/plan.h"
#include "runtime/mlu/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

int64_t WorkspaceBytes(const PolyNmsPlan& plan, const runtime::Device& device) {
  const auto& card = static_cast<const runtime::MluDevice&>(device);
  core::WorkspaceLayout layout;
  PolyNmsMlu::Make(layout, plan.count,
                   mlu::UnionClusters(card.clusters()) * card.cores_per_cluster());
  return layout.Bytes();
}

void Run(const PolyNmsPlan& plan, const PolyNmsArgs& args, void* memory,
         const runtime::Launch& call) {
  const mlu::Launcher launch(call);
  core::WorkspaceLayout layout(memory);
  PolyNmsMlu parameters = PolyNmsMlu::Make(layout, plan.count, launch.grid().team_cores());
  parameters.threshold = plan.iou_threshold;
  parameters.boxes = args.boxes;
  parameters.output = args.output;
  parameters.result_num = args.result_num;
  launch("poly_nms",
         [&](const mlu::Grid& grid, auto arch) { LaunchPolyNms<arch()>(grid, parameters); });
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::PolyNms>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::PolyNms> implementation = {
      "mlu:bang", UsableEverywhere, SupportsAll<ops::PolyNmsPlan>, ops::WorkspaceBytes, ops::Run};
  return implementation;
}
