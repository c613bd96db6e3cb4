// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "runtime/implementation.h"

namespace detops::ops {

struct NmsPlan {
  int64_t count;
  mluOpDataType_t dtype;  // of boxes and scores
  float iou_threshold;

  // Makes all checks except those of pointers.
  static NmsPlan Make(const mluOpTensorStruct* boxes_desc, const mluOpTensorStruct* scores_desc,
                      const mluOpTensorStruct* output_desc, float iou_threshold);
  // What the workspace query knows. No implementation's workspace depends on more.
  static NmsPlan ForWorkspace(const mluOpTensorStruct* boxes_desc);
  bool Empty() const { return count == 0; }
};

struct NmsArgs {
  const void* boxes;    // [count,4] x1 y1 x2 y2
  const void* scores;   // [count]
  int32_t* output;      // [count] best first
  int32_t* result_num;  // [1]
};

struct Nms {
  static constexpr const char* kName = "nms";
  using Plan = NmsPlan;
  using Args = NmsArgs;
  static std::span<const runtime::Implementation<Nms>> Table();
  static void RequireArgs(const Plan& plan, const Args& args);
  static void WriteEmpty(const Plan& plan, const Args& args, const mluOpContext& handle);
};

int64_t NmsReferenceWorkspace(const NmsPlan& plan, const runtime::Device&);
void NmsReference(const NmsPlan& plan, const NmsArgs& args, void* workspace,
                  const runtime::Launch& launch);

// The boxes kept, as ranks in the order of these keys, with a threshold below 0 (below_zero.h).
int32_t NmsKeepBelowZero(const NmsPlan& plan, const void* boxes, const uint64_t* order,
                         int32_t* kept);

}  // namespace detops::ops
