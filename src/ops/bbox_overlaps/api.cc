// SPDX-License-Identifier: Apache-2.0
#include "mlu_op.h"
#include "ops/bbox_overlaps/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

mluOpStatus_t MLUOP_WIN_API mluOpBboxOverlaps(mluOpHandle_t handle, const int mode,
                                              const bool aligned, const int offset,
                                              const mluOpTensorDescriptor_t bbox1_desc,
                                              const void* bbox1,
                                              const mluOpTensorDescriptor_t bbox2_desc,
                                              const void* bbox2,
                                              const mluOpTensorDescriptor_t ious_desc, void* ious) {
  return runtime::Call<ops::BboxOverlaps>(
      "mluOpBboxOverlaps", handle,
      {{"mode", double(mode)}, {"aligned", double(aligned)}, {"offset", double(offset)}},
      {{"bbox1", bbox1_desc, bbox1},
       {"bbox2", bbox2_desc, bbox2},
       {"ious", ious_desc, ious, runtime::kOutput}},
      [&](mluOpContext& context) {
        const auto plan =
            ops::BboxOverlapsPlan::Make(mode, aligned, offset, bbox1_desc, bbox2_desc, ious_desc);
        runtime::Dispatch<ops::BboxOverlaps>(context, plan, {bbox1, bbox2, ious});
      });
}
