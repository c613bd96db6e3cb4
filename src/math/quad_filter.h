// SPDX-License-Identifier: Apache-2.0
//
// "Is the IoU of these two quadrilaterals above the threshold?" in float or double, with a bound on
// the error: the answer is yes, no or doubtful, and only doubtful pairs need math::QuadIoU. The
// decision is always that of QuadIoU (docs/numerics.md derives the bound).
#pragma once

#include "math/quad.h"

namespace detops::math {

enum class Verdict { kNo, kYes, kDoubtful };

// A quadrilateral as the filter needs it.
struct alignas(16) FilterQuad {
  float corner[8];  // counter-clockwise where regular
  float area;       // negative: not regular (concave, flat, not finite): only QuadIoU may decide
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
  for (int i = 0; i < 8; ++i) result.corner[i] = q[i];
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
      result.corner[2 * i] = q[2 * (3 - i)];
      result.corner[2 * i + 1] = q[2 * (3 - i) + 1];
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

constexpr int kPairEdges = 8;  // of two quadrilaterals

// Sums over the edges of both.
template <class Real>
struct EdgeSums {
  Real shared = 0;              // twice the shared area
  Real area = 0;                // twice the area of both
  Real error = 0;               // bound on the error of `shared` from cutting edges
  Real nearest = Real(3.0e38);  // the value closest to 0 whose sign decides

  DETOPS_HD void Add(const EdgeSums& more) {
    shared += more.shared;
    area += more.area;
    error += more.error;
    nearest = more.nearest < nearest ? more.nearest : nearest;
  }
};

// Two regular quadrilaterals, about a local origin.
template <class Real>
struct QuadPair {
  const FilterQuad& a;
  const FilterQuad& b;
  Real origin_x, origin_y;
  Real side_error;  // bound for a side value; negative where numbers could under- or overflow

  DETOPS_HD QuadPair(const FilterQuad& quad_a, const FilterQuad& quad_b, const QuadBounds& bounds_a,
                     const QuadBounds& bounds_b)
      : a(quad_a), b(quad_b), origin_x(quad_a.corner[0]), origin_y(quad_a.corner[1]) {
    const Real width = static_cast<Real>(bounds_a.x2 > bounds_b.x2 ? bounds_a.x2 : bounds_b.x2) -
                       (bounds_a.x1 < bounds_b.x1 ? bounds_a.x1 : bounds_b.x1);
    const Real height = static_cast<Real>(bounds_a.y2 > bounds_b.y2 ? bounds_a.y2 : bounds_b.y2) -
                        (bounds_a.y1 < bounds_b.y1 ? bounds_a.y1 : bounds_b.y1);
    const Real scale = width * width + height * height;
    // The error of a side value is below 8 * 2^-24 scale in float; this is twice that. In double it
    // also covers the errors of QuadIoU, which are of the same kinds.
    side_error = scale > Real(1e-25) && scale < Real(1e30)
                     ? (sizeof(Real) == sizeof(float) ? Real(1e-6) : Real(1e-12)) * scale
                     : Real(-1);
  }

  // Green's theorem: the shared area is a sum over the edges of both polygons, each clipped to the
  // part inside the other polygon, from t0 to t1. Edges 0 to 3 are those of a, 4 to 7 those of b.
  DETOPS_HD EdgeSums<Real> SumEdge(int edge) const {
    const float* own = edge < 4 ? a.corner : b.corner;
    const float* other = edge < 4 ? b.corner : a.corner;
    const int from = 2 * (edge % 4), to = 2 * ((edge + 1) % 4);
    const Real x0 = own[from] - origin_x, y0 = own[from + 1] - origin_y;
    const Real x1 = own[to] - origin_x, y1 = own[to + 1] - origin_y;
    Real t0 = 0, t1 = 1, spread = 0;
    EdgeSums<Real> sums;
    Real cx = other[6] - origin_x, cy = other[7] - origin_y;
    for (int k = 0; k < 4; ++k) {
      const Real next_x = other[2 * k] - origin_x, next_y = other[2 * k + 1] - origin_y;
      const Real nx = next_x - cx, ny = next_y - cy;
      const Real side0 = nx * (y0 - cy) - ny * (x0 - cx), side1 = nx * (y1 - cy) - ny * (x1 - cx);
      const Real distance0 = side0 < 0 ? -side0 : side0, distance1 = side1 < 0 ? -side1 : side1;
      const Real nearer = distance0 < distance1 ? distance0 : distance1;
      sums.nearest = nearer < sums.nearest ? nearer : sums.nearest;
      const bool out0 = side0 < 0, out1 = side1 < 0;
      const Real inverse = Reciprocal(side0 - side1);
      const Real t = side0 * inverse;
      spread += out0 != out1 ? side_error * (inverse < 0 ? -inverse : inverse) : 0;
      t0 = out0 && !out1 && t > t0 ? t : t0;
      t1 = out1 && !out0 && t < t1 ? t : t1;
      t1 = out0 && out1 ? -1 : t1;  // outside, whatever the error
      cx = next_x;
      cy = next_y;
    }
    const Real cross = x0 * y1 - y0 * x1;
    const bool inside = t1 >= 0;
    sums.area = cross;
    sums.shared = inside && t1 > t0 ? (t1 - t0) * cross : 0;
    sums.error = inside ? spread * (cross < 0 ? -cross : cross) : 0;
    return sums;
  }

  // IoU > threshold, where the answer is certain; `sum` is over all edges, in any order.
  DETOPS_HD Verdict Judge(const EdgeSums<Real>& sum, float threshold) const {
    // After this check, every sign that decided is correct.
    if (side_error < 0 || !(sum.nearest > 2 * side_error)) return Verdict::kDoubtful;
    const Real limit = threshold;
    const Real excess = sum.shared * (1 + limit) - limit * sum.area;
    // The error of the cuts is below 2.5 times the spreads; that of products, sums and divisions is
    // below 6 side errors.
    const Real error = (Real(2.5) * sum.error + 10 * side_error) * (1 + limit);
    if (excess > error) return Verdict::kYes;
    return excess < -error ? Verdict::kNo : Verdict::kDoubtful;
  }

 private:
  // Two units in the last place are enough here.
  DETOPS_HD static float Reciprocal(float v) {
#ifdef __CUDA_ARCH__
    return __fdividef(1.0f, v);
#else
    return 1.0f / v;
#endif
  }
  DETOPS_HD static double Reciprocal(double v) { return 1.0 / v; }
};

}  // namespace detops::math
