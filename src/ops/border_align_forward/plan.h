// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "runtime/implementation.h"

namespace detops::ops {

struct BorderAlignForwardPlan {
  int64_t images, height, width;
  int64_t channels;  // of one border: the input has 4 times as many
  int64_t boxes;     // of one image
  int32_t pool_size;
  mluOpDataType_t dtype;
  mluOpTensorLayout_t layout;  // NHWC or NCHW, of input, output and argmax_idx

  // Makes all checks except those of pointers. `layouts` are those that the caller's API accepts.
  static BorderAlignForwardPlan Make(std::span<const mluOpTensorLayout_t> layouts,
                                     const mluOpTensorStruct* input_desc,
                                     const mluOpTensorStruct* boxes_desc, int32_t pool_size,
                                     const mluOpTensorStruct* output_desc,
                                     const mluOpTensorStruct* argmax_idx_desc);
  bool Empty() const { return false; }  // a zero dim is refused
};

struct BorderAlignForwardArgs {
  const void* input;    // NHWC [N,H,W,4C]  NCHW [N,4C,H,W]
  const void* boxes;    // [N,K,4] x1 y1 x2 y2
  void* output;         // NHWC [N,K,4,C]   NCHW [N,C,K,4]
  int32_t* argmax_idx;  // as output
};

struct BorderAlignForward {
  static constexpr const char* kName = "border_align_forward";
  using Plan = BorderAlignForwardPlan;
  using Args = BorderAlignForwardArgs;
  static std::span<const runtime::Implementation<BorderAlignForward>> Table();
  static void RequireArgs(const Plan& plan, const Args& args);
  static void WriteEmpty(const Plan&, const Args&, const mluOpContext&) {}
};

void BorderAlignForwardReference(const BorderAlignForwardPlan& plan,
                                 const BorderAlignForwardArgs& args, void* workspace,
                                 const runtime::Launch& launch);

}  // namespace detops::ops
