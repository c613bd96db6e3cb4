// SPDX-License-Identifier: Apache-2.0
//
// The area that two convex polygons of few corners share, for vectors of pairs, in float or in pairs
// of floats, with a bound on the error: what math/quad_pair.h does for one pair. For kernels only.
// docs/numerics.md derives the bounds.
#pragma once

#include "mlu/wide_vectors.h"

namespace detops::ops::poly_nms_mlu {

using mlu::Pool;
using mlu::Span;
using mlu::Vec;
using mlu::WideSpan;
using mlu::WideVec;

// Coordinates are scaled by powers of 2, each axis by its own, so that bounds are between 1 and 2
// wide and high: a quarter of them is multiplied by this. Returns that factor, and sets `fits` to 0
// for bounds that are so small that this might be inexact.
__mlu_func__ Vec ScaleOf(Span low, Span high, Span fits) {
  Vec scale = high * 0.25f - low * 0.25f;
  int32_t* const bits = reinterpret_cast<int32_t*>(scale.data);
  __bang_band_scalar(bits, bits, int32_t{0x7f800000}, scale.count);
  const Vec enough = scale > 0x1p-100f;
  __bang_and(fits.data, fits.data, enough.data, fits.count);
  // The reciprocal of a power of 2.
  __bang_mul_scalar(bits, bits, int32_t{-1}, scale.count);
  __bang_add_scalar(bits, bits, int32_t{0x7f000000}, scale.count);
  return scale;
}
// Of a length that is scaled.
__mlu_func__ Vec ScaledDifference(Span a, Span b, Span scale) {
  return (a * 0.25f - b * 0.25f) * scale;
}

// Both polygons of `count` pairs, counter-clockwise: [corners + 1, 2, count], where the first corner
// comes again at the end. Scaled so that the common bounds are less than 2 wide and 2 high.
struct Outlines {
  Span x, y;                // polygon a, then b
  Span other_x, other_y;    // b, then a
};

// Twice the area that is shared, twice the area of both, and what the error depends on.
template <class Real>
struct ClipSums {
  Real shared, both;
  Vec spread;   // the sum over the edges of: twice the area per error of a side, where they are cut
  Vec nearest;  // the least distance from 0 of the values whose sign decides
};

// What differs between the two kinds of numbers.
struct FloatMath {
  // The error of a side is less than half of this, times the area of the common bounds.
  static constexpr float kSideError = 1e-6f;
  // How many times that all errors are that do not come from cuts, at most.
  static constexpr float kConvexErrors = 32.0f, kTriangleErrors = 128.0f;

  using Real = Vec;
  using View = Span;
  static __mlu_func__ Span Leading(const View& v) { return v; }
  static __mlu_func__ View Part(const View& v, int begin, int count) { return v.Part(begin, count); }
  static __mlu_func__ Vec Difference(Span a, Span b) { return mlu::CycleSub(a, b); }
  // What is left of edges that lost the halves of these.
  static __mlu_func__ Vec Kept(Span begin, Span end) {
    Vec left = begin + end;
    __bang_mul_scalar(left.data, left.data, -0.5f, left.count);
    __bang_add_scalar(left.data, left.data, 1.0f, left.count);
    __bang_maxequal_scalar(left.data, left.data, 0.0f, left.count);
    return left;
  }
  // Signs of values near 0 are doubtful.
  static __mlu_func__ void Perturb(Vec&, Vec&, const Vec&, const Vec&, const Vec&, const Vec&,
                                   const Outlines&, int, int) {}
};

struct WideMath {
  static constexpr float kSideError = 0x1p-42f;
  static constexpr float kConvexErrors = 128.0f, kTriangleErrors = 512.0f;

  using Real = WideVec;
  using View = WideSpan;
  static __mlu_func__ Span Leading(const View& v) { return v.hi; }
  static __mlu_func__ View Part(const View& v, int begin, int count) { return v.Part(begin, count); }
  static __mlu_func__ WideVec Difference(Span a, Span b) { return mlu::CycleDifference(a, b); }

