// SPDX-License-Identifier: Apache-2.0
//
// Sets of boxes in GDRAM, made by all cores of a team. For kernels only.
#pragma once

#include "mlu/nms_buffers.h"
#include "mlu/team.h"

namespace detops::mlu {

// What each core counts, made known to all.
class Counters {
 public:
  __mlu_func__ Counters(const Team& team, int32_t* memory, Nram& nram)
      : team_(team),
        memory_(memory),
        values_(nram.Array<int32_t>(team.cores)),
        sums_(nram.Array<int32_t>(team.cores)) {}

  // Before a barrier. Counters of one number are read before they are written again, with a barrier
  // in between.
  __mlu_func__ void Write(int number, int64_t value) {
    values_[0] = static_cast<int32_t>(value);
    __memcpy(memory_ + number * team_.cores + team_.core, values_, sizeof(int32_t), NRAM2GDRAM);
  }
  // Behind it: the sum of all cores'; `before` is that of those with lower numbers.
  __mlu_func__ int64_t Read(int number, int64_t* before = nullptr) {
    __memcpy(values_, memory_ + number * team_.cores, team_.cores * sizeof(int32_t), GDRAM2NRAM);
    if (before != nullptr) *before = Sum(team_.core);
    return Sum(team_.cores);
  }
  // What one core wrote of those that were read last.
  __mlu_func__ int32_t OfCore(int core) const { return values_[core]; }

 private:
  // Of the first ones, pair by pair.
  __mlu_func__ int32_t Sum(int count) {
    if (count == 0) return 0;
    __bang_move(sums_, values_, count * sizeof(int32_t));
    while (count > 1) {
      const int half = count / 2;
      count -= half;
      __bang_add(sums_, sums_, sums_ + count, half);
    }
    return sums_[0];
  }

  const Team team_;
  int32_t* const memory_;
  int32_t *const values_, *const sums_;
};

constexpr int kSetPiece = 1024;  // boxes that are in NRAM at a time

// Some boxes in NRAM.
struct BoxPiece {
  float* fields;  // [BoxSet::kFields, kSetPiece]
  __mlu_func__ float* Field(int f) const { return fields + f * kSetPiece; }
  __mlu_func__ int32_t* Bits(int f) const { return reinterpret_cast<int32_t*>(Field(f)); }
  __mlu_func__ void Load(const BoxSet& set, int64_t begin, int count) const {
    __memcpy(fields, set.fields + begin, count * sizeof(float), GDRAM2NRAM,
             kSetPiece * sizeof(float), set.stride * sizeof(float), BoxSet::kFields - 1);
  }
  __mlu_func__ void Store(const BoxSet& set, int64_t begin, int count) const {
    __memcpy(set.fields + begin, fields, count * sizeof(float), NRAM2GDRAM,
             set.stride * sizeof(float), kSetPiece * sizeof(float), BoxSet::kFields - 1);
  }
  // Empty boxes.
  __mlu_func__ void Clear(int begin, int count) const {
    for (int f = 0; f < BoxSet::kFields; ++f) {
      const float bound = f < 2 ? __builtin_inff() : f < 4 ? -__builtin_inff() : 0.0f;
      __bang_write_value(Field(f) + begin, count, bound);
    }
  }
};

// Fills the last tile of a set and finds the bounds of all. Boxes are there when all cores have
// come; there is a barrier at the end, too.
__mlu_func__ void FinishSet(const Team& team, const BoxSet& set, int64_t count, int tile,
                            Nram nram) {
  const BoxPiece piece = {nram.Array<float>(BoxSet::kFields * kSetPiece)};
  float* const extremes = nram.Array<float>(4 * (kSetPiece / BoxSet::kSmallTile + 4));
  float* const bounds = nram.Array<float>(4 * (kSetPiece / BoxSet::kSmallTile));
  team.Sync();
  const int64_t tiles = (count + tile - 1) / tile, at_once = kSetPiece / tile;
  const Share mine(team, tiles);
  for (int64_t begin = mine.begin; begin < mine.end; begin += at_once) {
    const int number = mine.end - begin < at_once ? mine.end - begin : at_once;
    const int64_t first = begin * tile;
    const int boxes = count - first < number * tile ? count - first : number * tile;
    piece.Load(set, first, boxes);
    const int empty = number * tile - boxes;
    if (empty > 0) {
      piece.Clear(boxes, empty);
      piece.Store(set, first, number * tile);
    }
    for (int f = 0; f < 4; ++f) {
      for (int i = 0; i < number; ++i) {
        const float* const values = piece.Field(f) + i * tile;
        if (f < 2) {
          __bang_min(extremes + 4 * i, values, tile);
        } else {
          __bang_max(extremes + 4 * i, values, tile);
        }
      }
      __bang_move(bounds, extremes, sizeof(float), sizeof(float), 4 * sizeof(float), number - 1);
      __memcpy(set.tiles + f * set.tile_stride + begin, bounds, number * sizeof(float), NRAM2GDRAM);
    }
  }
  team.Sync();
}

// A box and all that are ahead of it in the order.
struct Pivot {
  int32_t key, index;
};

// Which boxes of a set go where.
class Selection {
 public:
  // Those up to the pivot, or all others.
  static __mlu_func__ Selection UpTo(const Pivot& pivot, bool inverted) {
    return {nullptr, 0, pivot, inverted};
  }
  // Those whose state has this value.
  static __mlu_func__ Selection OfState(const int32_t* state, int32_t value) {
    return {state, value, {}, false};
  }

