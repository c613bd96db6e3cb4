// SPDX-License-Identifier: Apache-2.0
//
// What the MLU's kernels know of each box.
#pragma once

#include <stdint.h>

namespace detops::ops::poly_nms_mlu {

struct QuadRecord {
  // What is certain about the outline. Of those between kNone and kConvex, corners 0 1 2 and 0 2 3
  // are the two triangles into which math::SplitQuad cuts it.
  static constexpr float kNone = 0.0f;
  static constexpr float kCrossed = 1.0f;  // intersects itself; the second triangle is clockwise
  static constexpr float kSplit = 2.0f;    // both triangles are counter-clockwise
  static constexpr float kConvex = 3.0f;   // counter-clockwise
  static constexpr float kUpright = 4.0f;  // the same, and a rectangle along the axes

  float x[4], y[4];
  float x1, y1, x2, y2;  // bounds; x1 > x2 where it can't overlap others
  float least, most;  // its signed area is no less, that of its triangles no more, of the bounds'
  float kind;
  int32_t key;  // ascending is descending score

  // As columns.
  static constexpr int kX = 0, kY = 4, kX1 = 8, kY1 = 9, kX2 = 10, kY2 = 11, kLeast = 12,
                       kMost = 13, kKind = 14, kKey = 15, kFields = 16;
};
static_assert(sizeof(QuadRecord) == 64, "one unit of memory");

}  // namespace detops::ops::poly_nms_mlu
