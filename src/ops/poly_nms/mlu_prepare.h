// SPDX-License-Identifier: Apache-2.0
//
// Once per box: its record, and its place in a spatial order. For kernels only.
#pragma once

#include "mlu/score_keys.h"
#include "mlu/wide_vectors.h"
#include "ops/poly_nms/mlu.h"
#include "ops/poly_nms/mlu_clip.h"

namespace detops::ops::poly_nms_mlu {

using mlu::Arena;
using mlu::Nram;
using mlu::Team;
using mlu::Vec;

constexpr int kBoxFloats = 9;

// The bounds of boxes in NRAM, given by columns of their values; empty for those that can't overlap
// others, having no area or a corner that is not finite.
struct BoundsOfBoxes {
  Vec x1, y1, x2, y2;
};
__mlu_func__ BoundsOfBoxes FindBounds(const Vec* q) {  // [8]
  // Of numbers times 0, infinities and NaN give NaN.
  Vec finite = q[0] * 0.0f;
  for (int i = 1; i < 8; ++i) finite = finite + q[i] * 0.0f;
  BoundsOfBoxes b = {Min(Min(q[0], q[2]), Min(q[4], q[6])), Min(Min(q[1], q[3]), Min(q[5], q[7])),
                     Max(Max(q[0], q[2]), Max(q[4], q[6])), Max(Max(q[1], q[3]), Max(q[5], q[7]))};
  const Vec there = (finite == 0.0f) & ((b.x1 < b.x2) & (b.y1 < b.y2));
  const Vec none = Not(there);
  const Vec infinity = mlu::Filled(there.arena, there.count, __builtin_inff());
  __bang_maskmove(b.x1.data, infinity.data, none.data, none.count);
  __bang_maskmove(b.y1.data, infinity.data, none.data, none.count);
  __bang_mul_scalar(infinity.data, infinity.data, -1.0f, none.count);
  __bang_maskmove(b.x2.data, infinity.data, none.data, none.count);
  __bang_maskmove(b.y2.data, infinity.data, none.data, none.count);
  return b;
}

// Boxes of a cell of a grid follow each other in the spatial order, and so do cells: by the bits of
// their column and row in turn. The lines of the grid go through the centres of a sample of the
// boxes, so that cells are small where boxes are many. Boxes much larger than most have their own
// grids.
class SpatialOrder {
 public:
  __mlu_func__ SpatialOrder(const PolyNmsMlu& call, Nram& nram)
      : bits_(AxisBits(call.count)), lines_((1 << bits_) - 1) {
    x_ = nram.Array<float>(kMostLines);
    y_ = nram.Array<float>(kMostLines);
    Sample(call, nram);
  }
  static __mlu_func__ int AxisBits(int64_t count) {
    return count < 4096 ? 5 : count < 32768 ? 6 : count < 1048576 ? 7 : 8;
  }
  // Of the keys.
  static __mlu_func__ int Bits(int64_t count) { return 2 * AxisBits(count) + kClassBits; }

