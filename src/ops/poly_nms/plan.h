// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "runtime/implementation.h"

namespace detops::ops {

struct PolyNmsPlan {
  int64_t count;
  float iou_threshold;

  // Makes all checks except those of pointers.
  static PolyNmsPlan Make(const mluOpTensorStruct* boxes_desc, const mluOpTensorStruct* output_desc,
                          float iou_threshold);
  // What the workspace query knows. No implementation's workspace depends on more.
  static PolyNmsPlan ForWorkspace(const mluOpTensorStruct* boxes_desc);
  bool Empty() const { return count == 0; }
};

struct PolyNmsArgs {
  const float* boxes;   // [count,9] x1 y1 x2 y2 x3 y3 x4 y4 score
  int32_t* output;      // [count]
  int32_t* result_num;  // [1]
};

struct PolyNms {
  static constexpr const char* kName = "poly_nms";
  using Plan = PolyNmsPlan;
  using Args = PolyNmsArgs;
  static std::span<const runtime::Implementation<PolyNms>> Table();
  static void RequireArgs(const Plan& plan, const Args& args);
  static void WriteEmpty(const Plan& plan, const Args& args, const mluOpContext& handle);
};

int64_t PolyNmsReferenceWorkspace(const PolyNmsPlan& plan, const runtime::Device&);
void PolyNmsReference(const PolyNmsPlan& plan, const PolyNmsArgs& args, void* workspace,
                      const runtime::Launch& launch);

}  // namespace detops::ops
