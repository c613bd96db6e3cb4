// SPDX-License-Identifier: Apache-2.0
#include "core/checks.h"
#include "detops/detops.h"
#include "ops/nms/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

mluOpStatus_t detopsGetNmsWorkspaceSize(mluOpHandle_t handle,
                                        const mluOpTensorDescriptor_t boxes_desc, size_t* size) {
  return core::Guard("detopsGetNmsWorkspaceSize", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan = ops::NmsPlan::ForWorkspace(boxes_desc);
    core::RequirePointers({{"size", size}});
    *size = static_cast<size_t>(runtime::WorkspaceBytes<ops::Nms>(context, plan));
  });
}

mluOpStatus_t detopsNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                        const void* boxes, const mluOpTensorDescriptor_t scores_desc,
                        const void* scores, float iou_threshold, void* workspace,
                        size_t workspace_size, const mluOpTensorDescriptor_t output_desc,
                        void* output, void* result_num) {
  return runtime::Call<ops::Nms>(
      "detopsNms", handle, {{"iou_threshold", iou_threshold}},
      {{"boxes", boxes_desc, boxes},
       {"scores", scores_desc, scores},
       {"output", output_desc, output, runtime::kOutput}},
      [&](mluOpContext& context) {
        const auto plan = ops::NmsPlan::Make(boxes_desc, scores_desc, output_desc, iou_threshold);
        const ops::NmsArgs args = {boxes, scores, static_cast<int32_t*>(output),
                                   static_cast<int32_t*>(result_num)};
        runtime::Dispatch<ops::Nms>(context, plan, args, workspace, workspace_size);
      });
}