  // Of boxes with these bounds.
  __mlu_func__ void Keys(const BoundsOfBoxes& b, int32_t* keys) const {
    const int count = b.x1.count;
    Arena* const arena = b.x1.arena;
    const Vec x = b.x1 * 0.5f + b.x2 * 0.5f, y = b.y1 * 0.5f + b.y2 * 0.5f;
    // In which column and row: how many lines are not beyond it.
    const Vec column = mlu::Filled(arena, count, 0.0f), row = mlu::Filled(arena, count, 0.0f);
    const Vec right = arena->New(count), above = arena->New(count);
    for (int i = 0; i < lines_; ++i) {
      __bang_ge_scalar(right.data, x.data, x_[i], count);
      __bang_ge_scalar(above.data, y.data, y_[i], count);
      __bang_add(column.data, column.data, right.data, count);
      __bang_add(row.data, row.data, above.data, count);
    }
    int32_t* const columns = column.Bits();
    int32_t* const rows = row.Bits();
    int32_t* const bit = right.Bits();
    __bang_float2int32_tz(columns, column.data, count, 0);
    __bang_float2int32_tz(rows, row.data, count, 0);
    __bang_write_zero(keys, count);
    for (int i = 0; i < bits_; ++i) {
      __bang_band_scalar(bit, columns, int32_t{1} << i, count);
      __bang_mul_scalar(bit, bit, int32_t{1} << i, count);
      __bang_add(keys, keys, bit, count);
      __bang_band_scalar(bit, rows, int32_t{1} << i, count);
      __bang_mul_scalar(bit, bit, int32_t{2} << i, count);
      __bang_add(keys, keys, bit, count);
    }
    const Vec exponent = Exponent(b);
    for (int i = 1; i < 1 << kClassBits; ++i) {
      const int64_t least = usual_ + int64_t{i} * kClassRatio;
      if (least > 0x7f000000) break;
      __bang_ge_scalar(bit, exponent.Bits(), static_cast<int32_t>(least), count);
      __bang_mul_scalar(bit, bit, int32_t{1} << (2 * bits_), count);
      __bang_add(keys, keys, bit, count);
    }
  }

 private:
  static constexpr int kMostLines = 256, kClassBits = 2;
  static constexpr int32_t kClassRatio = 2 << 23;  // of sizes: two exponents

  // The exponent of the longer side, as it is in a float; 0 of boxes that can't overlap others.
  static __mlu_func__ Vec Exponent(const BoundsOfBoxes& b) {
    Vec size = Max(Max(b.x2 - b.x1, b.y2 - b.y1), 0.0f);
    __bang_band_scalar(size.Bits(), size.Bits(), int32_t{0x7f800000}, size.count);
    return size;
  }

