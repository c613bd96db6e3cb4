// SPDX-License-Identifier: Apache-2.0
//
// Once per box: its record, and its place in a spatial order. For kernels only.
#pragma once

#include "mlu/score_keys.h"
#include "mlu/spatial_order.h"
#include "mlu/wide_vectors.h"
#include "ops/poly_nms/mlu.h"
#include "ops/poly_nms/mlu_clip.h"
#include "ops/poly_nms/mlu_frame.h"

namespace detops::ops::poly_nms_mlu {

using mlu::Arena;
using mlu::BoundsColumns;
using mlu::Nram;
using mlu::Scope;
using mlu::SpatialOrder;
using mlu::Team;
using mlu::Vec;

constexpr int kBoxFloats = 9;

// The bounds of boxes in NRAM, given by columns of their values; empty for those that can't overlap
// others, having no area or a corner that is not finite.
__mlu_func__ BoundsColumns FindBounds(const Vec* q) {  // [8]
  const BoundsColumns b = {
      Min(Min(q[0], q[2]), Min(q[4], q[6])), Min(Min(q[1], q[3]), Min(q[5], q[7])),
      Max(Max(q[0], q[2]), Max(q[4], q[6])), Max(Max(q[1], q[3]), Max(q[5], q[7]))};
  const Scope scope(q[0].arena);
  // Of numbers times 0, infinities and NaN give NaN.
  const Vec finite = q[0] * 0.0f;
  for (int i = 1; i < 8; ++i) FloatMath::Set(finite, finite + q[i] * 0.0f);
  const Vec none = Not((finite == 0.0f) & ((b.x1 < b.x2) & (b.y1 < b.y2)));
  const Vec infinity = mlu::Filled(none.arena, none.count, __builtin_inff());
  __bang_maskmove(b.x1.data, infinity.data, none.data, none.count);
  __bang_maskmove(b.y1.data, infinity.data, none.data, none.count);
  __bang_mul_scalar(infinity.data, infinity.data, -1.0f, none.count);
  __bang_maskmove(b.x2.data, infinity.data, none.data, none.count);
  __bang_maskmove(b.y2.data, infinity.data, none.data, none.count);
  return b;
}

// Cross products of the edges that meet at corner i, of corners that are scaled so that the bounds
// are between 1 and 2 wide and high.
template <class Math>
__mlu_func__ void CrossAt(int i, const Vec (&x)[4], const Vec (&y)[4], Vec result) {
  const Scope scope(result.arena);
  const int before = (i + 3) % 4, after = (i + 1) % 4;
  const auto cross = Math::Difference(x[i], x[before]) * Math::Difference(y[after], y[i]) -
                     Math::Difference(y[i], y[before]) * Math::Difference(x[after], x[i]);
  FloatMath::Set(result, Math::Leading(cross));
}

// Exchanges values where the mask is 1.
__mlu_func__ void SwapWhere(Vec mask, Vec& a, Vec& b) {
  const Vec old = Copy(a);
  __bang_maskmove(a.data, b.data, mask.data, mask.count);
  __bang_maskmove(b.data, old.data, mask.data, mask.count);
}

__mlu_func__ bool Any(Vec mask) { return __bang_count(mask.data, mask.count) > 0; }

// Sets all columns of the records but the keys: `columns` is [QuadRecord::kFields, count].
__mlu_func__ void DescribeQuads(const Vec* q, const BoundsColumns& b, float* columns) {
  using R = QuadRecord;
  const int count = q[0].count;
  Arena* const arena = q[0].arena;
  // Errors of cross products are below half of the least that count: in floats, and in pairs.
  constexpr float kLeast = 4e-6f, kLeastWide = 1e-8f;
  constexpr float kLeastShare = 2e-3f;  // of which floats are good to three digits

  Vec x[4] = {Copy(q[0]), Copy(q[2]), Copy(q[4]), Copy(q[6])};
  Vec y[4] = {Copy(q[1]), Copy(q[3]), Copy(q[5]), Copy(q[7])};
  const Vec there = b.x1 < b.x2;
  const Vec fits = Copy(there);
  float error = kLeast;
  const Vec area = arena->New(count), scaled = arena->New(count);
  Vec cross[4] = {arena->New(count), arena->New(count), arena->New(count), arena->New(count)};
  {
    const Scope scope(arena);
    const Vec scale_x = ScaleOf(b.x1, b.x2, fits), scale_y = ScaleOf(b.y1, b.y2, fits);
    FloatMath::Set(scaled, fits);
    FloatMath::Set(area,
                   ScaledDifference(b.x2, b.x1, scale_x) * ScaledDifference(b.y2, b.y1, scale_y));
    const auto scale = [](Vec v, Vec by) { return (v * by) * 0.25f; };
    const Vec scaled_x[4] = {scale(x[0], scale_x), scale(x[1], scale_x), scale(x[2], scale_x),
                             scale(x[3], scale_x)};
    const Vec scaled_y[4] = {scale(y[0], scale_y), scale(y[1], scale_y), scale(y[2], scale_y),
                             scale(y[3], scale_y)};
    const auto find_least = [&] {
      return Min(Min(Abs(cross[0]), Abs(cross[1])), Min(Abs(cross[2]), Abs(cross[3])));
    };
    for (int i = 0; i < 4; ++i) CrossAt<FloatMath>(i, scaled_x, scaled_y, cross[i]);
    Vec least = find_least();
    const Vec thin = Not(Abs(cross[0] + cross[2]) > 4.0f * 2.0f * kLeastShare);
    if (Any(fits & (Not(least > kLeast) | thin))) {
      for (int i = 0; i < 4; ++i) CrossAt<WideMath>(i, scaled_x, scaled_y, cross[i]);
      least = find_least();
      error = kLeastWide;
    }
    FloatMath::Set(fits, fits & (least > error));
  }
  const Vec lefts =
      ((cross[0] > 0.0f) + (cross[1] > 0.0f)) + ((cross[2] > 0.0f) + (cross[3] > 0.0f));
  const Vec convex = (lefts == 4.0f) | (lefts == 0.0f);
  // As math::SplitQuad: a cut from corner 0 to corner 2, unless only the other one will do.
  {
    const Vec other = ((cross[1] * cross[3]) < 0.0f) & fits;
    if (Any(other)) {
      for (Vec(*values)[4] : {&x, &y, &cross}) {
        for (int i = 0; i < 3; ++i) SwapWhere(other, (*values)[i], (*values)[i + 1]);
      }
    }
  }
  // The first triangle becomes counter-clockwise, and the second one, if it can at the same time.
  const Vec first = cross[1] < 0.0f, second = cross[3] < 0.0f;
  const Vec reversed = first & second, opposite = first & Not(second);
  SwapWhere(reversed, x[1], x[3]);
  SwapWhere(reversed, y[1], y[3]);
  if (Any(opposite)) {
    for (Vec(*values)[4] : {&x, &y}) {
      SwapWhere(opposite, (*values)[0], (*values)[2]);
      SwapWhere(opposite, (*values)[1], (*values)[3]);
    }
  }
  const auto set = [&](int column, Vec from) {
    __bang_move(columns + column * count, from.data, count * sizeof(float));
  };
  for (int i = 0; i < 4; ++i) {
    set(R::kX + i, x[i]);
    set(R::kY + i, y[i]);
  }
  set(R::kX1, b.x1);
  set(R::kY1, b.y1);
  set(R::kX2, b.x2);
  set(R::kY2, b.y2);
  // The errors of areas are below that of cross products.
  const Vec inverse = Reciprocal(area) * 0.5f;
  const Vec signed_area = Abs(cross[1] + cross[3]) * inverse;
  const Vec triangles = (Abs(cross[1]) + Abs(cross[3])) * inverse;
  set(R::kLeast, Max(signed_area - (triangles * 0x1p-20f + error), 0.0f) * scaled);
  set(R::kMost, Select(fits, triangles * (1.0f + 0x1p-20f) + error, there));
  // math::IsUpright.
  const Vec kinds = Not((first | second) & Not(first & second)) + convex;  // 0, 1, 2
  const Vec along = ((q[0] == q[2]) & (q[3] == q[5])) & ((q[4] == q[6]) & (q[7] == q[1]));
  const Vec across = ((q[1] == q[3]) & (q[2] == q[4])) & ((q[5] == q[7]) & (q[6] == q[0]));
  set(R::kKind, (kinds + (along | across) + 1.0f) * fits);
}

// Makes the records of all boxes, the keys of their order and those of the spatial order.
class Preparation {
 public:
  __mlu_func__ Preparation(const Team& team, const PolyNmsMlu& call, Nram nram)
      : team_(team),
        call_(call),
        order_(call.count, nram),
        boxes_(nram.Array<float>(2 * kBoxFloats * kPiece)),
        columns_(nram.Array<float>(R::kFields * kPiece)),
        places_(nram.Array<int32_t>(2 * kPiece)),
        arena_(nram.Array<float>(kArenaFloats), kArenaFloats) {}