  static __mlu_func__ WideVec Kept(const WideSpan& begin, const WideSpan& end) {
    const WideVec lost = (begin + end) * -0.5f;
    const Vec one = mlu::Filled(lost.hi.pool, lost.hi.count, 1.0f);
    const Vec zero = mlu::Filled(lost.hi.pool, lost.hi.count, 0.0f);
    return Max(WideSpan(one, zero) + WideSpan(lost), WideSpan(zero, zero));
  }
  // Sides that are certainly 0 get the sign that they have once the second polygons are moved by
  // (d, d^2), for a d > 0 that is as small as one likes: which changes the shared area as little.
  static __mlu_func__ void Perturb(WideVec& side, Vec& nearest, const WideVec& dx,
                                   const WideVec& dy, const WideVec& edge_x,
                                   const WideVec& edge_y, const Outlines& outlines, int corner,
                                   int count) {
    const Vec zero = side.hi == 0.0f;
    // Certain where the corner is one of the edge's, or where all factors are floats.
    const int pairs = 2 * count;
    Vec certain = Touches(outlines, corner * pairs, pairs);
    {
      const Vec next = Touches(outlines, (corner + 1) * pairs, pairs);
      __bang_or(certain.data, certain.data, next.data, certain.count);
      Vec rest = Abs(dx.lo) + Abs(dy.lo);
      const Vec edge_rest = Abs(edge_x.lo) + Abs(edge_y.lo);
      __bang_cycle_add(rest.data, rest.data, edge_rest.data, rest.count, edge_rest.count);
      const Vec whole = rest == 0.0f;
      __bang_or(certain.data, certain.data, whole.data, certain.count);
      __bang_and(certain.data, certain.data, zero.data, certain.count);
    }
    const Vec flat = edge_y.hi == 0.0f, downward = edge_x.hi * -1.0f;
    Vec sign = Select(flat, downward, edge_y.hi);
    __bang_sign(sign.data, sign.data, sign.count);
    __bang_mul_scalar(sign.data, sign.data, 0x1p-70f, count);
    __bang_mul_scalar(sign.data + count, sign.data + count, -0x1p-70f, count);
    // Where it is certain, the side is 0 so far.
    const Vec moved = mlu::CycleMul(certain, sign);
    __bang_add(side.hi.data, side.hi.data, moved.data, moved.count);
    __bang_add(nearest.data, nearest.data, certain.data, certain.count);
  }

