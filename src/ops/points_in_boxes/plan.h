// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "runtime/implementation.h"

namespace detops::ops {

struct PointsInBoxesPlan {
  int64_t batches;
  int64_t points, boxes;  // of one batch

  // Makes all checks except those of pointers.
  static PointsInBoxesPlan Make(const mluOpTensorStruct* points_desc,
                                const mluOpTensorStruct* boxes_desc,
                                const mluOpTensorStruct* points_indices_desc);
  bool Empty() const { return batches == 0 || points == 0; }
};

struct PointsInBoxesArgs {
  const float* points;      // [B,M,3] x y z
  const float* boxes;       // [B,T,7] cx cy cz dx dy dz heading
  int32_t* points_indices;  // [B,M]
};

struct PointsInBoxes {
  static constexpr const char* kName = "points_in_boxes";
  using Plan = PointsInBoxesPlan;
  using Args = PointsInBoxesArgs;
  static std::span<const runtime::Implementation<PointsInBoxes>> Table();
  static void RequireArgs(const Plan& plan, const Args& args);
  static void WriteEmpty(const Plan&, const Args&, const mluOpContext&) {}
};

void PointsInBoxesReference(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args,
                            void* workspace, const runtime::Launch& launch);

}  // namespace detops::ops
