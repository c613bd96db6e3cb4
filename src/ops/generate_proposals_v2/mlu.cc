// SPDX-License-Identifier: Apache-2.0
#include "ops/generate_proposals_v2/mlu.h"

#include <algorithm>

#include "math/lane.h"
#include "ops/generate_proposals_v2/plan.h"
#include "runtime/mlu/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

using Call = GenerateProposalsV2Mlu;
using Plan = GenerateProposalsV2Plan;
using Args = GenerateProposalsV2Args;

// Clusters that work on one image: all of them while there are few images, and few where there is
// little to share.
int ClustersPerTeam(const Plan& plan, int clusters) {
  int team = 1;
  while (team < 8 && 2 * team * plan.images <= clusters) team *= 2;
  return team;
}

int Teams(const Plan& plan, int clusters) {
  return static_cast<int>(
      std::min<int64_t>(plan.images, clusters / ClustersPerTeam(plan, clusters)));
}

// Of one team. A cluster alone has its own memory for what its cores share.
void LayOutTeam(core::WorkspaceLayout& layout, Call& call, int64_t anchors, int64_t most) {
  if (call.clusters > 1) {
    call.shared = Call::Shared::Make(layout, std::min<int64_t>(anchors, Call::kBatch));
  }
  call.kept.boxes = layout.Array<float>(core::CheckedMul(4, most, "workspace"));
  call.kept.scores = layout.Array<float>(most);
  call.kept.count = layout.Array<int64_t>(1);
}

int64_t BytesOfTeam(Call call, int64_t anchors, int64_t most) {
  core::WorkspaceLayout layout;
  LayOutTeam(layout, call, anchors, most);
  return core::CheckedMul(core::CheckedAdd(layout.Bytes(), 63, "workspace") / 64, 64, "workspace");
}

struct Workspace {
  int64_t* totals;
  int8_t* teams;

  Workspace(core::WorkspaceLayout& layout, int64_t bytes)
      : totals(layout.Array<int64_t>(2)), teams(layout.Array<int8_t>(bytes)) {}
};

int64_t WorkspaceBytes(const Plan& plan, const runtime::Device& device) {
  if (plan.images == 0) return 0;
  const int clusters = static_cast<const runtime::MluDevice&>(device).clusters();
  const int64_t kept = plan.images > 1 ? plan.anchors : 0;
  Call call = {};
  call.clusters = ClustersPerTeam(plan, clusters);
  core::WorkspaceLayout layout;
  Workspace(layout, core::CheckedMul(BytesOfTeam(call, plan.anchors, kept), Teams(plan, clusters),
                                     "workspace"));
  return layout.Bytes();
}

void Run(const Plan& plan, const Args& args, void* memory, const runtime::Launch& launch_call) {
  const mlu::Launcher launch(launch_call);
  const int clusters = launch.grid().clusters;
  const int64_t most = std::min(plan.most_rois, plan.candidates);
  const int64_t kept = plan.images > 1 ? most : 0;
  const double ratio =
      static_cast<double>(plan.nms_thresh) / (1 + static_cast<double>(plan.nms_thresh));
  const bool tiny = plan.nms_thresh < 0x1p-60f;  // products with areas would not be exact enough

  Call call = {};
  call.images = plan.images;
  call.anchors = plan.anchors;
  call.candidates = plan.candidates;
  call.most = most;
  call.nms_thresh = plan.nms_thresh;
  call.offset = plan.offset;
  call.smallest = math::Max(plan.min_size, 1.0f);
  call.area_least = tiny ? 0.0f : static_cast<float>(ratio * (1 - 0x1p-18));
  call.area_most = tiny ? 1.0f : static_cast<float>(ratio * (1 + 0x1p-18));
  call.scores = args.scores;
  call.bbox_deltas = args.bbox_deltas;
  call.im_shape = args.im_shape;
  call.anchor_boxes = args.anchors;
  call.variances = args.variances;
  call.rois = args.rpn_rois;
  call.probs = args.rpn_roi_probs;
  call.rois_num = args.rpn_rois_num;
  call.batch_size = args.rpn_rois_batch_size;
  call.clusters = ClustersPerTeam(plan, clusters);
  call.team_bytes = BytesOfTeam(call, plan.anchors, kept);

  const int teams = Teams(plan, clusters);
  core::WorkspaceLayout layout(memory);
  const Workspace workspace(layout, call.team_bytes * teams);
  core::WorkspaceLayout of_team(workspace.teams);
  LayOutTeam(of_team, call, plan.anchors, kept);
  call.totals = workspace.totals;
  for (; call.first < plan.images; call.first += teams, call.slot = 1 - call.slot) {
    call.teams = static_cast<int>(std::min<int64_t>(teams, plan.images - call.first));
    launch("generate_proposals_v2",
           [&](const mlu::Grid& grid, auto arch) { LaunchProposals<arch()>(grid, call); });
  }
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::GenerateProposalsV2>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::GenerateProposalsV2> implementation = {
      "mlu:bang", UsableEverywhere, ops::SortUnsupported, ops::WorkspaceBytes, ops::Run};
  return implementation;
}