  // Every core finds the same lines.
  __mlu_func__ void Sample(const PolyNmsMlu& call, Nram nram) {
    const int sample = call.count < lines_ ? static_cast<int>(call.count) : lines_;
    float* const boxes = nram.Array<float>(kBoxFloats * kMostLines);
    float* const columns = nram.Array<float>(kBoxFloats * kMostLines);
    Arena arena(nram.Array<float>(64 * kMostLines), 64 * kMostLines);
    const int64_t step = call.count / sample;
    __memcpy(boxes, call.boxes, kBoxFloats * sizeof(float), GDRAM2NRAM, kBoxFloats * sizeof(float),
             step * kBoxFloats * sizeof(float), sample - 1);
    __bang_transpose(columns, boxes, sample, kBoxFloats);
    Vec q[8];
    for (int i = 0; i < 8; ++i) q[i] = {&arena, columns + i * sample, sample};
    const BoundsOfBoxes b = FindBounds(q);
    const Vec x = b.x1 * 0.5f + b.x2 * 0.5f, y = b.y1 * 0.5f + b.y2 * 0.5f;
    // Beyond everything: what has no place is before all lines.
    __bang_write_value(x_, kMostLines, __builtin_inff());
    __bang_write_value(y_, kMostLines, __builtin_inff());
    __bang_move(x_, x.data, sample * sizeof(float));
    __bang_move(y_, y.data, sample * sizeof(float));
    // The median of the exponents.
    const Vec exponent = Exponent(b), below = arena.New(sample);
    int low = 0, high = 255;
    while (low < high) {
      const int middle = (low + high) / 2;
      __bang_le_scalar(below.Bits(), exponent.Bits(), middle << 23, sample);
      if (2 * static_cast<int>(__bang_count(below.Bits(), sample)) >= sample) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    usual_ = static_cast<int32_t>(low) << 23;
  }

  const int bits_, lines_;
  float *x_, *y_;
  int32_t usual_ = 0;
};

// Cross products of the edges that meet at corner i, of corners that are scaled so that the bounds
// are between 1 and 2 wide and high.
template <class Math>
__mlu_func__ Vec CrossAt(int i, const Vec (&x)[4], const Vec (&y)[4]) {
  const int before = (i + 3) % 4, after = (i + 1) % 4;
  const auto product = Math::Difference(x[i], x[before]) * Math::Difference(y[after], y[i]) -
                       Math::Difference(y[i], y[before]) * Math::Difference(x[after], x[i]);
  return Copy(Math::Leading(product));
}

// Exchanges values where the mask is 1.
__mlu_func__ void SwapWhere(Vec mask, Vec& a, Vec& b) {
  const Vec old = Copy(a);
  __bang_maskmove(a.data, b.data, mask.data, mask.count);
  __bang_maskmove(b.data, old.data, mask.data, mask.count);
}

__mlu_func__ bool Any(Vec mask) { return __bang_count(mask.data, mask.count) > 0; }

// Sets all columns of the records but the keys: `columns` is [QuadRecord::kFields, count].
__mlu_func__ void DescribeQuads(const Vec* q, const BoundsOfBoxes& b, float* columns) {
  using R = QuadRecord;
  const int count = q[0].count;
  Arena* const arena = q[0].arena;
  // Errors of cross products are below half of the least that count: in floats, and in pairs.
  constexpr float kLeast = 4e-6f, kLeastWide = 1e-8f;
  constexpr float kLeastShare = 2e-3f;  // of which floats are good to three digits

  Vec x[4] = {Copy(q[0]), Copy(q[2]), Copy(q[4]), Copy(q[6])};
  Vec y[4] = {Copy(q[1]), Copy(q[3]), Copy(q[5]), Copy(q[7])};
  const Vec there = b.x1 < b.x2;
  Vec fits = Copy(there);
  float error = kLeast;
  Vec area, scaled, cross[4];
  Vec least;  // of the crosses' sizes
  {
    const Vec scale_x = ScaleOf(b.x1, b.x2, fits), scale_y = ScaleOf(b.y1, b.y2, fits);
    scaled = Copy(fits);
    area = ScaledDifference(b.x2, b.x1, scale_x) * ScaledDifference(b.y2, b.y1, scale_y);
    const auto scale = [](Vec v, Vec by) { return (v * 0.25f) * by; };
    const Vec scaled_x[4] = {scale(x[0], scale_x), scale(x[1], scale_x), scale(x[2], scale_x),
                             scale(x[3], scale_x)};
    const Vec scaled_y[4] = {scale(y[0], scale_y), scale(y[1], scale_y), scale(y[2], scale_y),
                             scale(y[3], scale_y)};
    const auto find_least = [&] {
      return Min(Min(Abs(cross[0]), Abs(cross[1])), Min(Abs(cross[2]), Abs(cross[3])));
    };
    for (int i = 0; i < 4; ++i) cross[i] = CrossAt<FloatMath>(i, scaled_x, scaled_y);
    least = find_least();
    const Vec thin = Not(Abs(cross[0] + cross[2]) > 4.0f * 2.0f * kLeastShare);
    if (Any(fits & (Not(least > kLeast) | thin))) {
      for (int i = 0; i < 4; ++i) cross[i] = CrossAt<WideMath>(i, scaled_x, scaled_y);
      least = find_least();
      error = kLeastWide;
    }
    fits = fits & (least > error);
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
  const Vec signed_area = Abs(cross[0] + cross[2]) * inverse;
  const Vec triangles = (Abs(cross[1]) + Abs(cross[3])) * inverse;
  set(R::kLeast, Max(signed_area - error, 0.0f) * scaled);
  set(R::kMost, Select(fits, triangles + error, there));
  // math::IsUpright.
  const Vec kinds = Not((first | second) & Not(first & second)) + convex;  // 0, 1, 2
  const Vec along = ((q[0] == q[2]) & (q[3] == q[5])) & ((q[4] == q[6]) & (q[7] == q[1]));
  const Vec across = ((q[1] == q[3]) & (q[2] == q[4])) & ((q[5] == q[7]) & (q[6] == q[0]));
  set(R::kKind, (kinds + (along | across) + 1.0f) * fits);
}

// Makes the records of all boxes, the keys of their order and those of the spatial order.
__mlu_func__ void PrepareBoxes(const Team& team, const PolyNmsMlu& call, Nram nram) {
  constexpr int kPiece = 256, kArenaFloats = 256 * kPiece;
  using R = QuadRecord;
  const SpatialOrder order(call, nram);
  float* const boxes = nram.Array<float>(kBoxFloats * kPiece);
  float* const values = nram.Array<float>(kBoxFloats * kPiece);
  float* const columns = nram.Array<float>(R::kFields * kPiece);
  float* const records = nram.Array<float>(R::kFields * kPiece);
  int32_t* const places = nram.Array<int32_t>(2 * kPiece);  // keys and indices
  int32_t* const pairs = nram.Array<int32_t>(2 * kPiece);
  float* const memory = nram.Array<float>(kArenaFloats);
  const mlu::Share mine(team, call.count);
  for (int64_t begin = mine.begin; begin < mine.end; begin += kPiece) {
    const int count = mine.end - begin < kPiece ? mine.end - begin : kPiece;
    __memcpy(boxes, call.boxes + begin * kBoxFloats, count * kBoxFloats * sizeof(float),
             GDRAM2NRAM);
    __bang_transpose(values, boxes, count, kBoxFloats);
    Arena arena(memory, kArenaFloats);
    Vec q[8];
    for (int i = 0; i < 8; ++i) q[i] = {&arena, values + i * count, count};
    const BoundsOfBoxes b = FindBounds(q);
    order.Keys(b, places);
    __bang_incseq(places + count, count);
    __bang_add_scalar(places + count, places + count, static_cast<int32_t>(begin), count);
    __bang_transpose(pairs, places, 2, count);
    __memcpy(call.sort.pairs[0] + begin, pairs, count * sizeof(mlu::KeyValue), NRAM2GDRAM);
    DescribeQuads(q, b, columns);
    // Keys are compared as signed numbers.
    int32_t* const keys = reinterpret_cast<int32_t*>(columns + R::kKey * count);
    mlu::ScoreKeys(keys, values + 8 * count, places, count);
    __bang_bxor_scalar(keys, keys, static_cast<int32_t>(0x80000000u), count);
    __bang_transpose(records, columns, R::kFields, count);
    __memcpy(call.records + begin, records, count * sizeof(R), NRAM2GDRAM);
  }
}

// Writes the boxes in their spatial order.
__mlu_func__ void OrderBoxes(const Team& team, const PolyNmsMlu& call, const mlu::KeyValue* places,
                             Nram nram) {
  constexpr int kPiece = 512;
  using R = QuadRecord;
  int32_t* const pairs = nram.Array<int32_t>(2 * kPiece);
  int32_t* const index = nram.Array<int32_t>(2 * kPiece);
  R* const records = nram.Array<R>(kPiece);
  float* const columns = nram.Array<float>(R::kFields * kPiece);
  int32_t* const offsets = nram.Array<int32_t>(kPiece);
  int32_t* const scratch = nram.Array<int32_t>(kPiece);
  const mlu::BoxSet& set = call.nms.boxes;
  const mlu::Share mine(team, call.count);
  for (int64_t begin = mine.begin; begin < mine.end; begin += kPiece) {
    const int count = mine.end - begin < kPiece ? mine.end - begin : kPiece;
    __memcpy(pairs, places + begin, count * sizeof(mlu::KeyValue), GDRAM2NRAM);
    __bang_transpose(index, pairs, count, 2);
    mlu::GatherRows(records, call.records, index + count, count, call.count, offsets, scratch);
    __bang_transpose(columns, reinterpret_cast<float*>(records), count, R::kFields);
    const int size = count * sizeof(float);
    __memcpy(set.fields + begin, columns + R::kX1 * count, size, NRAM2GDRAM,
             set.stride * sizeof(float), size, 3);
    __memcpy(set.fields + 4 * set.stride + begin, columns + R::kKey * count, size, NRAM2GDRAM);
    __memcpy(set.fields + 5 * set.stride + begin, index + count, size, NRAM2GDRAM);
  }
}

}  // namespace detops::ops::poly_nms_mlu