  // Returns the frame in which boxes are to be bounded.
  __mlu_func__ Frame Run() {
    PlaceLines();
    const mlu::Share mine(team_, call_.count);
    for (int64_t begin = mine.begin; begin < mine.end; begin += kPiece) {
      PreparePiece(begin, mine.end - begin < kPiece ? mine.end - begin : kPiece);
    }
    return frame_;
  }

 private:
  using R = QuadRecord;
  static constexpr int kPiece = 512;
  static constexpr int kArenaFloats = 128 * kPiece;
  static_assert(SpatialOrder::kMostSamples <= 2 * kPiece, "the sample has room");

  __mlu_func__ void Unpack(float* to, const float* packed, int count, Vec (&q)[8]) {
    __bang_transpose(to, packed, count, kBoxFloats);
    for (int i = 0; i < 8; ++i) q[i] = {&arena_, to + i * count, count};
  }

  // Chooses the frame and the lines of the spatial order.
  __mlu_func__ void PlaceLines() {
    const Scope scope(&arena_);
    const int samples = order_.samples();
    const int64_t step = call_.count / samples * kBoxFloats * sizeof(float);
    __memcpy(boxes_, call_.boxes, kBoxFloats * sizeof(float), GDRAM2NRAM,
             kBoxFloats * sizeof(float), step, samples - 1);
    Vec q[8];
    Unpack(arena_.New(kBoxFloats * samples).data, boxes_, samples, q);
    const BoundsColumns b = FindBounds(q);
    if (call_.count > FrameChoice::kLeastFramed) ChooseFrame(q, b);
    if (frame_.kind != Frame::kPlain) BoundInFrame(q, b);
    order_.SetSample(team_, b, call_.lines);
  }