 private:
  // Where corners are the ones at `at` of the other polygon.
  static __mlu_func__ Vec Touches(const Outlines& outlines, int at, int pairs) {
    const Span x = outlines.other_x.Part(at, pairs), y = outlines.other_y.Part(at, pairs);
    Vec dx = mlu::CycleSub(outlines.x, x);
    const Vec dy = mlu::CycleSub(outlines.y, y);
    __bang_abs(dx.data, dx.data, dx.count);
    __bang_abs(dy.data, dy.data, dy.count);
    __bang_add(dx.data, dx.data, dy.data, dx.count);
    __bang_eq_scalar(dx.data, dx.data, 0.0f, dx.count);
    return dx;
  }
};

// Green's theorem: the shared area is a sum over the edges of both polygons, each clipped to the
// part inside the other polygon. An edge from a side s0 of a line to a side s1 of it loses the part
// max(-s0, 0) / (|s0| + |s1|) at its begin, max(-s1, 0) / (|s0| + |s1|) at its end: nothing where
// both are positive, and all of it where both are negative.
template <class Math, int kCorners>
__mlu_func__ ClipSums<typename Math::Real> Clip(const Outlines& outlines, int count) {
  using Real = typename Math::Real;
  using View = typename Math::View;
  Pool* const pool = outlines.x.pool;
  const int pairs = 2 * count, points = (kCorners + 1) * pairs, edges = kCorners * pairs;
  // Of edges: twice what is lost at each end, and the largest reciprocal of a line that cuts it.
  Real begin = Math::Difference(outlines.x.Part(0, edges), outlines.x.Part(0, edges));
  Real end = Math::Difference(outlines.x.Part(0, edges), outlines.x.Part(0, edges));
  Vec spread = mlu::Filled(pool, edges, 0.0f), nearest = mlu::Filled(pool, points, 8.0f);
  Vec inner = mlu::Filled(pool, edges, 8.0f);  // negative where all of an edge is outside of a line
#pragma unroll 1
  for (int k = 0; k < kCorners; ++k) {
    const Span line_x = outlines.other_x.Part(k * pairs, pairs);
    const Span line_y = outlines.other_y.Part(k * pairs, pairs);
    const Real edge_x = Math::Difference(outlines.other_x.Part((k + 1) * pairs, pairs), line_x);
    const Real edge_y = Math::Difference(outlines.other_y.Part((k + 1) * pairs, pairs), line_y);
    Vec distance(pool, points);
    const Real side = [&] {
      const Real dx = Math::Difference(outlines.x, line_x);
      const Real dy = Math::Difference(outlines.y, line_y);
      Real result = CycleMul(dy, edge_x) - CycleMul(dx, edge_y);
      __bang_abs(distance.data, Math::Leading(result).data, points);
      Math::Perturb(result, distance, dx, dy, edge_x, edge_y, outlines, k, count);
      return result;
    }();
    __bang_minequal(nearest.data, nearest.data, distance.data, points);
    const Real size = Abs(side);
    const Real outside = size - side;
    const View sizes = size, sides = side, outsides = outside;
    const Real inverse =
        Reciprocal(Math::Part(sizes, 0, edges) + Math::Part(sizes, pairs, edges));
    begin = Max(begin, Math::Part(outsides, 0, edges) * inverse);
    end = Max(end, Math::Part(outsides, pairs, edges) * inverse);
    // Where the line cuts the edge.
    const Span leading = Math::Leading(sides);
    const Vec cut = Max(leading.Part(0, edges), leading.Part(pairs, edges));
    __bang_minequal(inner.data, inner.data, cut.data, edges);
    __bang_mul(cut.data, leading.data, leading.data + pairs, edges);
    __bang_lt_scalar(cut.data, cut.data, 0.0f, edges);
    __bang_mul(cut.data, cut.data, Math::Leading(inverse).data, edges);
    __bang_maxequal(spread.data, spread.data, cut.data, edges);
  }
  // About the first corner of a.
  const Span origin_x = outlines.x.Part(0, count), origin_y = outlines.y.Part(0, count);
  const Real cross = [&] {
    const Real x = Math::Difference(outlines.x, origin_x);
    const Real y = Math::Difference(outlines.y, origin_y);
    const View xs = x, ys = y;
    return Math::Part(xs, 0, edges) * Math::Part(ys, pairs, edges) -
           Math::Part(ys, 0, edges) * Math::Part(xs, pairs, edges);
  }();
  Real shared = SumOfRows(Math::Kept(begin, end) * cross, 2 * kCorners);
  Real both = SumOfRows(cross, 2 * kCorners);
  const Vec size = Abs(Math::Leading(cross));
  // Nothing is doubtful about edges that are certainly outside: the common bounds are below 4.
  __bang_lt_scalar(inner.data, inner.data, -8.0f * Math::kSideError, edges);
  const Vec relevant = Min(nearest.Part(0, edges), nearest.Part(pairs, edges)) + inner * 8.0f;
  __bang_not(inner.data, inner.data, edges);
  __bang_mul(spread.data, spread.data, inner.data, edges);
  __bang_mul(spread.data, spread.data, size.data, edges);
  return {static_cast<Real&&>(shared), static_cast<Real&&>(both),
          SumOfRows(spread, 2 * kCorners), MinOfRows(relevant, 2 * kCorners)};
}

// Outlines by columns of floats, `stride` apart: x of the four corners and y of them, of a and then
// of b.
struct QuadColumns {
  Pool* pool;
  float* data;
  int stride, count;

