// SPDX-License-Identifier: Apache-2.0
//
// "Is the IoU of these two quadrilaterals above the threshold?", as exact arithmetic on the given
// coordinates and the given threshold answers it; a tie is not above. Each is given by 8 floats
// x1,y1,…,x4,y4 in either orientation, convex or concave.
//
// A simple quadrilateral is two triangles, so the shared area is the sum of four shared areas of
// triangles, each convex and computed by clipping. The pair is first translated so that one of its
// vertices is the origin: the products in the area formula are then as large as the boxes, not as
// their distance from the origin, which is what ruins the usual float code. This is done in double,
// whose error is bounded; where that leaves the answer open, the same is done in double-double
// (docs/numerics.md derives the bounds).
#pragma once

#include "math/binary64.h"
#include "math/double_double.h"
#include "math/host_device.h"
#include "math/quad_bounds.h"

namespace detops::math {

enum class Verdict { kNo, kYes, kDoubtful };

template <class Real>
struct Point {
  Real x, y;
};

// Twice the signed area of the triangle; positive when counter-clockwise.
template <class Real>
DETOPS_HD Real Cross(const Point<Real>& o, const Point<Real>& a, const Point<Real>& b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

// The area of the bounds of both: what errors are relative to. Not the squared diagonal, for each
// axis may be scaled by itself: an outline with one corner far out has areas as small beside that
// as rounding errors are, but not beside this.
template <class Wide = Binary64>
DETOPS_HD Wide CommonBoundsArea(const QuadBounds& a, const QuadBounds& b) {
  const Wide width = static_cast<Wide>(a.x2 > b.x2 ? a.x2 : b.x2) - (a.x1 < b.x1 ? a.x1 : b.x1);
  const Wide height = static_cast<Wide>(a.y2 > b.y2 ? a.y2 : b.y2) - (a.y1 < b.y1 ? a.y1 : b.y1);
  return width * height;
}

template <class Real>
struct QuadTriangles {
  Point<Real> corner[2][3];  // each counter-clockwise
  Real twice_area[2];        // never negative
  // Whether other rounding errors would give the same region, but for an area that is as small as
  // they are. False only near the border between simple and self-intersecting outlines.
  bool stable;
};

// Cuts along a diagonal that lies inside: both do in a convex quadrilateral; in a concave one only
// the diagonal through the reflex vertex, whose two triangles have the same orientation. `error` is
// a bound on that of a cross product.
template <class Real, class Wide>
DETOPS_HD QuadTriangles<Real> SplitQuad(const Point<Real>* p, Wide error) {  // [4]
  const Real zero = {0.0}, most = {error};
  Real cross[4];  // at each corner
  bool left = false, right = false, flat = false;
  for (int i = 0; i < 4; ++i) {
    cross[i] = Cross(p[(i + 3) % 4], p[i], p[(i + 1) % 4]);
    left = left || cross[i] > most;
    right = right || cross[i] < -most;
    flat = flat || !(cross[i] > most || cross[i] < -most);
  }
  const bool cut_02 =
      !(cross[1] > zero && cross[3] < zero) && !(cross[1] < zero && cross[3] > zero);
  const int first = cut_02 ? 0 : 1;
  QuadTriangles<Real> result;
  result.stable = !flat || !(left && right);
  for (int t = 0; t < 2; ++t) {
    const Point<Real> a = p[first], b = p[first + 1 + t], c = p[(first + 2 + t) % 4];
    const Real side = cross[(first + 1 + 2 * t) % 4];
    const bool flip = side < zero;
    result.corner[t][0] = a;
    result.corner[t][1] = flip ? c : b;
    result.corner[t][2] = flip ? b : c;
    result.twice_area[t] = flip ? -side : side;
  }
  return result;
}

// Twice the area that two counter-clockwise triangles share: `subject` is cut by the half-plane
// left of each edge of `clip` in turn (Sutherland and Hodgman).
template <class Real>
DETOPS_HD Real TwiceSharedArea(const Point<Real>* subject, const Point<Real>* clip) {  // [3], [3]
  // Exact arithmetic needs 6 corners. Rounding may let a sliver's corners alternate between the
  // sides, and then 3 become at most 4, 6 and 9.
  constexpr int kMaxCorners = 9;
  const Real zero = {0.0};
  Point<Real> polygon[2][kMaxCorners];
  int count = 3, current = 0;
  for (int i = 0; i < 3; ++i) polygon[0][i] = subject[i];

  for (int edge = 0; edge < 3 && count > 0; ++edge) {
    const Point<Real> from = clip[edge], to = clip[(edge + 1) % 3];
    const Point<Real>* in = polygon[current];
    Point<Real>* out = polygon[1 - current];
    int kept = 0;
    Point<Real> a = in[count - 1];
    Real side_a = Cross(from, to, a);
    for (int i = 0; i < count; ++i) {
      const Point<Real> b = in[i];
      const Real side_b = Cross(from, to, b);
      if ((side_a < zero) != (side_b < zero)) {
        const Real t = side_a / (side_a - side_b);
        out[kept++] = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
      }
      if (!(side_b < zero)) out[kept++] = b;
      a = b;
      side_a = side_b;
    }
    count = kept;
    current = 1 - current;
  }

  Real twice_area = zero;
  const Point<Real>* p = polygon[current];
  for (int i = 2; i < count; ++i) twice_area = twice_area + Cross(p[0], p[i - 1], p[i]);
  return twice_area > zero ? twice_area : zero;
}

// Twice the area that two quadrilaterals share, and twice the sum of their areas.
template <class Real>
struct QuadOverlap {
  Real shared, both;
  bool stable;  // as above
};

// Both finite. `error` is as above; all areas are within 50 times that of the true ones.
template <class Real, class Wide>
DETOPS_HD QuadOverlap<Real> MeasureOverlap(const float* a, const float* b, Wide error) {
  const Real zero = {0.0}, origin_x = {a[0]}, origin_y = {a[1]};
  Point<Real> corners_a[4], corners_b[4];
  for (int i = 0; i < 4; ++i) {
    corners_a[i] = {Real{a[2 * i]} - origin_x, Real{a[2 * i + 1]} - origin_y};
    corners_b[i] = {Real{b[2 * i]} - origin_x, Real{b[2 * i + 1]} - origin_y};
  }
  const QuadTriangles<Real> split_a = SplitQuad(corners_a, error);
  const QuadTriangles<Real> split_b = SplitQuad(corners_b, error);
  const Real area_a = split_a.twice_area[0] + split_a.twice_area[1];
  const Real area_b = split_b.twice_area[0] + split_b.twice_area[1];
  Real shared = zero;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (!(split_a.twice_area[i] > zero) || !(split_b.twice_area[j] > zero)) continue;
      shared = shared + TwiceSharedArea(split_b.corner[j], split_a.corner[i]);
    }
  }
  // The triangles of a self-intersecting quadrilateral overlap and may count an area twice.
  const Real smaller = area_a < area_b ? area_a : area_b;
  if (smaller < shared) shared = smaller;
  return {shared, area_a + area_b, split_a.stable && split_b.stable};
}

