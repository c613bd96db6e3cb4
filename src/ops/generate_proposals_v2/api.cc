// SPDX-License-Identifier: Apache-2.0
#include "core/checks.h"
#include "mlu_op.h"
#include "ops/generate_proposals_v2/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

namespace {

mluOpStatus_t QueryWorkspace(const char* function, mluOpHandle_t handle,
                             const mluOpTensorDescriptor_t scores_desc, size_t* size) {
  return core::Guard(function, [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan = ops::GenerateProposalsV2Plan::ForWorkspace(scores_desc);
    core::RequirePointers({{"size", size}});
    *size = static_cast<size_t>(runtime::WorkspaceBytes<ops::GenerateProposalsV2>(context, plan));
  });
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc, size_t* size) {
  return QueryWorkspace("mluOpGetGenerateProposalsV2WorkspaceSize", handle, scores_desc, size);
}

mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc, const int32_t, size_t* size) {
  return QueryWorkspace("mluOpGetGenerateProposalsV2WorkspaceSize_v2", handle, scores_desc, size);
}

mluOpStatus_t MLUOP_WIN_API mluOpGenerateProposalsV2(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const float nms_thresh,
    const float min_size, const float eta, bool pixel_offset,
    const mluOpTensorDescriptor_t scores_desc, const void* scores,
    const mluOpTensorDescriptor_t bbox_deltas_desc, const void* bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void* im_shape,
    const mluOpTensorDescriptor_t anchors_desc, const void* anchors,
    const mluOpTensorDescriptor_t variances_desc, const void* variances, void* workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void* rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void* rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void* rpn_rois_num,
    void* rpn_rois_batch_size) {
  return runtime::Call<ops::GenerateProposalsV2>(
      "mluOpGenerateProposalsV2", handle,
      {{"pre_nms_top_n", double(pre_nms_top_n)},
       {"post_nms_top_n", double(post_nms_top_n)},
       {"nms_thresh", nms_thresh},
       {"min_size", min_size},
       {"eta", eta},
       {"pixel_offset", double(pixel_offset)}},
      {{"scores", scores_desc, scores},
       {"bbox_deltas", bbox_deltas_desc, bbox_deltas},
       {"im_shape", im_shape_desc, im_shape},
       {"anchors", anchors_desc, anchors},
       {"variances", variances_desc, variances},
       {"rpn_rois", rpn_rois_desc, rpn_rois, runtime::kOutput},
       {"rpn_roi_probs", rpn_roi_probs_desc, rpn_roi_probs, runtime::kOutput},
       {"rpn_rois_num", rpn_rois_num_desc, rpn_rois_num, runtime::kOutput}},
      [&](mluOpContext& context) {
        const auto plan = ops::GenerateProposalsV2Plan::Make(
            {pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset},
            {scores_desc, bbox_deltas_desc, im_shape_desc, anchors_desc, variances_desc,
             rpn_rois_desc, rpn_roi_probs_desc, rpn_rois_num_desc});
        const ops::GenerateProposalsV2Args args = {
            static_cast<const float*>(scores),         static_cast<const float*>(bbox_deltas),
            static_cast<const float*>(im_shape),       static_cast<const float*>(anchors),
            static_cast<const float*>(variances),      static_cast<float*>(rpn_rois),
            static_cast<float*>(rpn_roi_probs),        static_cast<int32_t*>(rpn_rois_num),
            static_cast<int32_t*>(rpn_rois_batch_size)};
        runtime::Dispatch<ops::GenerateProposalsV2>(context, plan, args, workspace, workspace_size);
      });
}
