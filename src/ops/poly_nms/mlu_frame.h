// SPDX-License-Identifier: Apache-2.0
//
// math/quad_frame.h for vectors of boxes, in floats: the coordinates in which boxes are bounded, so
// that few pairs remain whose bounds overlap. Bounds along x and y say little about long thin boxes
// that lie askew. Where a sample of the boxes shows that, all are bounded along the axes of one of
// them, or by their directions alone. A frame changes which pairs are examined, never what is
// decided. For kernels only.
#pragma once

#include "math/quad_bounds.h"
#include "mlu/spatial_order.h"
#include "ops/poly_nms/mlu_clip.h"
#include "ops/poly_nms/mlu_record.h"

namespace detops::ops::poly_nms_mlu {

using mlu::BoundsColumns;
using mlu::Filled;

struct Frame {
  enum Kind { kPlain, kAligned, kDirections };
  Kind kind = kPlain;
  // Where aligned with a strip: the origin, and the vectors whose products with a point are its
  // coordinates. The strip itself is one long and one wide.
  float origin_x = 0.0f, origin_y = 0.0f;
  float along_x = 0.0f, along_y = 0.0f, across_x = 0.0f, across_y = 0.0f;
};

// A frame whose axes are along the longest edge of an outline and across it. Plain, if the outline
// is not certainly convex and much longer than wide. The record's corners are x[4], y[4].
__mlu_func__ Frame AlignedWith(const float* x, const float* y, float kind) {
  if (kind < QuadRecord::kConvex) return {};
  constexpr float kElongated = 0.125f;
  float size = 0.0f;
  for (int i = 1; i < 4; ++i) {
    const float dx = x[i] * 0.25f - x[0] * 0.25f, dy = y[i] * 0.25f - y[0] * 0.25f;
    size = dx > size ? dx : -dx > size ? -dx : size;
    size = dy > size ? dy : -dy > size ? -dy : size;
  }
  if (!(size > 1e-30f && size < 1e30f)) return {};
  // Edges in units of that.
  float edge_x[4], edge_y[4], longest = 0.0f;
  int first = 0;
  for (int i = 0; i < 4; ++i) {
    const int next = (i + 1) % 4;
    edge_x[i] = (x[next] - x[i]) / size;
    edge_y[i] = (y[next] - y[i]) / size;
    const float length = edge_x[i] * edge_x[i] + edge_y[i] * edge_y[i];
    if (length > longest) {
      longest = length;
      first = i;
    }
  }
  const int next = (first + 1) % 4, last = (first + 3) % 4;
  const float ax = edge_x[first], ay = edge_y[first];
  const float far_2 = ax * edge_y[next] - ay * edge_x[next];
  const float far_3 = ay * edge_x[last] - ax * edge_y[last];
  float strip = far_2 > far_3 ? far_2 : far_3;
  if (!(strip < kElongated * longest)) return {};
  if (strip < 1e-6f * longest) strip = 1e-6f * longest;  // floats know no better
  Frame frame;
  frame.kind = Frame::kAligned;
  frame.origin_x = x[first];
  frame.origin_y = y[first];
  frame.along_x = ax / longest / size;
  frame.along_y = ay / longest / size;
  frame.across_x = -ay / strip / size;
  frame.across_y = ax / strip / size;
  return frame;
}

// Sets one pair of bounds: of the products of all corners with the vector (x, y). The errors are
// small against `far`, which is not finite where any intermediate result is not.
__mlu_func__ void AlignedBounds(const float* const* corner, const Frame& frame, float x, float y,
                                Vec low, Vec high, Vec far) {
  Arena* const arena = low.arena;
  const Scope scope(arena);
  const int count = low.count;
  __bang_write_zero(far.data, count);
  for (int i = 0; i < 4; ++i) {
    const Vec px = {arena, const_cast<float*>(corner[i]), count};
    const Vec py = {arena, const_cast<float*>(corner[4 + i]), count};
    const Vec u = (px - frame.origin_x) * x, v = (py - frame.origin_y) * y;
    const Vec place = u + v;
    FloatMath::Set(low, i == 0 ? place : Min(low, place));
    FloatMath::Set(high, i == 0 ? place : Max(high, place));
    FloatMath::Set(far, far + (Abs(u) + Abs(v)));
  }
  // A difference, a product and a sum were rounded, to 2^-24 each, and so are these; products may
  // have been subnormal. The margin also gives each side a length.
  const Vec margin = far * 4e-7f + 1e-37f;
  __bang_sub(low.data, low.data, margin.data, count);
  __bang_add(high.data, high.data, margin.data, count);
}

// Bounds in a frame, given columns of records: only boxes for which they overlap can suppress each
// other. They are empty where the plain bounds are. The four columns follow each other.
class FrameReach {
 public:
  __mlu_func__ FrameReach(const Frame& frame, float threshold)
      : frame_(frame), threshold_(threshold) {}

