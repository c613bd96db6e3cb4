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
  return (a * scale - b * scale) * 0.25f;
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
  Vec size;     // the sum over the edges of the sizes of their parts of the area, whole
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
  // Of an edge's part of the area, all errors that are relative to it.
  static constexpr float kPartError = 1.5e-6f;

  static __mlu_func__ Vec Leading(Vec v) { return v; }
  static __mlu_func__ Vec Zeros(Arena* arena, int count) { return mlu::Filled(arena, count, 0.0f); }
  static __mlu_func__ Vec Difference(Vec a, Vec b) { return mlu::CycleSub(a, b); }
  static __mlu_func__ void Set(Vec to, Vec from) {
    __bang_move(to.data, from.data, to.count * sizeof(float));
  }

  template <int kCorners>
  static __mlu_func__ ClippedEdges<Vec> Cut(const Outlines& o) {
    Arena* const arena = o.x.arena;
    const int points = o.x.count, edges = points - 2 * o.count;
    const ClippedEdges<Vec> e = {mlu::Filled(arena, edges, 0.0f), mlu::Filled(arena, edges, 0.0f),
                                 mlu::Filled(arena, edges, 0.0f), mlu::Filled(arena, edges, 8.0f),
                                 mlu::Filled(arena, points, 8.0f)};
#pragma unroll 1
    for (int k = 0; k < kCorners; ++k) CutByLine(o, k, e);
    return e;
  }
  // What is left of edges.
  static __mlu_func__ Vec Left(const ClippedEdges<Vec>& e) {
    const Vec left = e.begin + e.end;
    __bang_mul_scalar(left.data, left.data, -0.5f, left.count);
    __bang_add_scalar(left.data, left.data, 1.0f, left.count);
    __bang_maxequal_scalar(left.data, left.data, 0.0f, left.count);
    return left;
  }

 private:
  // Cuts all edges by the line from corner k of the other polygon. Most of the time of this
  // operator is spent here: independent instructions alternate, so that few wait for the one
  // before.
  static __mlu_func__ void CutByLine(const Outlines& o, int k, const ClippedEdges<Vec>& e) {
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
};

struct WideMath {
  using Real = WideVec;
  static constexpr float kSideError = 0x1p-42f;
  static constexpr float kPartError = 0x1p-38f;

  static __mlu_func__ Vec Leading(const WideVec& v) { return v.hi; }
  static __mlu_func__ WideVec Zeros(Arena* arena, int count) {
    return {mlu::Filled(arena, count, 0.0f), mlu::Filled(arena, count, 0.0f)};
  }
  static __mlu_func__ WideVec Difference(Vec a, Vec b) { return mlu::CycleDifference(a, b); }
  static __mlu_func__ void Set(const WideVec& to, const WideVec& from) {
    FloatMath::Set(to.hi, from.hi);
    FloatMath::Set(to.lo, from.lo);
  }