  __mlu_func__ void ChooseFrame(const Vec (&sample)[8], const BoundsColumns& bounds) {
    const Scope scope(&arena_);
    constexpr int kSome = FrameChoice::kSample;
    const int step = sample[0].count / kSome;
    const auto some = [&](Vec v) {
      const Vec result = arena_.New(kSome);
      __bang_move(result.data, v.data, sizeof(float), sizeof(float), step * sizeof(float),
                  kSome - 1);
      return result;
    };
    const BoundsColumns b = {some(bounds.x1), some(bounds.y1), some(bounds.x2), some(bounds.y2)};
    const int overlaps = FrameChoice::CountOverlaps(b);
    if (!FrameChoice::TooManyOverlap(overlaps)) return;
    Vec q[8];
    for (int i = 0; i < 8; ++i) q[i] = some(sample[i]);
    {
      const Scope inner(&arena_);
      DescribeQuads(q, b, columns_);
    }
    frame_ = FrameChoice::Best(&arena_, columns_, call_.threshold, overlaps);
  }

  // Replaces the bounds of some boxes by those in the frame.
  __mlu_func__ void BoundInFrame(const Vec (&q)[8], const BoundsColumns& b) {
    const FrameReach reach(frame_, call_.threshold);
    const int all = b.x1.count;
    for (int begin = 0; begin < all; begin += kPiece) {
      const Scope scope(&arena_);
      const int count = all - begin < kPiece ? all - begin : kPiece;
      Vec part[8];
      for (int i = 0; i < 8; ++i) part[i] = q[i].Part(begin, count);
      const BoundsColumns plain = {b.x1.Part(begin, count), b.y1.Part(begin, count),
                                   b.x2.Part(begin, count), b.y2.Part(begin, count)};
      {
        const Scope inner(&arena_);
        DescribeQuads(part, plain, columns_);
      }
      const BoundsColumns framed = reach(&arena_, columns_, count);
      FloatMath::Set(plain.x1, framed.x1);
      FloatMath::Set(plain.y1, framed.y1);
      FloatMath::Set(plain.x2, framed.x2);
      FloatMath::Set(plain.y2, framed.y2);
    }
  }

