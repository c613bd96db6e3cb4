// SPDX-License-Identifier: Apache-2.0
//
// Between the host side (mlu.cc) and the kernels (mlu.mlu).
#pragma once

#include <stdint.h>

#include "mlu/card.h"

namespace detops::ops {

struct BboxOverlapsMlu {
  int64_t rows, cols;  // boxes in bbox1 and bbox2
  bool iof, aligned, half;
  float offset;       // 0 or 1
  const void* bbox1;  // [rows,4]
  const void* bbox2;  // [cols,4]
  void* ious;         // [rows,cols], or [rows] when aligned
};

template <int kArch>
void LaunchBboxOverlaps(const mlu::Grid& grid, const BboxOverlapsMlu& call);
template <>
void LaunchBboxOverlaps<592>(const mlu::Grid& grid, const BboxOverlapsMlu& call);
template <>
void LaunchBboxOverlaps<372>(const mlu::Grid& grid, const BboxOverlapsMlu& call);

}  // namespace detops::ops
