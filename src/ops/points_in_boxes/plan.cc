// SPDX-License-Identifier: Apache-2.0
#include "ops/points_in_boxes/plan.h"

#include "core/checks.h"

namespace detops::ops {

using core::TensorArg;

PointsInBoxesPlan PointsInBoxesPlan::Make(const mluOpTensorStruct* points_desc,
                                          const mluOpTensorStruct* boxes_desc,
                                          const mluOpTensorStruct* points_indices_desc) {
  const TensorArg points{"points", points_desc}, boxes{"boxes", boxes_desc};
  const TensorArg points_indices{"points_indices", points_indices_desc};
  core::RequireDescriptors({points, boxes, points_indices});
  core::RequireDtype(points, {MLUOP_DTYPE_FLOAT});
  core::RequireDtype(boxes, {MLUOP_DTYPE_FLOAT});
  core::RequireDtype(points_indices, {MLUOP_DTYPE_INT32});
  for (const TensorArg& t : {points, boxes, points_indices}) {
    core::RequireLayout(t, MLUOP_LAYOUT_ARRAY);
  }
  core::RequireRank(points, 3);
  core::RequireDim(points, 2, 3);
  core::RequireRank(boxes, 3);
  core::RequireDim(boxes, 0, points.dim(0));
  core::RequireDim(boxes, 2, 7);
  core::RequireInt32Dim(boxes, 1);
  core::RequireShape(points_indices, {points.dim(0), points.dim(1)});
  core::RequireContiguous({points, boxes, points_indices});
  return {points.dim(0), points.dim(1), boxes.dim(1)};
}

void PointsInBoxes::RequireArgs(const Plan& plan, const Args& args) {
  core::RequirePointers({{"points", args.points}, {"points_indices", args.points_indices}});
  if (plan.boxes > 0) core::RequirePointers({{"boxes", args.boxes}});
}

}  // namespace detops::ops