  // Marks boxes of a piece, of which the fields are in NRAM.
  __mlu_func__ void Mark(const BoxPiece& piece, int64_t begin, int count, int32_t* mask,
                         int32_t* scratch) const {
    if (state_ != nullptr) {
      __memcpy(mask, state_ + begin, count * sizeof(int32_t), GDRAM2NRAM);
      __bang_eq_scalar(mask, mask, value_, count);
      return;
    }
    __bang_le_scalar(mask, piece.Bits(5), pivot_.index, count);
    __bang_eq_scalar(scratch, piece.Bits(4), pivot_.key, count);
    __bang_and(mask, mask, scratch, count);
    __bang_lt_scalar(scratch, piece.Bits(4), pivot_.key, count);
    __bang_or(mask, mask, scratch, count);
    if (inverted_) __bang_not(mask, mask, count);
  }

 private:
  __mlu_func__ Selection(const int32_t* state, int32_t value, const Pivot& pivot, bool inverted)
      : state_(state), value_(value), pivot_(pivot), inverted_(inverted) {}

  const int32_t* state_;
  int32_t value_;
  Pivot pivot_;
  bool inverted_;
};

// Copies what is selected to another set, in the same order, and finishes it. Returns how many.
// `number` is that of a counter.
__mlu_func__ int64_t SelectBoxes(const Team& team, const BoxSet& from, int64_t count,
                                 const Selection& selection, const BoxSet& to, int tile,
                                 Counters& counters, int number, Nram nram) {
  Nram all = nram;
  const BoxPiece piece = {nram.Array<float>(BoxSet::kFields * kSetPiece)};
  int32_t* const mask = nram.Array<int32_t>(kSetPiece);
  int32_t* const scratch = nram.Array<int32_t>(kSetPiece);
  const Share mine(team, count);
  int64_t selected = 0;
  for (int64_t begin = mine.begin; begin < mine.end; begin += kSetPiece) {
    const int size = mine.end - begin < kSetPiece ? mine.end - begin : kSetPiece;
    piece.Load(from, begin, size);
    selection.Mark(piece, begin, size, mask, scratch);
    selected += __bang_count(mask, size);
  }
  counters.Write(number, selected);
  team.Sync();
  int64_t at = 0;
  const int64_t sum = counters.Read(number, &at);
  for (int64_t begin = mine.begin; begin < mine.end; begin += kSetPiece) {
    const int size = mine.end - begin < kSetPiece ? mine.end - begin : kSetPiece;
    piece.Load(from, begin, size);
    selection.Mark(piece, begin, size, mask, scratch);
    for (int f = 1; f < BoxSet::kFields; ++f) {
      __bang_collect(piece.Bits(f), piece.Bits(f), mask, size);
    }
    const int packed = __bang_filter(piece.Bits(0), piece.Bits(0), mask, size);
    if (packed > 0) piece.Store(to, at, packed);
    at += packed;
  }
  FinishSet(team, to, sum, tile, all);
  return sum;
}

}  // namespace detops::mlu
