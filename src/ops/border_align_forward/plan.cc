// SPDX-License-Identifier: Apache-2.0
#include "ops/border_align_forward/plan.h"

#include <algorithm>

#include "core/checks.h"

namespace detops::ops {

using core::BadParam;
using core::TensorArg;

namespace {

void RequireOneOf(const TensorArg& tensor, std::span<const mluOpTensorLayout_t> layouts) {
  if (std::find(layouts.begin(), layouts.end(), tensor.desc->layout) == layouts.end()) {
    core::RequireLayout(tensor, layouts.front());
  }
}

}  // namespace

BorderAlignForwardPlan BorderAlignForwardPlan::Make(std::span<const mluOpTensorLayout_t> layouts,
                                                    const mluOpTensorStruct* input_desc,
                                                    const mluOpTensorStruct* boxes_desc,
                                                    int32_t pool_size,
                                                    const mluOpTensorStruct* output_desc,
                                                    const mluOpTensorStruct* argmax_idx_desc) {
  const TensorArg input{"input", input_desc}, boxes{"boxes", boxes_desc};
  const TensorArg output{"output", output_desc}, argmax_idx{"argmax_idx", argmax_idx_desc};
  core::RequireDescriptors({input, boxes, output, argmax_idx});

  core::RequireDtype(input, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT});
  core::RequireSameDtype(boxes, input);
  core::RequireSameDtype(output, input);
  core::RequireDtype(argmax_idx, {MLUOP_DTYPE_INT32});

  RequireOneOf(input, layouts);
  const mluOpTensorLayout_t layout = input.desc->layout;
  core::RequireLayout(output, layout);
  core::RequireLayout(argmax_idx, layout);

  const bool nchw = layout == MLUOP_LAYOUT_NCHW;
  const int channel_dim = nchw ? 1 : 3;
  core::RequireRank(input, 4);
  for (int dim = 0; dim < 4; ++dim) core::RequireNotZero(input, dim);
  if (input.dim(channel_dim) % 4 != 0) {
    BadParam("input: dim ", channel_dim, " is ", input.dim(channel_dim),
             ", expected a multiple of 4");
  }
  core::RequireRank(boxes, 3);
  core::RequireDim(boxes, 0, input.dim(0));
  core::RequireNotZero(boxes, 1);
  core::RequireDim(boxes, 2, 4);

  BorderAlignForwardPlan plan;
  plan.images = input.dim(0);
  plan.height = input.dim(nchw ? 2 : 1);
  plan.width = input.dim(nchw ? 3 : 2);
  plan.channels = input.dim(channel_dim) / 4;
  plan.boxes = boxes.dim(1);
  plan.pool_size = pool_size;
  plan.dtype = input.desc->dtype;
  plan.layout = layout;
  for (const TensorArg& result : {output, argmax_idx}) {
    if (nchw) {
      core::RequireShape(result, {plan.images, plan.channels, plan.boxes, 4});
    } else {
      core::RequireShape(result, {plan.images, plan.boxes, 4, plan.channels});
    }
  }

  if (pool_size < 1) BadParam("pool_size: is ", pool_size, ", expected 1 or more");
  core::RequireContiguous({input, boxes, output, argmax_idx});
  return plan;
}

void BorderAlignForward::RequireArgs(const Plan& plan, const Args& args) {
  core::RequirePointers({{"input", args.input, plan.dtype},
                         {"boxes", args.boxes, plan.dtype},
                         {"output", args.output, plan.dtype},
                         {"argmax_idx", args.argmax_idx}});
}

}  // namespace detops::ops