// The sign of this decides: it is positive exactly where IoU > threshold.
template <class Real>
DETOPS_HD Real Excess(const Real& shared, const Real& both, float threshold) {
  return shared * (Real{1.0} + Real{threshold}) - both * Real{threshold};
}

// IoU > threshold, where the rounding errors of double leave no doubt.
template <class Wide>
DETOPS_HD Verdict CompareInDouble(const float* a, const float* b, float threshold, Wide extent) {
  // A cross product's error is below 1e-15 of the extent, and that of the excess below 5e-13.
  const auto overlap = MeasureOverlap<Wide>(a, b, 1e-14 * extent);
  const Wide excess = Excess(overlap.shared, overlap.both, threshold), error = 1e-12 * extent;
  if (!overlap.stable || !(excess > error || excess < -error)) return Verdict::kDoubtful;
  return excess > 0.0 ? Verdict::kYes : Verdict::kNo;
}

// An excess (of areas, not of twice the areas) below this share of the extent, the area of the
// common bounds, counts as a tie. The errors of double-double are ten thousand times smaller.
constexpr double kTie = 1e-24;

template <class Wide>
DETOPS_HD bool CompareInDoubleDouble(const float* a, const float* b, float threshold, Wide extent) {
  const auto overlap = MeasureOverlap<DoubleDoubleOf<Wide>>(a, b, Wide{0.0});
  return Excess(overlap.shared, overlap.both, threshold) > DoubleDoubleOf<Wide>{2 * kTie * extent};
}

template <class Real>
DETOPS_HD Real BoundsArea(float x1, float y1, float x2, float y2) {
  return (Real{x2} - Real{x1}) * (Real{y2} - Real{y1});
}

// Excess of two upright rectangles, which are their bounds; these share some area.
template <class Real>
DETOPS_HD Real UprightExcess(const QuadBounds& a, const QuadBounds& b, float threshold) {
  const Real shared = BoundsArea<Real>(a.x1 > b.x1 ? a.x1 : b.x1, a.y1 > b.y1 ? a.y1 : b.y1,
                                       a.x2 < b.x2 ? a.x2 : b.x2, a.y2 < b.y2 ? a.y2 : b.y2);
  const Real both =
      BoundsArea<Real>(a.x1, a.y1, a.x2, a.y2) + BoundsArea<Real>(b.x1, b.y1, b.x2, b.y2);
  return Excess(shared, both, threshold);
}

// IoU > threshold for upright rectangles whose bounds share some area. The error in double is below
// 4e-15 of the extent.
template <class Wide = Binary64>
DETOPS_HD bool UprightIoUGreater(const QuadBounds& a, const QuadBounds& b, float threshold) {
  const Wide extent = CommonBoundsArea<Wide>(a, b);
  const Wide excess = UprightExcess<Wide>(a, b, threshold), error = 1e-14 * extent;
  if (excess > error || excess < -error) return excess > 0.0;
  return UprightExcess<DoubleDoubleOf<Wide>>(a, b, threshold) > DoubleDoubleOf<Wide>{kTie * extent};
}

// IoU > threshold. The IoU is 0 when the bounds share no area, when either area is 0, and when a
// coordinate is not finite.
template <class Wide = Binary64>
DETOPS_HD bool QuadIoUGreater(const float* a, const float* b, float threshold) {  // [8], [8]
  if (threshold < 0.0f) return true;
  if (!QuadIsFinite(a) || !QuadIsFinite(b) || !(threshold < 1.0f)) return false;
  const QuadBounds bounds_a = BoundsOf(a), bounds_b = BoundsOf(b);
  if (!BoundsOverlap(bounds_a, bounds_b)) return false;
  if (IsUpright(a) && IsUpright(b)) return UprightIoUGreater<Wide>(bounds_a, bounds_b, threshold);
  const Wide extent = CommonBoundsArea<Wide>(bounds_a, bounds_b);
  const Verdict verdict = CompareInDouble(a, b, threshold, extent);
  return verdict == Verdict::kDoubtful ? CompareInDoubleDouble(a, b, threshold, extent)
                                       : verdict == Verdict::kYes;
}

}  // namespace detops::math
