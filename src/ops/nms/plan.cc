// SPDX-License-Identifier: Apache-2.0
#include "ops/nms/plan.h"

#include <cmath>

#include "core/checks.h"
#include "runtime/context.h"

namespace detops::ops {

using core::TensorArg;

namespace {

void CheckBoxes(const TensorArg& boxes) {
  core::RequireLayout(boxes, MLUOP_LAYOUT_ARRAY);
  core::RequireRank(boxes, 2);
  core::RequireDim(boxes, 1, 4);
  core::RequireInt32Dim(boxes, 0);
}

}  // namespace

NmsPlan NmsPlan::Make(const mluOpTensorStruct* boxes_desc, const mluOpTensorStruct* scores_desc,
                      const mluOpTensorStruct* output_desc, float iou_threshold) {
  const TensorArg boxes{"boxes", boxes_desc}, scores{"scores", scores_desc},
      output{"output", output_desc};
  core::RequireDescriptors({boxes, scores, output});
  core::RequireDtype(boxes, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT});
  core::RequireSameDtype(scores, boxes);
  core::RequireDtype(output, {MLUOP_DTYPE_INT32});
  CheckBoxes(boxes);
  core::RequireShape(scores, {boxes.dim(0)});
  core::RequireShape(output, {boxes.dim(0)});
  if (std::isnan(iou_threshold)) core::BadParam("iou_threshold: is NaN, expected a number");
  core::RequireContiguous({boxes, scores, output});
  return {boxes.dim(0), boxes.desc->dtype, iou_threshold};
}

NmsPlan NmsPlan::ForWorkspace(const mluOpTensorStruct* boxes_desc) {
  const TensorArg boxes{"boxes", boxes_desc};
  core::RequireDescriptors({boxes});
  core::RequireDtype(boxes, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT});
  CheckBoxes(boxes);
  core::RequireContiguous({boxes});
  return {boxes.dim(0), boxes.desc->dtype, 0.0f};
}

void Nms::RequireArgs(const Plan& plan, const Args& args) {
  core::RequirePointers({{"boxes", args.boxes, plan.dtype},
                         {"scores", args.scores, plan.dtype},
                         {"output", args.output},
                         {"result_num", args.result_num}});
}

void Nms::WriteEmpty(const Plan&, const Args& args, const mluOpContext& handle) {
  core::RequirePointers({{"result_num", args.result_num}});
  handle.device->Memset(args.result_num, 0, sizeof(int32_t), handle.queue);
}

}  // namespace detops::ops
