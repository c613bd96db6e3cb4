// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "runtime/implementation.h"

namespace detops::ops {

struct BboxOverlapsPlan {
  int64_t rows, cols;  // boxes in bbox1 and bbox2
  bool iof;            // mode 1
  bool aligned;        // rows == cols, and box i is compared with box i only
  float offset;        // 0 or 1
  mluOpDataType_t dtype;

  // Makes all checks except those of pointers.
  static BboxOverlapsPlan Make(int mode, bool aligned, int offset,
                               const mluOpTensorStruct* bbox1_desc,
                               const mluOpTensorStruct* bbox2_desc,
                               const mluOpTensorStruct* ious_desc);
  bool Empty() const { return rows == 0 || cols == 0; }
};

struct BboxOverlapsArgs {
  const void* bbox1;  // [rows,4] x1 y1 x2 y2
  const void* bbox2;  // [cols,4]
  void* ious;         // [rows,cols], or [rows] when aligned
};

struct BboxOverlaps {
  static constexpr const char* kName = "bbox_overlaps";
  using Plan = BboxOverlapsPlan;
  using Args = BboxOverlapsArgs;
  static std::span<const runtime::Implementation<BboxOverlaps>> Table();
  static void RequireArgs(const Plan& plan, const Args& args);
  static void WriteEmpty(const Plan&, const Args&, const mluOpContext&) {}
};

void BboxOverlapsReference(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args,
                           void* workspace, const runtime::Launch& launch);

}  // namespace detops::ops