  // All lines at once, [corners, corners + 1, 2, count]: pairs that come here are few. The last
  // part of each line has no meaning where two corners are needed.
  template <int kCorners>
  static __mlu_func__ ClippedEdges<WideVec> Cut(const Outlines& o) {
    Arena* const arena = o.x.arena;
    const int pairs = 2 * o.count, points = o.x.count, edges = points - pairs;
    const int all = kCorners * points;
    const WideVec begin = mlu::NewWide(arena, edges), end = mlu::NewWide(arena, edges);
    const Vec spread = arena->New(edges), inner = arena->New(edges), nearest = arena->New(points);
    const Scope scope(arena);
    const WideVec side = mlu::NewWide(arena, all), size = mlu::NewWide(arena, all);
    const Vec distance = arena->New(all);
    FindSides<kCorners>(o, side, size, distance);
    const WideVec outside = size - side;
    const int last = all - pairs;
    const WideVec inverse = Reciprocal(size.Part(0, last) + size.Part(pairs, last));
    Reduce<kCorners>(outside.Part(0, last) * inverse, points, begin);
    Reduce<kCorners>(outside.Part(pairs, last) * inverse, points, end);
    const Vec s0 = side.hi.Part(0, last), s1 = side.hi.Part(pairs, last);
    const Vec cut = ((s0 * s1) < 0.0f) * inverse.hi, larger = Max(s0, s1);
    FloatMath::Set(spread, cut.Part(0, edges));
    FloatMath::Set(inner, larger.Part(0, edges));
    FloatMath::Set(nearest, distance.Part(0, points));
    for (int k = 1; k < kCorners; ++k) {
      const int at = k * points;
      __bang_maxequal(spread.data, spread.data, cut.data + at, edges);
      __bang_minequal(inner.data, inner.data, larger.data + at, edges);
      __bang_minequal(nearest.data, nearest.data, distance.data + at, points);
    }
    return {begin, end, spread, inner, nearest};
  }
  static __mlu_func__ WideVec Left(const ClippedEdges<WideVec>& e) {
    const WideVec lost = (e.begin + e.end) * -0.5f;
    const WideVec zero = Zeros(lost.hi.arena, lost.hi.count);
    const WideVec one = {zero.hi + 1.0f, zero.lo};
    return Max(one + lost, zero);
  }

 private:
  // Sides of all corners at all lines, their sizes, and their distances from 0, as far as their
  // signs are in doubt.
  template <int kCorners>
  static __mlu_func__ void FindSides(const Outlines& o, const WideVec& side, const WideVec& size,
                                     Vec distance) {
    Arena* const arena = o.x.arena;
    const Scope scope(arena);
    const int pairs = 2 * o.count, points = o.x.count, all = side.hi.count;
    // The corners of lines, for each corner of outlines.
    const Vec line_x = arena->New(all + points), line_y = arena->New(all + points);
    for (int i = 0; i < (kCorners + 1) * (kCorners + 1); ++i) {
      const int from = i / (kCorners + 1) * pairs, bytes = pairs * sizeof(float);
      __bang_move(line_x.data + i * pairs, o.other_x.data + from, bytes);
      __bang_move(line_y.data + i * pairs, o.other_y.data + from, bytes);
    }
    const Vec begin_x = line_x.Part(0, all), next_x = line_x.Part(points, all);
    const Vec begin_y = line_y.Part(0, all), next_y = line_y.Part(points, all);
    const WideVec edge_x = Difference(next_x, begin_x), edge_y = Difference(next_y, begin_y);
    // From outlines to lines.
    const WideVec dx = Difference(begin_x, o.x), dy = Difference(begin_y, o.y);
    const WideVec left = dy * edge_x, right = dx * edge_y;
    Set(side, right - left);
    Set(size, Abs(side));
    // A bound of its own for each side's error: 2^-44 of the products, and what these lose where
    // they are subnormal.
    const Vec products = Abs(left.hi) + Abs(right.hi);
    const Vec certain = size.hi > products * 0x1p-42f + 0x1p-144f;
    // Sides that are exactly 0: the corner is one of the line's two, or all factors are floats and
    // the products exact, being large enough or 0 as one of their factors is.
    const Vec none =
        ((dy.hi == 0.0f) | (edge_x.hi == 0.0f)) & ((dx.hi == 0.0f) | (edge_y.hi == 0.0f));
    const Vec rest = (Abs(dx.lo) + Abs(dy.lo)) + (Abs(edge_x.lo) + Abs(edge_y.lo));
    const Vec far = Abs(dx.hi) + Abs(dy.hi);
    const Vec far_next = Abs(mlu::CycleSub(next_x, o.x)) + Abs(mlu::CycleSub(next_y, o.y));
    const Vec zero =
        (((rest == 0.0f) & ((products > 0x1p-98f) | none)) | ((far == 0.0f) | (far_next == 0.0f))) &
        (side.hi == 0.0f);
    // They get the sign that they have once polygons b are moved by (d, d^2) for a d > 0 that is as
    // small as one likes, which changes the shared area as little.
    const Vec sign = Select(edge_y.hi == 0.0f, edge_x.hi * -1.0f, edge_y.hi);
    __bang_sign(sign.data, sign.data, all);
    const Vec tiny = mlu::Filled(arena, pairs, 0x1p-60f);
    __bang_mul_scalar(tiny.data + o.count, tiny.data + o.count, -1.0f, o.count);
    const Vec moved = mlu::CycleMul(zero * sign, tiny);
    const Vec small = size.hi < 0x1p-60f, direction = arena->New(all);
    __bang_sign(direction.data, side.hi.data, all);
    const Vec more = (small * direction) * 0x1p-60f;
    __bang_add(side.hi.data, side.hi.data, moved.data, all);
    __bang_add(side.hi.data, side.hi.data, more.data, all);
    __bang_abs(size.hi.data, side.hi.data, all);
    FloatMath::Set(distance, (certain | zero) * 8.0f + size.hi);
  }

