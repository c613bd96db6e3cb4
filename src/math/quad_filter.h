// SPDX-License-Identifier: Apache-2.0
//
// "Is the IoU of these two quadrilaterals above the threshold?": what a filter needs that answers
// yes, no or doubtful, and the cheapest one, by areas and bounds. math/quad_pair.h has the other.
#pragma once

#include "math/quad.h"

namespace detops::math {

enum class Verdict { kNo, kYes, kDoubtful };

// A quadrilateral as the filter needs it.
struct alignas(16) FilterQuad {
  float x[4], y[4];  // corners, counter-clockwise where regular
  float area;        // negative: not regular (concave, flat, not finite): only QuadIoU may decide
};

// The bounds within which it may overlap others; x1 > x2 if it can't, having no area or a corner
// that is not finite.
DETOPS_HD QuadBounds ReachOf(const float* q) {  // [8]
  constexpr QuadBounds kNowhere = {1.0f, 1.0f, -1.0f, -1.0f};
  if (!QuadIsFinite(q)) return kNowhere;
  const QuadBounds b = BoundsOf(q);
  return b.x1 < b.x2 && b.y1 < b.y2 ? b : kNowhere;  // no width or no height: no area
}

// Also sets `bounds` to its reach.
DETOPS_HD FilterQuad PrepareQuad(const float* q, QuadBounds& bounds) {  // [8]
  // The least cross product at a corner and the least area, relative to the square of the longer
  // side, for which the filter's error bound holds.
  constexpr double kLeastCross = 1e-6, kLeastArea = 1e-4;
  FilterQuad result;
  for (int i = 0; i < 4; ++i) {
    result.x[i] = q[2 * i];
    result.y[i] = q[2 * i + 1];
  }
  result.area = -1.0f;
  const QuadBounds b = bounds = ReachOf(q);
  if (b.x1 > b.x2) return result;

  Point p[4];
  for (int i = 0; i < 4; ++i) {
    p[i] = {static_cast<double>(q[2 * i]) - q[0], static_cast<double>(q[2 * i + 1]) - q[1]};
  }
  const double cross_0 = Cross(p[0], p[1], p[2]), cross_1 = Cross(p[1], p[2], p[3]);
  const double cross_2 = Cross(p[2], p[3], p[0]), cross_3 = Cross(p[3], p[0], p[1]);
  const double width = static_cast<double>(b.x2) - b.x1, height = static_cast<double>(b.y2) - b.y1;
  const double side = width > height ? width : height;
  const double least = kLeastCross * side * side;
  const bool left = cross_0 > least && cross_1 > least && cross_2 > least && cross_3 > least;
  const bool right = cross_0 < -least && cross_1 < -least && cross_2 < -least && cross_3 < -least;
  const double twice_area = cross_0 + cross_2;
  if (!left && !right) return result;
  if (!((left ? twice_area : -twice_area) > kLeastArea * side * side)) return result;
  if (right) {  // clockwise: reverse it
    for (int i = 0; i < 4; ++i) {
      result.x[i] = q[2 * (3 - i)];
      result.y[i] = q[2 * (3 - i) + 1];
    }
  }
  result.area = static_cast<float>(0.5 * (left ? twice_area : -twice_area));
  return result;
}

// Whether no two regular quadrilaterals with these areas and bounds can overlap enough: they share
// no more than the smaller area, and no more than their bounds do. The margin covers the rounding
// errors of float. For tiny thresholds it would not, so the answer is then false.
DETOPS_HD_HOT bool NeverEnough(float area_a, float area_b, const QuadBounds& a, const QuadBounds& b,
                               float threshold) {
  const float width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 > b.x1 ? a.x1 : b.x1);
  const float height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 > b.y1 ? a.y1 : b.y1);
  const float smaller = area_a < area_b ? area_a : area_b;
  const float most = smaller < width * height ? smaller : width * height;
  const float both = area_a + area_b;
  if (!(threshold > 0.01f && both > 1e-30f && both < 1e37f)) return false;  // under- or overflow
  return most * (1.0f + threshold) < 0.999f * threshold * both;
}

// The least area that the bounds of a box have that suppresses a box or regular quadrilateral of
// this area: the two share no more area than those bounds have, and their union is no less than
// `area`. The limits are as above.
DETOPS_HD double LeastAreaToSuppress(float area, float threshold) {
  return threshold > 0.01f && area > 1e-30f && area < 1e37f ? 0.999 * threshold * area : 0.0;
}

}  // namespace detops::math
