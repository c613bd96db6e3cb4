// SPDX-License-Identifier: Apache-2.0
#include "core/checks.h"
#include "mlu_op.h"
#include "ops/poly_nms/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

mluOpStatus_t MLUOP_WIN_API mluOpGetPolyNmsWorkspaceSize(mluOpHandle_t handle,
                                                         const mluOpTensorDescriptor_t boxes_desc,
                                                         size_t* size) {
  return core::Guard("mluOpGetPolyNmsWorkspaceSize", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan = ops::PolyNmsPlan::ForWorkspace(boxes_desc);
    core::RequirePointers({{"size", size}});
    *size = static_cast<size_t>(runtime::WorkspaceBytes<ops::PolyNms>(context, plan));
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpPolyNms(mluOpHandle_t handle,
                                         const mluOpTensorDescriptor_t boxes_desc,
                                         const void* boxes, float iou_threshold, void* workspace,
                                         size_t workspace_size,
                                         const mluOpTensorDescriptor_t output_desc, void* output,
                                         void* result_num) {
  return runtime::Call<ops::PolyNms>(
      "mluOpPolyNms", handle, {{"iou_threshold", iou_threshold}},
      {{"boxes", boxes_desc, boxes}, {"output", output_desc, output, runtime::kOutput}},
      [&](mluOpContext& context) {
        const auto plan = ops::PolyNmsPlan::Make(boxes_desc, output_desc, iou_threshold);
        const ops::PolyNmsArgs args = {static_cast<const float*>(boxes),
                                       static_cast<int32_t*>(output),
                                       static_cast<int32_t*>(result_num)};
        runtime::Dispatch<ops::PolyNms>(context, plan, args, workspace, workspace_size);
      });
}