  // `columns` is [QuadRecord::kFields, count].
  __mlu_func__ BoundsColumns operator()(Arena* arena, float* columns, int count) const {
    using R = QuadRecord;
    const auto at = [&](int f) { return Vec{arena, columns + f * count, count}; };
    const BoundsColumns plain = {at(R::kX1), at(R::kY1), at(R::kX2), at(R::kY2)};
    if (frame_.kind == Frame::kPlain) return plain;
    const BoundsColumns b = {arena->New(count), arena->New(count), arena->New(count),
                             arena->New(count)};
    const Scope scope(arena);
    Vec certain;
    float everywhere;
    if (frame_.kind == Frame::kAligned) {
      everywhere = 1e38f;
      certain = Aligned(columns, b);
    } else {
      everywhere = 4.0f;
      certain = Directions(columns, b);
    }
    const Vec doubtful = Not(certain), none = Not(plain.x1 < plain.x2);
    for (const Vec* bound : {&b.x1, &b.y1, &b.x2, &b.y2}) {
      const bool is_low = bound == &b.x1 || bound == &b.y1;
      const Vec end = Filled(arena, count, is_low ? -everywhere : everywhere);
      __bang_maskmove(bound->data, end.data, doubtful.data, count);
    }
    __bang_maskmove(b.x1.data, plain.x1.data, none.data, count);
    __bang_maskmove(b.y1.data, plain.y1.data, none.data, count);
    __bang_maskmove(b.x2.data, plain.x2.data, none.data, count);
    __bang_maskmove(b.y2.data, plain.y2.data, none.data, count);
    return b;
  }

 private:
  // Sets bounds, and returns where they can be relied on.
  __mlu_func__ Vec Aligned(const float* columns, const BoundsColumns& b) const {
    using R = QuadRecord;
    Arena* const arena = b.x1.arena;
    const int count = b.x1.count;
    const float* corner[8];
    for (int i = 0; i < 8; ++i) corner[i] = columns + (R::kX + i) * count;
    const Vec far_u = arena->New(count), far_v = arena->New(count);
    AlignedBounds(corner, frame_, frame_.along_x, frame_.along_y, b.x1, b.x2, far_u);
    AlignedBounds(corner, frame_, frame_.across_x, frame_.across_y, b.y1, b.y2, far_v);
    return (far_u < 1e37f) & (far_v < 1e37f);
  }

  // Squares around points of the unit circle, at twice the angle of the box: DirectionReach of
  // math/quad_frame.h. The half side is u*u/A*(1+t)/(2*t) for a strip of width u and an area A,
  // here no less than that.
  __mlu_func__ Vec Directions(float* columns, const BoundsColumns& b) const {
    using R = QuadRecord;
    Arena* const arena = b.x1.arena;
    const int count = b.x1.count;
    const auto at = [&](int f) { return Vec{arena, columns + f * count, count}; };
    const float t = threshold_;
    if (!(t > math::kLeastThreshold)) return Filled(arena, count, 0.0f);
    // Edges, scaled so that the longer side of the bounds is between 1 and 2.
    const Vec fits = Filled(arena, count, 1.0f);
    const Vec scale =
        Min(ScaleOf(at(R::kX1), at(R::kX2), fits), ScaleOf(at(R::kY1), at(R::kY2), fits));
    Vec edge_x[4], edge_y[4];
    const Vec longest = Filled(arena, count, 0.0f);
    const Vec x = arena->New(count), y = arena->New(count), strip = arena->New(count);
    for (int i = 0; i < 4; ++i) {
      const int next = (i + 1) % 4;
      edge_x[i] = arena->New(count);
      edge_y[i] = arena->New(count);
      const Scope scope(arena);
      FloatMath::Set(edge_x[i], ScaledDifference(at(R::kX + next), at(R::kX + i), scale));
      FloatMath::Set(edge_y[i], ScaledDifference(at(R::kY + next), at(R::kY + i), scale));
    }
    for (int i = 0; i < 4; ++i) {
      const Scope scope(arena);
      const int next = (i + 1) % 4, last = (i + 3) % 4;
      const Vec length = edge_x[i] * edge_x[i] + edge_y[i] * edge_y[i];
      const Vec far_2 = edge_x[i] * edge_y[next] - edge_y[i] * edge_x[next];
      const Vec far_3 = edge_y[i] * edge_x[last] - edge_x[i] * edge_y[last];
      const Vec far = Max(far_2, far_3), longer = length > longest;
      __bang_maskmove(longest.data, length.data, longer.data, count);
      __bang_maskmove(strip.data, far.data, longer.data, count);
      __bang_maskmove(x.data, edge_x[i].data, longer.data, count);
      __bang_maskmove(y.data, edge_y[i].data, longer.data, count);
    }
    // Edges are shorter than 2 along each axis, so errors of cross products are below 2^-19.
    const Vec width = strip + 2e-6f;
    const Vec bounds = ScaledDifference(at(R::kX2), at(R::kX1), scale) *
                       ScaledDifference(at(R::kY2), at(R::kY1), scale);
    const Vec area = bounds * at(R::kLeast);
    const Vec half_side =
        (width * width) * Reciprocal(longest * area) * (0.501f * (1.0f + t) / t) + 4e-6f;
    const Vec inverse = Reciprocal(longest);
    const Vec cosine = (x * x - y * y) * inverse, sine = (x * y) * inverse * 2.0f;
    __bang_sub(b.x1.data, cosine.data, half_side.data, count);
    __bang_sub(b.y1.data, sine.data, half_side.data, count);
    __bang_add(b.x2.data, cosine.data, half_side.data, count);
    __bang_add(b.y2.data, sine.data, half_side.data, count);
    const Vec convex = at(R::kKind) > R::kSplit;
    return ((convex & fits) & (longest * area > 1e-30f)) & (half_side < 1.0f);
  }