  __mlu_func__ Span At(int i) const { return {pool, data + i * stride, count}; }
};

// Of polygons whose corners are given as x and then y, for a and for b.
template <class Math, int kCorners>
__mlu_func__ ClipSums<typename Math::Real> ClipPolygons(Pool* pool, const float* const* a,
                                                        const float* const* b, int count) {
  constexpr int kRows = 2 * (kCorners + 1);
  const Vec x(pool, kRows * count), y(pool, kRows * count);
  const Vec other_x(pool, kRows * count), other_y(pool, kRows * count);
  for (int v = 0; v <= kCorners; ++v) {
    const int corner = v % kCorners;
    const int size = count * sizeof(float);
    for (int axis = 0; axis < 2; ++axis) {
      float* const to = (axis == 0 ? x : y).data + 2 * v * count;
      float* const other = (axis == 0 ? other_x : other_y).data + 2 * v * count;
      const float* const from_a = a[axis * kCorners + corner];
      const float* const from_b = b[axis * kCorners + corner];
      __bang_move(to, from_a, size);
      __bang_move(to + count, from_b, size);
      __bang_move(other, from_b, size);
      __bang_move(other + count, from_a, size);
    }
  }
  return Clip<Math, kCorners>({x, y, other_x, other_y}, count);
}

// Both convex and counter-clockwise.
template <class Math>
__mlu_func__ ClipSums<typename Math::Real> ClipConvex(const QuadColumns& columns) {
  const float *a[8], *b[8];
  for (int i = 0; i < 8; ++i) {
    a[i] = columns.At(i).data;
    b[i] = columns.At(8 + i).data;
  }
  return ClipPolygons<Math, 4>(columns.pool, a, b, columns.count);
}

// Each by triangles 0 1 2 and 0 2 3, of which the second is clockwise where `flip` says so.
template <class Math>
__mlu_func__ ClipSums<typename Math::Real> ClipTriangles(const QuadColumns& columns, Span flip_a,
                                                         Span flip_b) {
  using Real = typename Math::Real;
  const int count = columns.count;
  // The second triangles' corners.
  const Vec ax2 = Select(flip_a, columns.At(3), columns.At(2));
  const Vec ax3 = Select(flip_a, columns.At(2), columns.At(3));
  const Vec ay2 = Select(flip_a, columns.At(7), columns.At(6));
  const Vec ay3 = Select(flip_a, columns.At(6), columns.At(7));
  const Vec bx2 = Select(flip_b, columns.At(11), columns.At(10));
  const Vec bx3 = Select(flip_b, columns.At(10), columns.At(11));
  const Vec by2 = Select(flip_b, columns.At(15), columns.At(14));
  const Vec by3 = Select(flip_b, columns.At(14), columns.At(15));
  const auto at = [&](int i) -> const float* { return columns.At(i).data; };
  const float* const a[2][6] = {{at(0), at(1), at(2), at(4), at(5), at(6)},
                                {at(0), ax2.data, ax3.data, at(4), ay2.data, ay3.data}};
  const float* const b[2][6] = {{at(8), at(9), at(10), at(12), at(13), at(14)},
                                {at(8), bx2.data, bx3.data, at(12), by2.data, by3.data}};
  const auto area = [&](const float* const* corner) -> Real {
    const auto difference = [&](int i, int from) {
      return Math::Difference(Span{columns.pool, const_cast<float*>(corner[i]), count},
                              Span{columns.pool, const_cast<float*>(corner[from]), count});
    };
    return difference(1, 0) * difference(5, 3) - difference(4, 3) * difference(2, 0);
  };
  const Real area_a = area(a[0]) + area(a[1]), area_b = area(b[0]) + area(b[1]);
  ClipSums<Real> sums = ClipPolygons<Math, 3>(columns.pool, a[0], b[0], count);
#pragma unroll 1
  for (int i = 1; i < 4; ++i) {
    const ClipSums<Real> more =
        ClipPolygons<Math, 3>(columns.pool, a[i / 2], b[i % 2], count);
    sums.shared = sums.shared + more.shared;
    sums.spread = sums.spread + more.spread;
    sums.nearest = Min(sums.nearest, more.nearest);
  }
  // Triangles of an outline that intersects itself overlap and may count an area twice.
  sums.shared = Min(sums.shared, Min(area_a, area_b));
  sums.both = area_a + area_b;
  return sums;
}

}  // namespace detops::ops::poly_nms_mlu