  __mlu_func__ void PreparePiece(int64_t begin, int count) {
    const Scope scope(&arena_);
    float* const values = boxes_ + kBoxFloats * kPiece;
    __memcpy(boxes_, call_.boxes + begin * kBoxFloats, count * kBoxFloats * sizeof(float),
             GDRAM2NRAM);
    Vec q[8];
    Unpack(values, boxes_, count, q);
    {
      const Scope inner(&arena_);
      DescribeQuads(q, FindBounds(q), columns_);
    }
    const FrameReach reach(frame_, call_.threshold);
    order_.Keys(reach(&arena_, columns_, count), places_);
    __bang_incseq(places_ + count, count);
    __bang_add_scalar(places_ + count, places_ + count, static_cast<int32_t>(begin), count);
    float* const pairs = boxes_;
    __bang_transpose(pairs, reinterpret_cast<float*>(places_), 2, count);
    __memcpy(call_.sort.pairs[0] + begin, pairs, count * sizeof(mlu::KeyValue), NRAM2GDRAM);
    // Keys are compared as signed numbers.
    int32_t* const keys = reinterpret_cast<int32_t*>(columns_ + R::kKey * count);
    mlu::ScoreKeys(keys, values + 8 * count, places_, count);
    __bang_bxor_scalar(keys, keys, static_cast<int32_t>(0x80000000u), count);
    float* const records = boxes_;
    __bang_transpose(records, columns_, R::kFields, count);
    __memcpy(call_.records + begin, records, count * sizeof(R), NRAM2GDRAM);
  }

  const Team team_;
  const PolyNmsMlu& call_;
  SpatialOrder order_;
  float* const boxes_;     // [2, kPiece, kBoxFloats]
  float* const columns_;   // [R::kFields, kPiece]
  int32_t* const places_;  // [2, kPiece] keys and indices
  Arena arena_;
  Frame frame_;
};

// Writes the boxes in their spatial order, with their bounds in the frame.
__mlu_func__ void OrderBoxes(const Team& team, const PolyNmsMlu& call, const Frame& frame,
                             const mlu::KeyValue* places, Nram nram) {
  constexpr int kPiece = 512;
  constexpr int kArenaFloats = 96 * kPiece;
  using R = QuadRecord;
  int32_t* const pairs = nram.Array<int32_t>(2 * kPiece);
  int32_t* const index = nram.Array<int32_t>(2 * kPiece);
  R* const records = nram.Array<R>(kPiece);
  float* const columns = nram.Array<float>(R::kFields * kPiece);
  int32_t* const offsets = nram.Array<int32_t>(kPiece);
  int32_t* const scratch = nram.Array<int32_t>(kPiece);
  Arena arena(nram.Array<float>(kArenaFloats), kArenaFloats);
  const FrameReach reach(frame, call.threshold);
  const mlu::BoxSet& set = call.nms.boxes;
  const mlu::Share mine(team, call.count);
  for (int64_t begin = mine.begin; begin < mine.end; begin += kPiece) {
    const Scope scope(&arena);
    const int count = mine.end - begin < kPiece ? mine.end - begin : kPiece;
    __memcpy(pairs, places + begin, count * sizeof(mlu::KeyValue), GDRAM2NRAM);
    __bang_transpose(index, pairs, count, 2);
    mlu::GatherRows(records, call.records, index + count, count, call.count, offsets, scratch);
    __bang_transpose(columns, reinterpret_cast<float*>(records), count, R::kFields);
    const int size = count * sizeof(float);
    // Four columns, one after another.
    const float* const bounds = reach(&arena, columns, count).x1.data;
    __memcpy(set.fields + begin, bounds, size, NRAM2GDRAM, set.stride * sizeof(float), size, 3);
    __memcpy(set.fields + 4 * set.stride + begin, columns + R::kKey * count, size, NRAM2GDRAM);
    __memcpy(set.fields + 5 * set.stride + begin, index + count, size, NRAM2GDRAM);
  }
}

}  // namespace detops::ops::poly_nms_mlu
