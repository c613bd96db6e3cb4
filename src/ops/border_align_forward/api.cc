// SPDX-License-Identifier: Apache-2.0
#include "detops/detops.h"
#include "mlu_op.h"
#include "ops/border_align_forward/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
    const mluOpTensorDescriptor_t boxes_desc, const void* boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void* output,
    const mluOpTensorDescriptor_t argmax_idx_desc, void* argmax_idx) {
  return core::Guard("mluOpBorderAlignForward", [&] {
    static constexpr mluOpTensorLayout_t kLayouts[] = {MLUOP_LAYOUT_NHWC};
    mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan = ops::BorderAlignForwardPlan::Make(kLayouts, input_desc, boxes_desc, pool_size,
                                                        output_desc, argmax_idx_desc);
    runtime::Dispatch<ops::BorderAlignForward>(
        context, plan, {input, boxes, output, static_cast<int32_t*>(argmax_idx)});
  });
}

mluOpStatus_t detopsBorderAlignForward(mluOpHandle_t handle,
                                       const mluOpTensorDescriptor_t input_desc, const void* input,
                                       const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                       const int32_t pool_size,
                                       const mluOpTensorDescriptor_t output_desc, void* output,
                                       const mluOpTensorDescriptor_t argmax_idx_desc,
                                       void* argmax_idx) {
  return core::Guard("detopsBorderAlignForward", [&] {
    static constexpr mluOpTensorLayout_t kLayouts[] = {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW};
    mluOpContext& context = runtime::RequireHandle(handle);
    const auto plan = ops::BorderAlignForwardPlan::Make(kLayouts, input_desc, boxes_desc, pool_size,
                                                        output_desc, argmax_idx_desc);
    runtime::Dispatch<ops::BorderAlignForward>(
        context, plan, {input, boxes, output, static_cast<int32_t*>(argmax_idx)});
  });
}