  // The greatest over all lines, whose values are `stride` apart.
  template <int kCorners>
  static __mlu_func__ void Reduce(const WideVec& values, int stride, const WideVec& to) {
    const int count = to.hi.count;
    const Scope scope(to.hi.arena);
    WideVec most = values.Part(0, count);
    for (int k = 1; k < kCorners; ++k) most = Max(most, values.Part(k * stride, count));
    Set(to, most);
  }
};

template <class Math, int kCorners>
__mlu_func__ ClipSums<typename Math::Real> Clip(const Outlines& o) {
  using Real = typename Math::Real;
  const int pairs = 2 * o.count, edges = kCorners * pairs, rows = 2 * kCorners;
  const ClippedEdges<Real> e = Math::template Cut<kCorners>(o);
  // Nothing is doubtful about edges that are certainly outside: the common bounds are below 4.
  const Vec outer = e.inner < -8.0f * Math::kSideError;
  const Vec nearest = Min(e.nearest.Part(0, edges), e.nearest.Part(pairs, edges)) + outer * 8.0f;
  // About the first corner of a.
  const Real x = Math::Difference(o.x, o.x.Part(0, o.count));
  const Real y = Math::Difference(o.y, o.y.Part(0, o.count));
  const Real cross =
      x.Part(0, edges) * y.Part(pairs, edges) - y.Part(0, edges) * x.Part(pairs, edges);
  const Vec size = Abs(Math::Leading(cross));
  const Vec spread = (e.spread * Not(outer)) * size;
  const Real part = Math::Left(e) * cross;
  return {SumOfRows(part, rows), SumOfRows(cross, rows), SumOfRows(spread, rows),
          SumOfRows(size, rows), MinOfRows(nearest, rows)};
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
  // All four pairs of triangles at once.
  const int count = columns.count, bytes = count * sizeof(float);
  Vec all_a[6], all_b[6];
  for (int i = 0; i < 6; ++i) {
    all_a[i] = arena->New(4 * count);
    all_b[i] = arena->New(4 * count);
    for (int pair = 0; pair < 4; ++pair) {
      __bang_move(all_a[i].data + pair * count, a[pair / 2][i].data, bytes);
      __bang_move(all_b[i].data + pair * count, b[pair % 2][i].data, bytes);
    }
  }
  const ClipSums<Real> sums = ClipPolygons<Math, 3>(arena, all_a, all_b);
  const Real shared = SumOfRows(sums.shared, 4);
  // Triangles of an outline that intersects itself overlap and may count an area twice.
  return {Min(shared, Min(area_a, area_b)), both, SumOfRows(sums.spread, 4),
          SumOfRows(sums.size, 4), MinOfRows(sums.nearest, 4)};
}

}  // namespace detops::ops::poly_nms_mlu
