// SPDX-License-Identifier: Apache-2.0
//
// "Is the IoU of these two quadrilaterals above the threshold?" in float or double, with a bound on
// the error: the answer is yes, no or doubtful, and only doubtful pairs need math::QuadIoUGreater
// (docs/numerics.md derives the bound).
#if defined(DETOPS_MATH_QUAD_PAIR_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_MATH_QUAD_PAIR_H_
#undef DETOPS_MATH_QUAD_PAIR_H_
#else
#define DETOPS_MATH_QUAD_PAIR_H_
#endif

#include "math/lane.h"
#include "math/per_target.h"
#include "math/quad_filter.h"

DETOPS_BEGIN_PER_TARGET_MATH

constexpr int kPairEdges = 8;  // of two quadrilaterals

// What SumClipped needs besides Min and Max; for vectors, cpu/lane-inl.h has it.
DETOPS_HD float Abs(float v) { return v < 0 ? -v : v; }
DETOPS_HD double Abs(double v) { return v < 0 ? -v : v; }
DETOPS_HD float IfNegative(float v, float yes, float no) { return v < 0 ? yes : no; }
DETOPS_HD double IfNegative(double v, double yes, double no) { return v < 0 ? yes : no; }
// Two units in the last place are enough here.
DETOPS_HD float Reciprocal(float v) {
#ifdef __CUDA_ARCH__
  return __fdividef(1.0f, v);
#else
  return 1.0f / v;
#endif
}
DETOPS_HD double Reciprocal(double v) { return 1.0 / v; }

// Of one edge, or of several. Real: float, double, or a vector with one edge per lane.
template <class Real>
struct EdgeSums {
  Real shared;   // twice the shared area
  Real area;     // twice the area of both
  Real error;    // bound on the error of `shared` from cutting edges
  Real nearest;  // the least distance from 0 of the values whose sign decides

  DETOPS_HD void Add(const EdgeSums& more) {
    shared = shared + more.shared;
    area = area + more.area;
    error = error + more.error;
    nearest = Min(more.nearest, nearest);
  }
};

// Green's theorem: the shared area is a sum over the edges of both polygons, each clipped to the
// part inside the other polygon, from t0 to t1.
template <class Real>
DETOPS_HD_HOT EdgeSums<Real> SumClipped(const Point<Real>& from, const Point<Real>& to,
                                        const Point<Real> (&other)[4], Real side_error, Real zero,
                                        Real one) {
  const Real outside = one + one;  // as t0: whatever the errors, nothing is inside
  Real t0 = zero, t1 = one, spread = zero, nearest = zero;
  for (int k = 0; k < 4; ++k) {
    const Point<Real>&c = other[(k + 3) % 4], &next = other[k];
    const Real nx = next.x - c.x, ny = next.y - c.y;
    const Real side0 = nx * (from.y - c.y) - ny * (from.x - c.x);
    const Real side1 = nx * (to.y - c.y) - ny * (to.x - c.x);
    const Real nearer = Min(Abs(side0), Abs(side1));
    nearest = k == 0 ? nearer : Min(nearer, nearest);
    const Real inverse = Reciprocal(side0 - side1);
    const Real t = side0 * inverse, blur = side_error * Abs(inverse);
    t0 = Max(IfNegative(side0, IfNegative(side1, outside, t), zero), t0);
    t1 = Min(IfNegative(side1, t, one), t1);
    spread =
        spread + IfNegative(side0, IfNegative(side1, zero, blur), IfNegative(side1, blur, zero));
  }
  const Real cross = from.x * to.y - from.y * to.x;
  return {Max(t1 - t0, zero) * cross, cross, IfNegative(t0 - outside, spread * Abs(cross), zero),
          nearest};
}

// Two convex quadrilaterals, about a local origin.
template <class Real>
struct QuadPair {
  const FilterQuad& a;
  const FilterQuad& b;
  Real origin_x, origin_y;
  Real side_error;  // bound for a side value; negative where numbers could under- or overflow

  DETOPS_HD_HOT QuadPair(const FilterQuad& quad_a, const FilterQuad& quad_b,
                         const QuadBounds& bounds_a, const QuadBounds& bounds_b)
      : a(quad_a), b(quad_b), origin_x(quad_a.x[0]), origin_y(quad_a.y[0]) {
    const Real width = static_cast<Real>(bounds_a.x2 > bounds_b.x2 ? bounds_a.x2 : bounds_b.x2) -
                       (bounds_a.x1 < bounds_b.x1 ? bounds_a.x1 : bounds_b.x1);
    const Real height = static_cast<Real>(bounds_a.y2 > bounds_b.y2 ? bounds_a.y2 : bounds_b.y2) -
                        (bounds_a.y1 < bounds_b.y1 ? bounds_a.y1 : bounds_b.y1);
    const Real scale = width * width + height * height;
    // The error of a side value is below 8 * 2^-24 scale in float, and 2^-50 scale in double.
    side_error = scale > Real(1e-25) && scale < Real(1e30)
                     ? (sizeof(Real) == sizeof(float) ? Real(1e-6) : Real(1e-12)) * scale
                     : Real(-1);
  }

  // Edges 0 to 3 are those of a, 4 to 7 those of b.
  DETOPS_HD EdgeSums<Real> SumEdge(int edge) const {
    const FilterQuad& own = edge < 4 ? a : b;
    const FilterQuad& other = edge < 4 ? b : a;
    Point<Real> corners[4];
    for (int k = 0; k < 4; ++k) corners[k] = CornerOf(other, k);
    return SumClipped(CornerOf(own, edge % 4), CornerOf(own, (edge + 1) % 4), corners, side_error,
                      Real(0), Real(1));
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
  DETOPS_HD Point<Real> CornerOf(const FilterQuad& quad, int k) const {
    return {quad.x[k] - origin_x, quad.y[k] - origin_y};
  }
};

DETOPS_END_PER_TARGET_MATH

#endif
