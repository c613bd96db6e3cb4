// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "math/proposal.h"
#include "math/score_order.h"
#include "ops/generate_proposals_v2/plan.h"

namespace detops::ops {
namespace {

using math::Box;

struct Workspace {
  int64_t* order;  // [anchors] of one image, the candidates first

  Workspace(core::WorkspaceLayout& layout, int64_t anchors)
      : order(layout.Array<int64_t>(anchors)) {}
};

Box<float> LoadBox(const float* p) { return {p[0], p[1], p[2], p[3]}; }

bool Overlaps(const GenerateProposalsV2Plan& plan, const Box<float>& kept, const Box<float>& box) {
  return math::BoxNmsOverlap(kept, box, math::BoxArea(kept, plan.offset),
                             math::BoxArea(box, plan.offset), plan.offset, 0.0f) > plan.nms_thresh;
}

void WriteRoi(float* rois, float* probs, int64_t i, const Box<float>& box, float score) {
  rois[4 * i] = box.x1;
  rois[4 * i + 1] = box.y1;
  rois[4 * i + 2] = box.x2;
  rois[4 * i + 3] = box.y2;
  probs[i] = score;
}

// Writes the image's proposals to the front of `rois` and `probs`; returns how many.
int32_t ProposeForImage(const GenerateProposalsV2Plan& plan, const GenerateProposalsV2Args& args,
                        int64_t image, int64_t* order, float* rois, float* probs) {
  const float* scores = args.scores + image * plan.anchors;
  const float* deltas = args.bbox_deltas + image * plan.anchors * 4;
  const math::ImageSize size = {args.im_shape[2 * image], args.im_shape[2 * image + 1]};

  std::iota(order, order + plan.anchors, int64_t{0});
  std::partial_sort(order, order + plan.candidates, order + plan.anchors,
                    [&](int64_t a, int64_t b) {
                      const uint32_t rank_a = math::ScoreRank(scores[a]);
                      const uint32_t rank_b = math::ScoreRank(scores[b]);
                      return rank_a != rank_b ? rank_a < rank_b : a < b;
                    });

  int32_t kept = 0;
  bool any_candidate = false;
  for (int64_t i = 0; i < plan.candidates && kept < plan.most_rois; ++i) {
    const int64_t anchor = order[i];
    const Box<float> box = math::DecodeProposal(args.anchors + 4 * anchor, deltas + 4 * anchor,
                                                args.variances + 4 * anchor, size, plan.offset);
    if (!math::KeepProposal(box, size, plan.min_size, plan.offset)) continue;
    any_candidate = true;
    bool suppressed = false;
    for (int32_t k = 0; k < kept && !suppressed; ++k) {
      suppressed = Overlaps(plan, LoadBox(rois + 4 * int64_t{k}), box);
    }
    if (!suppressed) WriteRoi(rois, probs, kept++, box, scores[anchor]);
  }
  if (!any_candidate && plan.most_rois > 0) {
    WriteRoi(rois, probs, kept++, {0.0f, 0.0f, 0.0f, 0.0f}, 0.0f);
  }
  return kept;
}

}  // namespace

int64_t GenerateProposalsV2ReferenceWorkspace(const GenerateProposalsV2Plan& plan,
                                              const runtime::Device&) {
  core::WorkspaceLayout layout;
  Workspace(layout, plan.anchors);
  return layout.Bytes();
}

void GenerateProposalsV2Reference(const GenerateProposalsV2Plan& plan,
                                  const GenerateProposalsV2Args& args, void* memory,
                                  const runtime::Launch&) {
  core::WorkspaceLayout layout(memory);
  const Workspace workspace(layout, plan.anchors);
  int64_t total = 0;
  for (int64_t image = 0; image < plan.images; ++image) {
    const int32_t count = ProposeForImage(plan, args, image, workspace.order,
                                          args.rpn_rois + 4 * total, args.rpn_roi_probs + total);
    args.rpn_rois_num[image] = count;
    total += count;
  }
  *args.rpn_rois_batch_size = static_cast<int32_t>(total);
}

}  // namespace detops::ops
