// SPDX-License-Identifier: Apache-2.0
//
// The area that two convex polygons of few corners share, for vectors of pairs, in floats or in
// pairs of floats, with a bound on the error: what math/quad_pair.h does for one pair. For kernels
// only. docs/numerics.md derives the bounds.
#pragma once

#include "mlu/wide_vectors.h"

namespace detops::ops::poly_nms_mlu {

using mlu::Arena;
using mlu::Scope;
using mlu::Vec;
using mlu::WideVec;

// Coordinates are scaled by powers of 2, each axis by its own, so that bounds are between 1 and 2
// wide and high: a quarter of them is multiplied by this. Returns that factor, and sets `fits` to 0
// for bounds that are so small that this might be inexact.
__mlu_func__ Vec ScaleOf(Vec low, Vec high, Vec fits) {
  const Vec scale = high * 0.25f - low * 0.25f;
  __bang_band_scalar(scale.Bits(), scale.Bits(), int32_t{0x7f800000}, scale.count);
  const Vec enough = scale > 0x1p-100f;
  __bang_and(fits.data, fits.data, enough.data, fits.count);
  // The reciprocal of a power of 2.
  __bang_mul_scalar(scale.Bits(), scale.Bits(), int32_t{-1}, scale.count);
  __bang_add_scalar(scale.Bits(), scale.Bits(), int32_t{0x7f000000}, scale.count);
  return scale;
}
// Of a length that is scaled.
__mlu_func__ Vec ScaledDifference(Vec a, Vec b, Vec scale) {
  return (a * 0.25f - b * 0.25f) * scale;
}

// Both polygons of `count` pairs, counter-clockwise: [corners + 1, 2, count], where the first
// corner comes again at the end. Scaled so that the common bounds are less than 2 wide and 2 high.
struct Outlines {
  Vec x, y;              // polygon a, then b
  Vec other_x, other_y;  // b, then a
  int count;
};

// Twice the area that is shared, twice the area of both, and what the error depends on.
template <class Real>
struct ClipSums {
  Real shared, both;
  Vec spread;   // the sum over the edges of: twice the area per error of a side, where they are cut
  Vec nearest;  // the least distance from 0 of the values whose sign decides
};

// Green's theorem: the shared area is a sum over the edges of both polygons, each clipped to the
// part inside the other polygon. An edge from a side s0 of a line to a side s1 of it loses the part
// max(-s0, 0) / (|s0| + |s1|) at its begin, max(-s1, 0) / (|s0| + |s1|) at its end: nothing where
// both are positive, and all of it where both are negative.
template <class Real>
struct ClippedEdges {
  Real begin, end;  // twice what is lost there: [corners, 2, count]
  Vec spread;       // the largest reciprocal of |s0| + |s1| of lines that cut the edge
  Vec inner;        // the least of the larger sides: negative where all of it is outside of a line
  Vec nearest;      // of each corner, the least distance from 0 of its sides
};

struct FloatMath {
  using Real = Vec;
  // The error of a side is less than half of this, times the area of the common bounds.
  static constexpr float kSideError = 1e-6f;
  // How many times that all errors are that do not come from cuts, at most.
  static constexpr float kConvexErrors = 32.0f, kTriangleErrors = 128.0f;

  static __mlu_func__ Vec Leading(Vec v) { return v; }
  static __mlu_func__ Vec Zeros(Arena* arena, int count) { return mlu::Filled(arena, count, 0.0f); }
  static __mlu_func__ Vec Difference(Vec a, Vec b) { return mlu::CycleSub(a, b); }
  static __mlu_func__ void Set(Vec to, Vec from) {
    __bang_move(to.data, from.data, to.count * sizeof(float));
  }

