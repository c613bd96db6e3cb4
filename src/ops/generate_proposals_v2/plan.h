// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "runtime/implementation.h"

namespace detops::ops {

struct GenerateProposalsV2Plan {
  int64_t images;
  int64_t anchors;     // of one image: H*W*A
  int64_t candidates;  // those of them that top-k keeps
  int64_t most_rois;   // of one image: post_nms_top_n
  float nms_thresh, min_size;
  float offset;  // 1 with pixel_offset, else 0

  struct Scalars {
    int pre_nms_top_n, post_nms_top_n;
    float nms_thresh, min_size, eta;
    bool pixel_offset;
  };
  struct Descriptors {
    const mluOpTensorStruct *scores, *bbox_deltas, *im_shape, *anchors, *variances;
    const mluOpTensorStruct *rpn_rois, *rpn_roi_probs, *rpn_rois_num;
  };
  // Makes all checks except those of pointers.
  static GenerateProposalsV2Plan Make(const Scalars& scalars, const Descriptors& descs);
  // What the workspace queries know. No implementation's workspace depends on more.
  static GenerateProposalsV2Plan ForWorkspace(const mluOpTensorStruct* scores_desc);
  bool Empty() const { return images == 0; }
};

struct GenerateProposalsV2Args {
  const float* scores;           // [N,H,W,A]
  const float* bbox_deltas;      // [N,H,W,A,4] dx dy dw dh
  const float* im_shape;         // [N,2] height width
  const float* anchors;          // [H,W,A,4] x1 y1 x2 y2
  const float* variances;        // [H,W,A,4] of dx dy dw dh
  float* rpn_rois;               // [N*post,4] x1 y1 x2 y2, packed over the images
  float* rpn_roi_probs;          // [N*post,1]
  int32_t* rpn_rois_num;         // [N]
  int32_t* rpn_rois_batch_size;  // [1]
};

struct GenerateProposalsV2 {
  static constexpr const char* kName = "generate_proposals_v2";
  using Plan = GenerateProposalsV2Plan;
  using Args = GenerateProposalsV2Args;
  static std::span<const runtime::Implementation<GenerateProposalsV2>> Table();
  static void RequireArgs(const Plan& plan, const Args& args);
  static void WriteEmpty(const Plan& plan, const Args& args, const mluOpContext& handle);
};

// What every implementation except the reference refuses.
inline const char* SortUnsupported(const GenerateProposalsV2Plan& plan) {
  return plan.anchors < (int64_t{1} << 31) ? nullptr : "sorts keys with 32-bit indices";
}

int64_t GenerateProposalsV2ReferenceWorkspace(const GenerateProposalsV2Plan& plan,
                                              const runtime::Device&);
void GenerateProposalsV2Reference(const GenerateProposalsV2Plan& plan,
                                  const GenerateProposalsV2Args& args, void* workspace,
                                  const runtime::Launch& launch);

}  // namespace detops::ops