  const Frame frame_;
  const float threshold_;
};

// How a frame is chosen: some are tried on a sample of the boxes. Where there are few boxes, all
// are compared sooner than that.
class FrameChoice {
 public:
  static constexpr int64_t kLeastFramed = 512;
  static constexpr int kSample = 32;

  // How many ordered pairs of different boxes of a sample overlap. Each overlaps itself, unless it
  // is empty: there may be fewer than none.
  static __mlu_func__ int CountOverlaps(const BoundsColumns& b) {  // of kSample boxes
    Arena* const arena = b.x1.arena;
    const Scope scope(arena);
    constexpr int kPairs = kSample * kSample;
    const Vec zero = Filled(arena, kPairs, 0.0f);
    const Vec repeated = arena->New(kPairs), each = arena->New(kPairs);
    const auto below = [&](Vec low, Vec high) {
      __bang_cycle_add(repeated.data, zero.data, low.data, kPairs, kSample);
      __bang_transpose(each.data, repeated.data, kSample, kSample);
      const Vec result = arena->New(kPairs);
      __bang_cycle_lt(result.data, each.data, high.data, kPairs, kSample);
      return result;
    };
    const Vec begins_before = below(b.x1, b.x2) & below(b.y1, b.y2);
    __bang_transpose(each.data, begins_before.data, kSample, kSample);
    return static_cast<int>(__bang_count((begins_before & each).data, kPairs)) - kSample;
  }
  // Whether so many overlap that another frame is worth a try.
  static __mlu_func__ bool TooManyOverlap(int overlaps) {
    return overlaps > kSample * (kSample - 1) / 16;
  }

  // The frame in which the fewest overlap of a sample of kSample boxes, given by columns of their
  // records. It has to be much better than the plain one.
  static __mlu_func__ Frame Best(Arena* arena, float* columns, float threshold,
                                 int plain_overlaps) {
    using R = QuadRecord;
    Frame best;
    int least = plain_overlaps / 2;
    const auto consider = [&](const Frame& frame) {
      if (frame.kind == Frame::kPlain) return;
      const Scope scope(arena);
      const int overlaps = CountOverlaps(FrameReach(frame, threshold)(arena, columns, kSample));
      if (overlaps >= least) return;
      least = overlaps;
      best = frame;
    };
    Frame directions;
    directions.kind = Frame::kDirections;
    consider(directions);
    for (int i = 0; i < kSample; i += kSample / kAligned) {
      float x[4], y[4];
      for (int k = 0; k < 4; ++k) {
        x[k] = columns[(R::kX + k) * kSample + i];
        y[k] = columns[(R::kY + k) * kSample + i];
      }
      consider(AlignedWith(x, y, columns[R::kKind * kSample + i]));
    }
    return best;
  }

 private:
  static constexpr int kAligned = 8;  // boxes of the sample whose frames are tried
};

}  // namespace detops::ops::poly_nms_mlu