  // Cuts all edges by the line from corner k of the other polygon. Most of the time of this
  // operator is spent here: independent instructions alternate, so that few wait for the one
  // before.
  static __mlu_func__ void Cut(const Outlines& o, int k, const ClippedEdges<Vec>& e) {
    const Scope scope(o.x.arena);
    const int pairs = 2 * o.count, points = o.x.count, edges = points - pairs;
    const float* const line_x = o.other_x.data + k * pairs;
    const float* const line_y = o.other_y.data + k * pairs;
    float* const edge_x = o.x.arena->New(pairs).data;
    float* const edge_y = o.x.arena->New(pairs).data;
    float* const side = o.x.arena->New(points).data;
    float* const size = o.x.arena->New(points).data;
    float* const outside = o.x.arena->New(points).data;
    float* const inverse = o.x.arena->New(edges).data;
    float* const part = size;  // once it is not needed any more
    __bang_sub(edge_x, line_x + pairs, line_x, pairs);
    __bang_sub(edge_y, line_y + pairs, line_y, pairs);
    __bang_cycle_sub(side, o.y.data, line_y, points, pairs);
    __bang_cycle_sub(size, o.x.data, line_x, points, pairs);
    __bang_cycle_mul(side, side, edge_x, points, pairs);
    __bang_cycle_mul(size, size, edge_y, points, pairs);
    __bang_sub(side, side, size, points);
    __bang_abs(size, side, points);
    __bang_mul(outside, side, side + pairs, edges);  // negative where the line cuts the edge
    __bang_add(inverse, size, size + pairs, edges);
    __bang_minequal(e.nearest.data, e.nearest.data, size, points);
    __bang_recip(inverse, inverse, edges);
    __bang_lt_scalar(outside, outside, 0.0f, edges);
    __bang_mul(outside, outside, inverse, edges);
    __bang_maxequal(e.spread.data, e.spread.data, outside, edges);
    __bang_sub(outside, size, side, points);
    __bang_maxequal(part, side, side + pairs, edges);
    __bang_mul(side, outside, inverse, edges);
    __bang_minequal(e.inner.data, e.inner.data, part, edges);
    __bang_maxequal(e.begin.data, e.begin.data, side, edges);
    __bang_mul(part, outside + pairs, inverse, edges);
    __bang_maxequal(e.end.data, e.end.data, part, edges);
  }
  // What is left of edges.
  static __mlu_func__ Vec Left(const ClippedEdges<Vec>& e) {
    const Vec left = e.begin + e.end;
    __bang_mul_scalar(left.data, left.data, -0.5f, left.count);
    __bang_add_scalar(left.data, left.data, 1.0f, left.count);
    __bang_maxequal_scalar(left.data, left.data, 0.0f, left.count);
    return left;
  }
};

struct WideMath {
  using Real = WideVec;
  static constexpr float kSideError = 0x1p-42f;
  static constexpr float kConvexErrors = 128.0f, kTriangleErrors = 512.0f;

  static __mlu_func__ Vec Leading(const WideVec& v) { return v.hi; }
  static __mlu_func__ WideVec Zeros(Arena* arena, int count) {
    return {mlu::Filled(arena, count, 0.0f), mlu::Filled(arena, count, 0.0f)};
  }
  static __mlu_func__ WideVec Difference(Vec a, Vec b) { return mlu::CycleDifference(a, b); }
  static __mlu_func__ void Set(const WideVec& to, const WideVec& from) {
    FloatMath::Set(to.hi, from.hi);
    FloatMath::Set(to.lo, from.lo);
  }

