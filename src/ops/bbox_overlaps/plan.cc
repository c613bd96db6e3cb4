// SPDX-License-Identifier: Apache-2.0
#include "ops/bbox_overlaps/plan.h"

#include "core/checks.h"

namespace detops::ops {

using core::BadParam;
using core::TensorArg;

BboxOverlapsPlan BboxOverlapsPlan::Make(int mode, bool aligned, int offset,
                                        const mluOpTensorStruct* bbox1_desc,
                                        const mluOpTensorStruct* bbox2_desc,
                                        const mluOpTensorStruct* ious_desc) {
  const TensorArg bbox1{"bbox1", bbox1_desc}, bbox2{"bbox2", bbox2_desc}, ious{"ious", ious_desc};
  core::RequireDescriptors({bbox1, bbox2, ious});
  core::RequireDtype(bbox1, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT});
  core::RequireSameDtype(bbox2, bbox1);
  core::RequireSameDtype(ious, bbox1);

  for (const TensorArg& boxes : {bbox1, bbox2}) {
    core::RequireRank(boxes, 2);
    if (boxes.dim(0) != 0) core::RequireDim(boxes, 1, 4);  // none where there are no boxes
  }
  const int64_t rows = bbox1.dim(0), cols = bbox2.dim(0);
  if (!aligned) {
    core::RequireShape(ious, {rows, cols});
  } else {
    core::RequireDim(bbox2, 0, rows);
    if (ious.desc->rank == 2) {
      core::RequireShape(ious, {rows, 1});
    } else {
      core::RequireShape(ious, {rows});
    }
  }

  if (mode != 0 && mode != 1) BadParam("mode: is ", mode, ", expected 0 (IoU) or 1 (IoF)");
  if (offset != 0 && offset != 1) BadParam("offset: is ", offset, ", expected 0 or 1");
  core::RequireContiguous({bbox1, bbox2, ious});
  return {rows, cols, mode == 1, aligned, static_cast<float>(offset), bbox1.desc->dtype};
}

void BboxOverlaps::RequireArgs(const Plan& plan, const Args& args) {
  core::RequirePointers({{"bbox1", args.bbox1, plan.dtype},
                         {"bbox2", args.bbox2, plan.dtype},
                         {"ious", args.ious, plan.dtype}});
}

}  // namespace detops::ops
