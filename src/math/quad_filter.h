// SPDX-License-Identifier: Apache-2.0
//
// "Is the IoU of these two quadrilaterals above the threshold?": what a filter needs that answers
// yes, no or doubtful, and the cheapest one, by areas and bounds. math/quad_pair.h has the other.
#pragma once

#include <cmath>
#include <cstdint>

#include "math/lane.h"
#include "math/quad.h"

namespace detops::math {

// What is certain about the shape of a quadrilateral.
enum class Shape : int32_t { kOther, kConvex, kUpright };

// A quadrilateral as the filters need it.
struct alignas(16) FilterQuad {
  float x[4], y[4];  // corners; counter-clockwise where convex
  float area;        // 0 where it is not certain that the outline does not intersect itself
  // Where convex and much longer than wide: the cross product of its longest edge, which is then
  // the first, and the corner farthest from that. Else 0.
  float strip;
  Shape shape;
};

// Of the length of an elongated quadrilateral, its width is less than this share.
constexpr double kElongated = 0.125;

// Where a convex quadrilateral is elongated: sets `strip` and lists it from its longest edge.
DETOPS_HD void FindStrip(FilterQuad& quad) {
  // The corners, twice.
  Point<double> p[8];
  for (int i = 0; i < 8; ++i) p[i] = {quad.x[i % 4], quad.y[i % 4]};
  double longest = 0.0;  // squared
  int first = 0;
  for (int i = 0; i < 4; ++i) {
    const double x = p[i + 1].x - p[i].x, y = p[i + 1].y - p[i].y;
    const double length = x * x + y * y;
    if (length > longest) first = i;
    longest = length > longest ? length : longest;
  }
  const double far_2 = Cross(p[first], p[first + 1], p[first + 2]);
  const double far_3 = Cross(p[first], p[first + 1], p[first + 3]);
  const double strip = far_2 > far_3 ? far_2 : far_3;
  // Where it fits into a float with all its digits; the area is at least half as much.
  if (!(strip < kElongated * longest && strip > 1e-30 && strip < 1e37)) return;
  quad.strip = static_cast<float>(1.000001 * strip);
  for (int i = 0; i < 4; ++i) {
    quad.x[i] = static_cast<float>(p[first + i].x);
    quad.y[i] = static_cast<float>(p[first + i].y);
  }
}

// Also sets `bounds` to its reach.
DETOPS_HD FilterQuad PrepareQuad(const float* q, QuadBounds& bounds) {  // [8]
  // Relative to the square of the longer side of the bounds: the least cross product whose sign is
  // certain and whose value is good to five digits. Errors are below 1e-15.
  constexpr double kLeastCross = 1e-10;
  FilterQuad result = {};
  const QuadBounds b = bounds = ReachOf(q);
  if (b.x1 > b.x2) return result;

  double edge_x[4], edge_y[4];
  for (int i = 0; i < 4; ++i) {
    const int next = (i + 1) % 4;
    edge_x[i] = static_cast<double>(q[2 * next]) - q[2 * i];
    edge_y[i] = static_cast<double>(q[2 * next + 1]) - q[2 * i + 1];
  }
  // Between an edge and the next.
  const auto cross = [&](int i) {
    const int next = (i + 1) % 4;
    return edge_x[i] * edge_y[next] - edge_y[i] * edge_x[next];
  };
  const double crosses[4] = {cross(0), cross(1), cross(2), cross(3)};
  const double width = static_cast<double>(b.x2) - b.x1, height = static_cast<double>(b.y2) - b.y1;
  const double side = Max(width, height), least = kLeastCross * side * side;
  const double lowest = Min(Min(crosses[0], crosses[1]), Min(crosses[2], crosses[3]));
  const double highest = Max(Max(crosses[0], crosses[1]), Max(crosses[2], crosses[3]));
  const bool left = lowest > least, right = highest < -least;
  const double area = std::fabs(0.5 * (crosses[0] + crosses[2]));
  if (!(area > least)) return result;
  // From the last corner where it is clockwise; without a branch, as half of all may be.
  const int reverse = 3 * static_cast<int>(right);
  for (int i = 0; i < 4; ++i) {
    result.x[i] = q[2 * (i ^ reverse)];
    result.y[i] = q[2 * (i ^ reverse) + 1];
  }
  if (!left && !right) {
    // One corner on the other side makes it concave, two make it self-intersecting.
    int lefts = 0, rights = 0;
    for (const double value : crosses) {
      lefts += value > least ? 1 : 0;
      rights += value < -least ? 1 : 0;
    }
    if (lefts + rights == 4 && lefts != 2) result.area = static_cast<float>(area);
    return result;
  }
  result.area = static_cast<float>(area);
  result.shape = IsUpright(q) ? Shape::kUpright : Shape::kConvex;
  // A strip has no more area than its width times the diagonal of the bounds.
  if (area < kElongated * (width * width + height * height)) FindStrip(result);
  return result;
}

// The same for two elongated quadrilaterals, by the strips along their longest edges: one lies
// beside the strip of the other, or the strips cross at such an angle that they share too little.
// `extent` is the area of the common bounds.
DETOPS_HD bool StripsNeverEnough(const FilterQuad& a, const FilterQuad& b, float threshold,
                                 double extent) {
  const auto edge = [](const FilterQuad& q) -> Point<double> {
    return {static_cast<double>(q.x[1]) - q.x[0], static_cast<double>(q.y[1]) - q.y[0]};
  };
  const Point<double> along_a = edge(a), along_b = edge(b);
  const double error = 1e-14 * extent;  // of a cross product, and more
  // Two strips of widths u and v that cross at an angle p share a parallelogram of area u*v/sin(p).
  const double cross = along_a.x * along_b.y - along_a.y * along_b.x;
  const double crossing = (cross < 0.0 ? -cross : cross) - error;
  const double both = static_cast<double>(a.area) + b.area;
  if (static_cast<double>(a.strip) * b.strip * (1.0 + threshold) <
      0.999 * threshold * both * crossing) {
    return true;
  }
  const auto beside = [&](const FilterQuad& strip, const Point<double>& along,
                          const FilterQuad& quad) {
    double least = 0.0, most = 0.0;
    for (int k = 0; k < 4; ++k) {
      const double dx = static_cast<double>(quad.x[k]) - strip.x[0];
      const double dy = static_cast<double>(quad.y[k]) - strip.y[0];
      const double side = along.x * dy - along.y * dx;
      least = k == 0 || side < least ? side : least;
      most = k == 0 || side > most ? side : most;
    }
    return most < -error || least > strip.strip + error;
  };
  return beside(a, along_a, b) || beside(b, along_b, a);
}

// The least area that the bounds of a box have that suppresses a simple quadrilateral of this area:
// the two share no more area than those bounds have, and their union is no less than `area`. The
// limits are as above.
DETOPS_HD double LeastAreaToSuppress(float area, float threshold) {
  return threshold > kLeastThreshold && area > 1e-30f && area < 1e37f ? 0.999 * threshold * area
                                                                      : 0.0;
}

}  // namespace detops::math
