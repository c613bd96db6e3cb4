// SPDX-License-Identifier: Apache-2.0
#include "ops/generate_proposals_v2/plan.h"

#include <limits>

#include "core/checked_size.h"
#include "core/checks.h"
#include "runtime/context.h"

namespace detops::ops {

using core::BadParam;
using core::TensorArg;

namespace {

void CheckScores(const TensorArg& scores) {
  core::RequireRank(scores, 4);
  for (int dim = 1; dim < 4; ++dim) core::RequireNotZero(scores, dim);
}

int64_t AnchorsOf(const TensorArg& scores) {
  const int64_t cells = core::CheckedMul(scores.dim(1), scores.dim(2), "scores");
  return core::CheckedMul(cells, scores.dim(3), "scores");
}

// Written so that NaN fails too.
void CheckScalars(const GenerateProposalsV2Plan::Scalars& s) {
  if (!(s.nms_thresh > 0.0f)) BadParam("nms_thresh: is ", s.nms_thresh, ", expected more than 0");
  if (s.min_size != s.min_size) BadParam("min_size: is NaN, expected a number");
  if (!(s.eta >= 1.0f)) {
    BadParam("eta: is ", s.eta, ", expected 1 or more (adaptive suppression is not offered)");
  }
}

}  // namespace

GenerateProposalsV2Plan GenerateProposalsV2Plan::Make(const Scalars& scalars,
                                                      const Descriptors& descs) {
  const TensorArg scores{"scores", descs.scores}, bbox_deltas{"bbox_deltas", descs.bbox_deltas};
  const TensorArg im_shape{"im_shape", descs.im_shape}, anchors{"anchors", descs.anchors};
  const TensorArg variances{"variances", descs.variances}, rpn_rois{"rpn_rois", descs.rpn_rois};
  const TensorArg rpn_roi_probs{"rpn_roi_probs", descs.rpn_roi_probs};
  const TensorArg rpn_rois_num{"rpn_rois_num", descs.rpn_rois_num};
  const auto floats = {scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs};

  core::RequireDescriptors(
      {scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs, rpn_rois_num});
  for (const TensorArg& t : floats) core::RequireDtype(t, {MLUOP_DTYPE_FLOAT});
  core::RequireDtype(rpn_rois_num, {MLUOP_DTYPE_INT32});
  for (const TensorArg& t : floats) core::RequireLayout(t, MLUOP_LAYOUT_ARRAY);
  core::RequireLayout(rpn_rois_num, MLUOP_LAYOUT_ARRAY);

  CheckScores(scores);
  const int64_t images = scores.dim(0);
  const int64_t height = scores.dim(1), width = scores.dim(2), per_cell = scores.dim(3);
  core::RequireShape(bbox_deltas,
                     {images, height, width, core::CheckedMul(per_cell, 4, "bbox_deltas")});
  core::RequireShape(im_shape, {images, 2});
  core::RequireShape(anchors, {height, width, per_cell, 4});
  core::RequireShape(variances, {height, width, per_cell, 4});
  core::RequireShape(rpn_rois_num, {images});

  // Checked before the other scalars: shapes depend on it.
  if (scalars.post_nms_top_n < 0) {
    BadParam("post_nms_top_n: is ", scalars.post_nms_top_n, ", expected 0 or more");
  }
  const int64_t rois = core::CheckedMul(images, scalars.post_nms_top_n, "rpn_rois");
  core::RequireShape(rpn_rois, {rois, 4});
  core::RequireShape(rpn_roi_probs, {rois, 1});
  core::RequireInt32Dim(rpn_rois, 0);
  CheckScalars(scalars);
  core::RequireContiguous(
      {scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs, rpn_rois_num});

  GenerateProposalsV2Plan plan;
  plan.images = images;
  plan.anchors = AnchorsOf(scores);
  const int64_t top = scalars.pre_nms_top_n;
  plan.candidates = top <= 0 || top > plan.anchors ? plan.anchors : top;
  plan.most_rois = scalars.post_nms_top_n;
  plan.nms_thresh = scalars.nms_thresh;
  plan.min_size = scalars.min_size;
  plan.offset = scalars.pixel_offset ? 1.0f : 0.0f;
  return plan;
}

GenerateProposalsV2Plan GenerateProposalsV2Plan::ForWorkspace(
    const mluOpTensorStruct* scores_desc) {
  const TensorArg scores{"scores", scores_desc};
  core::RequireDescriptors({scores});
  core::RequireDtype(scores, {MLUOP_DTYPE_FLOAT});
  core::RequireLayout(scores, MLUOP_LAYOUT_ARRAY);
  CheckScores(scores);
  core::RequireContiguous({scores});
  GenerateProposalsV2Plan plan = {};
  plan.images = scores.dim(0);
  plan.anchors = AnchorsOf(scores);
  return plan;
}

void GenerateProposalsV2::RequireArgs(const Plan& plan, const Args& args) {
  core::RequirePointers({{"scores", args.scores},
                         {"bbox_deltas", args.bbox_deltas},
                         {"im_shape", args.im_shape},
                         {"anchors", args.anchors},
                         {"variances", args.variances},
                         {"rpn_rois_num", args.rpn_rois_num},
                         {"rpn_rois_batch_size", args.rpn_rois_batch_size}});
  if (plan.most_rois > 0) {
    core::RequirePointers({{"rpn_rois", args.rpn_rois}, {"rpn_roi_probs", args.rpn_roi_probs}});
  }
}

void GenerateProposalsV2::WriteEmpty(const Plan&, const Args& args, const mluOpContext& handle) {
  core::RequirePointers({{"rpn_rois_batch_size", args.rpn_rois_batch_size}});
  handle.device->Memset(args.rpn_rois_batch_size, 0, sizeof(int32_t), handle.queue);
}

}  // namespace detops::ops