  static __mlu_func__ void Cut(const Outlines& o, int k, const ClippedEdges<WideVec>& e) {
    const Scope scope(o.x.arena);
    const int pairs = 2 * o.count, points = o.x.count, edges = points - pairs;
    const Vec line_x = o.other_x.Part(k * pairs, pairs), line_y = o.other_y.Part(k * pairs, pairs);
    const Vec next_x = o.other_x.Part((k + 1) * pairs, pairs);
    const Vec next_y = o.other_y.Part((k + 1) * pairs, pairs);
    const WideVec edge_x = Difference(next_x, line_x), edge_y = Difference(next_y, line_y);
    const WideVec dx = Difference(o.x, line_x), dy = Difference(o.y, line_y);
    const WideVec left = CycleMul(dy, edge_x), right = CycleMul(dx, edge_y);
    const WideVec side = left - right;
    const WideVec size = Abs(side);
    {
      const Scope inner_scope(o.x.arena);
      // Its own bound of the error of each side: 2^-44 of the products.
      const Vec most = (Abs(left.hi) + Abs(right.hi)) * 0x1p-42f;
      const Vec certain = size.hi > most;
      const Vec zero = CertainlyZero(o, side.hi, dx.lo, dy.lo, edge_x.lo, edge_y.lo, k);
      // Sides that are certainly 0 get the sign that they have once polygons b are moved by (d,
      // d^2) for a d > 0 that is as small as one likes, which changes the shared area as little.
      const Vec flat = edge_y.hi == 0.0f, downward = edge_x.hi * -1.0f;
      const Vec sign = mlu::Select(flat, downward, edge_y.hi);
      __bang_sign(sign.data, sign.data, pairs);
      __bang_mul_scalar(sign.data, sign.data, 0x1p-70f, o.count);
      __bang_mul_scalar(sign.data + o.count, sign.data + o.count, -0x1p-70f, o.count);
      const Vec moved = mlu::CycleMul(zero, sign);
      __bang_add(side.hi.data, side.hi.data, moved.data, points);
      const Vec distance = (certain | zero) * 8.0f + size.hi;
      __bang_minequal(e.nearest.data, e.nearest.data, distance.data, points);
      __bang_abs(size.hi.data, side.hi.data, points);
    }
    const WideVec outside = size - side;
    const WideVec inverse = Reciprocal(size.Part(0, edges) + size.Part(pairs, edges));
    Set(e.begin, Max(e.begin, outside.Part(0, edges) * inverse));
    Set(e.end, Max(e.end, outside.Part(pairs, edges) * inverse));
    const Vec s0 = side.hi.Part(0, edges), s1 = side.hi.Part(pairs, edges);
    const Vec cut = ((s0 * s1) < 0.0f) * inverse.hi, larger = Max(s0, s1);
    __bang_maxequal(e.spread.data, e.spread.data, cut.data, edges);
    __bang_minequal(e.inner.data, e.inner.data, larger.data, edges);
  }
  static __mlu_func__ WideVec Left(const ClippedEdges<WideVec>& e) {
    const WideVec lost = (e.begin + e.end) * -0.5f;
    const WideVec zero = Zeros(lost.hi.arena, lost.hi.count);
    const WideVec one = {zero.hi + 1.0f, zero.lo};
    return Max(one + lost, zero);
  }

 private:
  // Where sides are 0 and that is exact: the corner is one of the line's two, or all factors are
  // floats, of which products are.
  static __mlu_func__ Vec CertainlyZero(const Outlines& o, Vec side, Vec dx_rest, Vec dy_rest,
                                        Vec edge_x_rest, Vec edge_y_rest, int k) {
    const int pairs = 2 * o.count;
    const Vec rest = Abs(dx_rest) + Abs(dy_rest), edge_rest = Abs(edge_x_rest) + Abs(edge_y_rest);
    __bang_cycle_add(rest.data, rest.data, edge_rest.data, rest.count, pairs);
    const Vec exact = rest == 0.0f;
    for (int end = k; end <= k + 1; ++end) {
      const Vec dx = Abs(mlu::CycleSub(o.x, o.other_x.Part(end * pairs, pairs)));
      const Vec dy = Abs(mlu::CycleSub(o.y, o.other_y.Part(end * pairs, pairs)));
      const Vec touches = (dx + dy) == 0.0f;
      __bang_or(exact.data, exact.data, touches.data, exact.count);
    }
    return exact & (side == 0.0f);
  }
};

template <class Math, int kCorners>
__mlu_func__ ClipSums<typename Math::Real> Clip(const Outlines& o) {
  using Real = typename Math::Real;
  Arena* const arena = o.x.arena;
  const int pairs = 2 * o.count, points = (kCorners + 1) * pairs, edges = kCorners * pairs;
  const ClippedEdges<Real> e = {Math::Zeros(arena, edges), Math::Zeros(arena, edges),
                                mlu::Filled(arena, edges, 0.0f), mlu::Filled(arena, edges, 8.0f),
                                mlu::Filled(arena, points, 8.0f)};
#pragma unroll 1
  for (int k = 0; k < kCorners; ++k) Math::Cut(o, k, e);
  // Nothing is doubtful about edges that are certainly outside: the common bounds are below 4.
  const Vec outer = e.inner < -8.0f * Math::kSideError;
  const Vec nearest = Min(e.nearest.Part(0, edges), e.nearest.Part(pairs, edges)) + outer * 8.0f;
  // About the first corner of a.
  const Real x = Math::Difference(o.x, o.x.Part(0, o.count));
  const Real y = Math::Difference(o.y, o.y.Part(0, o.count));
  const Real cross =
      x.Part(0, edges) * y.Part(pairs, edges) - y.Part(0, edges) * x.Part(pairs, edges);
  const Vec spread = (e.spread * Not(outer)) * Abs(Math::Leading(cross));
  const Real part = Math::Left(e) * cross;
  return {SumOfRows(part, 2 * kCorners), SumOfRows(cross, 2 * kCorners),
          SumOfRows(spread, 2 * kCorners), MinOfRows(nearest, 2 * kCorners)};
}

// Corners by columns of floats, `stride` apart: x of the four and y of them, of a and then of b.
struct QuadColumns {
  Arena* arena;
  float* data;
  int stride, count;

