// SPDX-License-Identifier: Apache-2.0
#include "mlu_op.h"
#include "ops/points_in_boxes/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

mluOpStatus_t MLUOP_WIN_API
mluOpPointsInBoxes(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                   const void* points, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                   const mluOpTensorDescriptor_t points_indices_desc, void* points_indices) {
  return runtime::Call<ops::PointsInBoxes>(
      "mluOpPointsInBoxes", handle, {},
      {{"points", points_desc, points},
       {"boxes", boxes_desc, boxes},
       {"points_indices", points_indices_desc, points_indices, runtime::kOutput}},
      [&](mluOpContext& context) {
        const auto plan =
            ops::PointsInBoxesPlan::Make(points_desc, boxes_desc, points_indices_desc);
        const ops::PointsInBoxesArgs args = {static_cast<const float*>(points),
                                             static_cast<const float*>(boxes),
                                             static_cast<int32_t*>(points_indices)};
        runtime::Dispatch<ops::PointsInBoxes>(context, plan, args);
      });
}
