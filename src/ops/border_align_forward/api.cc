// SPDX-License-Identifier: Apache-2.0
#include "detops/detops.h"
#include "mlu_op.h"
#include "ops/border_align_forward/plan.h"
#include "runtime/dispatch.h"

using namespace detops;

namespace {

constexpr mluOpTensorLayout_t kNhwc[] = {MLUOP_LAYOUT_NHWC};
constexpr mluOpTensorLayout_t kNhwcOrNchw[] = {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW};

mluOpStatus_t BorderAlignForward(const char* function, std::span<const mluOpTensorLayout_t> layouts,
                                 mluOpHandle_t handle, mluOpTensorDescriptor_t input_desc,
                                 const void* input, mluOpTensorDescriptor_t boxes_desc,
                                 const void* boxes, int32_t pool_size,
                                 mluOpTensorDescriptor_t output_desc, void* output,
                                 mluOpTensorDescriptor_t argmax_idx_desc, void* argmax_idx) {
  return runtime::Call<ops::BorderAlignForward>(
      function, handle, {{"pool_size", double(pool_size)}},
      {{"input", input_desc, input},
       {"boxes", boxes_desc, boxes},
       {"output", output_desc, output, runtime::kOutput},
       {"argmax_idx", argmax_idx_desc, argmax_idx, runtime::kOutput}},
      [&](mluOpContext& context) {
        const auto plan = ops::BorderAlignForwardPlan::Make(
            layouts, input_desc, boxes_desc, pool_size, output_desc, argmax_idx_desc);
        runtime::Dispatch<ops::BorderAlignForward>(
            context, plan, {input, boxes, output, static_cast<int32_t*>(argmax_idx)});
      });
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
    const mluOpTensorDescriptor_t boxes_desc, const void* boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void* output,
    const mluOpTensorDescriptor_t argmax_idx_desc, void* argmax_idx) {
  return BorderAlignForward("mluOpBorderAlignForward", kNhwc, handle, input_desc, input, boxes_desc,
                            boxes, pool_size, output_desc, output, argmax_idx_desc, argmax_idx);
}

mluOpStatus_t detopsBorderAlignForward(mluOpHandle_t handle,
                                       const mluOpTensorDescriptor_t input_desc, const void* input,
                                       const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                       const int32_t pool_size,
                                       const mluOpTensorDescriptor_t output_desc, void* output,
                                       const mluOpTensorDescriptor_t argmax_idx_desc,
                                       void* argmax_idx) {
  return BorderAlignForward("detopsBorderAlignForward", kNhwcOrNchw, handle, input_desc, input,
                            boxes_desc, boxes, pool_size, output_desc, output, argmax_idx_desc,
                            argmax_idx);
}
