// SPDX-License-Identifier: Apache-2.0
#include "mlu_op.h"
#include "ops/points_in_boxes/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

mluOpStatus_t MLUOP_WIN_API
mluOpPointsInBoxes(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                   const void* points, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                   const mluOpTensorDescriptor_t points_indices_desc, void* points_indices) {
  return core::Guard("mluOpPointsInBoxes", [&] {
    mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan = ops::PointsInBoxesPlan::Make(points_desc, boxes_desc, points_indices_desc);
    const ops::PointsInBoxesArgs args = {static_cast<const float*>(points),
                                         static_cast<const float*>(boxes),
                                         static_cast<int32_t*>(points_indices)};
    runtime::Dispatch<ops::PointsInBoxes>(context, plan, args);
  });
}
