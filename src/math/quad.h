// SPDX-License-Identifier: Apache-2.0
//
// Intersection over union of two quadrilaterals, in double. Each is given by 8 floats x1,y1,…,x4,y4
// in either orientation, convex or concave.
//
// A simple quadrilateral is two triangles, so the intersection is the sum of four intersections of
// triangles, each convex and computed by clipping. The pair is first translated so that one of its
// vertices is the origin: the products in the area formula are then as large as the boxes, not as
// their distance from the origin, which is what ruins the usual float code.
#pragma once

#include "math/host_device.h"

namespace detops::math {

struct Point {
  double x, y;
};

// Twice the signed area of the triangle; positive when counter-clockwise.
DETOPS_HD double Cross(Point o, Point a, Point b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

struct QuadBounds {
  float x1, y1, x2, y2;
};

DETOPS_HD bool QuadIsFinite(const float* q) {  // [8]
  float sum = 0.0f;
  for (int i = 0; i < 8; ++i) sum += q[i] * 0.0f;
  return sum == 0.0f;
}

DETOPS_HD QuadBounds BoundsOf(const float* q) {  // [8], finite
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

struct QuadTriangles {
  Point corner[2][3];    // each counter-clockwise
  double twice_area[2];  // never negative
};

// Cuts along a diagonal that lies inside: both do in a convex quadrilateral; in a concave one only
// the diagonal through the reflex vertex, whose two triangles have the same orientation.
DETOPS_HD QuadTriangles SplitQuad(const Point* p) {  // [4]
  const double side_1 = Cross(p[0], p[1], p[2]), side_3 = Cross(p[0], p[2], p[3]);
  const bool cut_02 = (side_1 >= 0.0) == (side_3 >= 0.0) || side_1 == 0.0 || side_3 == 0.0;
  const int first = cut_02 ? 0 : 1;
  QuadTriangles result;
  for (int t = 0; t < 2; ++t) {
    const Point a = p[first], b = p[first + 1 + t], c = p[(first + 2 + t) % 4];
    const double cross = Cross(a, b, c);
    const bool flip = cross < 0.0;
    result.corner[t][0] = a;
    result.corner[t][1] = flip ? c : b;
    result.corner[t][2] = flip ? b : c;
    result.twice_area[t] = flip ? -cross : cross;
  }
  return result;
}

// Twice the area that two counter-clockwise triangles share: `subject` is cut by the half-plane
// left of each edge of `clip` in turn (Sutherland and Hodgman).
DETOPS_HD double TwiceSharedArea(const Point* subject, const Point* clip) {  // [3], [3]
  // Exact arithmetic needs 6 corners. Rounding may let a sliver's corners alternate between the
  // sides, and then 3 become at most 4, 6 and 9.
  constexpr int kMaxCorners = 9;
  Point polygon[2][kMaxCorners];
  int count = 3, current = 0;
  for (int i = 0; i < 3; ++i) polygon[0][i] = subject[i];

  for (int edge = 0; edge < 3 && count > 0; ++edge) {
    const Point from = clip[edge], to = clip[(edge + 1) % 3];
    const Point* in = polygon[current];
    Point* out = polygon[1 - current];
    int kept = 0;
    Point a = in[count - 1];
    double side_a = Cross(from, to, a);
    for (int i = 0; i < count; ++i) {
      const Point b = in[i];
      const double side_b = Cross(from, to, b);
      if ((side_a >= 0.0) != (side_b >= 0.0)) {
        const double t = side_a / (side_a - side_b);
        out[kept++] = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
      }
      if (side_b >= 0.0) out[kept++] = b;
      a = b;
      side_a = side_b;
    }
    count = kept;
    current = 1 - current;
  }

  double twice_area = 0.0;
  const Point* p = polygon[current];
  for (int i = 2; i < count; ++i) twice_area += Cross(p[0], p[i - 1], p[i]);
  return twice_area > 0.0 ? twice_area : 0.0;
}

// Always in [0, 1]. 0 when the bounds share no area, when either area is 0, and when a coordinate
// is not finite. `a` is the box that comes first in the order of scores: its first vertex is the
// origin.
DETOPS_HD double QuadIoU(const float* a, const float* b) {  // [8], [8]
  if (!QuadIsFinite(a) || !QuadIsFinite(b)) return 0.0;
  if (!BoundsOverlap(BoundsOf(a), BoundsOf(b))) return 0.0;

  const double origin_x = a[0], origin_y = a[1];
  Point corners_a[4], corners_b[4];
  for (int i = 0; i < 4; ++i) {
    corners_a[i] = {a[2 * i] - origin_x, a[2 * i + 1] - origin_y};
    corners_b[i] = {b[2 * i] - origin_x, b[2 * i + 1] - origin_y};
  }
  const QuadTriangles split_a = SplitQuad(corners_a), split_b = SplitQuad(corners_b);
  const double area_a = split_a.twice_area[0] + split_a.twice_area[1];
  const double area_b = split_b.twice_area[0] + split_b.twice_area[1];
  if (area_a == 0.0 || area_b == 0.0) return 0.0;

  double shared = 0.0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (split_a.twice_area[i] == 0.0 || split_b.twice_area[j] == 0.0) continue;
      shared += TwiceSharedArea(split_b.corner[j], split_a.corner[i]);
    }
  }
  // The triangles of a self-intersecting quadrilateral overlap and may count an area twice; and
  // rounding may exceed the smaller area by a few units in the last place.
  const double smaller = area_a < area_b ? area_a : area_b;
  if (shared > smaller) shared = smaller;
  return shared / ((area_a + area_b) - shared);
}

}  // namespace detops::math