  __mlu_func__ Vec At(int i) const { return {arena, data + i * stride, count}; }
};

// Of polygons whose corners are given as x and then y, for a and for b.
template <class Math, int kCorners>
__mlu_func__ ClipSums<typename Math::Real> ClipPolygons(Arena* arena, const Vec* a, const Vec* b) {
  const int count = a[0].count, size = count * sizeof(float);
  const int points = 2 * (kCorners + 1) * count;
  const Outlines o = {arena->New(points), arena->New(points), arena->New(points),
                      arena->New(points), count};
  for (int v = 0; v <= kCorners; ++v) {
    const int corner = v < kCorners ? v : 0;
    const int at = 2 * v * count;
    __bang_move(o.x.data + at, a[corner].data, size);
    __bang_move(o.x.data + at + count, b[corner].data, size);
    __bang_move(o.y.data + at, a[kCorners + corner].data, size);
    __bang_move(o.y.data + at + count, b[kCorners + corner].data, size);
    __bang_move(o.other_x.data + at, b[corner].data, size);
    __bang_move(o.other_x.data + at + count, a[corner].data, size);
    __bang_move(o.other_y.data + at, b[kCorners + corner].data, size);
    __bang_move(o.other_y.data + at + count, a[kCorners + corner].data, size);
  }
  return Clip<Math, kCorners>(o);
}

// Both convex and counter-clockwise.
template <class Math>
__mlu_func__ ClipSums<typename Math::Real> ClipConvex(const QuadColumns& columns) {
  Vec a[8] = {columns.At(0), columns.At(1), columns.At(2), columns.At(3),
              columns.At(4), columns.At(5), columns.At(6), columns.At(7)};
  Vec b[8] = {columns.At(8),  columns.At(9),  columns.At(10), columns.At(11),
              columns.At(12), columns.At(13), columns.At(14), columns.At(15)};
  return ClipPolygons<Math, 4>(columns.arena, a, b);
}

// Each by triangles 0 1 2 and 0 2 3, of which the second is clockwise where `flip` says so.
template <class Math>
__mlu_func__ ClipSums<typename Math::Real> ClipTriangles(const QuadColumns& columns, Vec flip_a,
                                                         Vec flip_b) {
  using Real = typename Math::Real;
  Arena* const arena = columns.arena;
  const auto at = [&](int i) { return columns.At(i); };
  // The second triangles.
  const Vec a[2][6] = {{at(0), at(1), at(2), at(4), at(5), at(6)},
                       {at(0), Select(flip_a, at(3), at(2)), Select(flip_a, at(2), at(3)), at(4),
                        Select(flip_a, at(7), at(6)), Select(flip_a, at(6), at(7))}};
  const Vec b[2][6] = {{at(8), at(9), at(10), at(12), at(13), at(14)},
                       {at(8), Select(flip_b, at(11), at(10)), Select(flip_b, at(10), at(11)),
                        at(12), Select(flip_b, at(15), at(14)), Select(flip_b, at(14), at(15))}};
  const auto area = [&](const Vec* corner) -> Real {
    const auto difference = [&](int i, int from) {
      return Math::Difference(corner[i], corner[from]);
    };
    return difference(1, 0) * difference(5, 3) - difference(4, 3) * difference(2, 0);
  };
  const Real area_a = area(a[0]) + area(a[1]), area_b = area(b[0]) + area(b[1]);
  const Real both = area_a + area_b;
  const Real shared = Math::Zeros(arena, columns.count);
  const Vec spread = mlu::Filled(arena, columns.count, 0.0f);
  const Vec nearest = mlu::Filled(arena, columns.count, 8.0f);
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    const Scope scope(arena);
    const ClipSums<Real> more = ClipPolygons<Math, 3>(arena, a[i / 2], b[i % 2]);
    Math::Set(shared, shared + more.shared);
    FloatMath::Set(spread, spread + more.spread);
    FloatMath::Set(nearest, Min(nearest, more.nearest));
  }
  // Triangles of an outline that intersects itself overlap and may count an area twice.
  return {Min(shared, Min(area_a, area_b)), both, spread, nearest};
}

}  // namespace detops::ops::poly_nms_mlu
