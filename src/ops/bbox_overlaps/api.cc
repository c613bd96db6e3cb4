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
  return core::Guard("mluOpBboxOverlaps", [&] {
    mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan =
        ops::BboxOverlapsPlan::Make(mode, aligned, offset, bbox1_desc, bbox2_desc, ious_desc);
    runtime::Dispatch<ops::BboxOverlaps>(context, plan, {bbox1, bbox2, ious});
  });
}
