// SPDX-License-Identifier: Apache-2.0
//
// What floats alone tell about quadrilaterals: their bounds, and which pairs these rule out. Each
// is given by 8 floats x1,y1,…,x4,y4.
#pragma once

#include "math/host_device.h"

namespace detops::math {

struct QuadBounds {
  float x1, y1, x2, y2;
};

DETOPS_HD_HOT bool QuadIsFinite(const float* q) {  // [8]
  float sum = 0.0f;
  for (int i = 0; i < 8; ++i) sum += q[i] * 0.0f;
  return sum == 0.0f;
}

DETOPS_HD_HOT QuadBounds BoundsOf(const float* q) {  // [8], finite
  QuadBounds b = {q[0], q[1], q[0], q[1]};
  for (int i = 1; i < 4; ++i) {
    const float x = q[2 * i], y = q[2 * i + 1];
    b.x1 = x < b.x1 ? x : b.x1;
    b.x2 = x > b.x2 ? x : b.x2;
    b.y1 = y < b.y1 ? y : b.y1;
    b.y2 = y > b.y2 ? y : b.y2;
  }
  return b;
}

// Whether the bounds share area. Where they don't, the overlap is 0 by definition, so that any
// neighbour search may skip the pair.
DETOPS_HD bool BoundsOverlap(const QuadBounds& a, const QuadBounds& b) {
  return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;
}

// Whether it is an upright rectangle, listed in either direction from any corner.
DETOPS_HD bool IsUpright(const float* q) {  // [8]
  return (q[0] == q[2] && q[3] == q[5] && q[4] == q[6] && q[7] == q[1]) ||
         (q[1] == q[3] && q[2] == q[4] && q[5] == q[7] && q[6] == q[0]);
}

// The bounds within which it may overlap others; x1 > x2 if it can't, having no area or a corner
// that is not finite.
DETOPS_HD_HOT QuadBounds ReachOf(const float* q) {  // [8]
  constexpr QuadBounds kNowhere = {1.0f, 1.0f, -1.0f, -1.0f};
  if (!QuadIsFinite(q)) return kNowhere;
  const QuadBounds b = BoundsOf(q);
  return b.x1 < b.x2 && b.y1 < b.y2 ? b : kNowhere;  // no width or no height: no area
}

// Below this threshold, products with it might underflow.
constexpr float kLeastThreshold = 1e-7f;

// Whether no two simple quadrilaterals with these areas and bounds can overlap enough: they share
// no more than the smaller area, and no more than their bounds do. The margin covers the rounding
// errors of float.
DETOPS_HD_HOT bool NeverEnough(float area_a, float area_b, const QuadBounds& a, const QuadBounds& b,
                               float threshold) {
  const float width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 > b.x1 ? a.x1 : b.x1);
  const float height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 > b.y1 ? a.y1 : b.y1);
  const float smaller = area_a < area_b ? area_a : area_b;
  const float most = smaller < width * height ? smaller : width * height;
  const float both = area_a + area_b;
  // Nothing may under- or overflow.
  if (!(threshold > kLeastThreshold && both > 1e-30f && both < 1e37f)) return false;
  return most * (1.0f + threshold) < 0.999f * threshold * both;
}

}  // namespace detops::math
