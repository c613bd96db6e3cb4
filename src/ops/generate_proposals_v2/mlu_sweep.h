// SPDX-License-Identifier: Apache-2.0
//
// Which boxes of a batch may suppress another one or be suppressed: where boxes lie apart, only
// few. Each core takes a range of x. It orders the boxes that reach into it by where they begin,
// strip by strip along y, and compares every box with the one `distance` places behind it, for
// distance 1, 2, 3, … until no two of that distance overlap in x. For kernels only.
#pragma once

#include "mlu/order.h"
#include "ops/generate_proposals_v2/mlu_overlap.h"

namespace detops::ops {

// Boxes of a batch in NRAM, by position.
struct BatchBoxes {
  float *x1, *y1, *x2, *y2;
};

// dst[i] = table[which[i]], of a table of `size`.
__mlu_func__ void LookUp(float* dst, const float* table, const int32_t* which, int count,
                         int size) {
  __bang_lut_s32(reinterpret_cast<int32_t*>(dst), which, reinterpret_cast<const int32_t*>(table),
                 count, size);
}

template <class ImageTeam>
class Sweep {
 public:
  __mlu_func__ Sweep(const Call& call, const ImageTeam& team) : call_(call), team_(team) {}

  // Of `count` boxes those with alive[i] = 1 count, more than kChunk of them. Sets involved[i] to 1
  // for those that may, and else to 0. All cores get the same result. `involved` has room for
  // whole words of bits.
  __mlu_func__ void Run(const BatchBoxes& boxes, const float* alive, int count, float* involved,
                        mlu::Nram nram) {
    const int cores = team_.team.cores, padded = (count + 31) / 32 * 32, words = padded / 32;
    __bang_write_zero(involved, padded);
    Mark(boxes, alive, count, involved, nram);

    int32_t* const bits = nram.Array<int32_t>(cores * words);
    float* const numbers = nram.Array<float>(padded);
    __bang_write_zero(numbers, padded);
    __bang_gt_bitindex(bits, involved, numbers, padded);
    team_.Store(team_.shared.near + team_.team.core * words, bits, words);
    team_.Sync();
    team_.Load(bits, team_.shared.near, cores * words);
    for (int rows = cores / 2; rows > 0; rows /= 2) {
      __bang_bor(bits, bits, bits + rows * words, rows * words);
    }
    __bang_write_zero(involved, padded);
    __bang_write_value(numbers, padded, 1.0f);
    __bang_maskmove_bitindex(involved, numbers, bits, padded);
  }

 private:
  static constexpr int kStrips = 8;
  static constexpr int kMostInRange = 2048, kMostInStrips = 4096;
  static constexpr int kPlaces = 64;  // along x, that the order within a core's range tells apart

  // Boxes that reach into a range, by where they begin.
  struct Range {
    int size;
    int32_t* positions;
    float *begin, *end;   // along x, in places from the range's start; begin is whole
    float *bottom, *top;  // along y, in strips: the lower and the higher end

    __mlu_func__ explicit Range(mlu::Nram& nram)
        : positions(nram.Array<int32_t>(kMostInRange)),
          begin(nram.Array<float>(kMostInRange)),
          end(nram.Array<float>(kMostInRange)),
          bottom(nram.Array<float>(kMostInRange)),
          top(nram.Array<float>(kMostInRange)) {}
  };

  // The greatest of numbers from 0 on, as what takes them to at most `steps`.
  __mlu_func__ static float Scale(const float* values, int count, float steps, mlu::Nram nram) {
    float* const greatest = nram.Array<float>(32);
    __bang_max(greatest, values, count);
    return greatest[0] > 1e-30f ? steps / greatest[0] : 0.0f;
  }

  // Sets involved[i] to 1 for boxes that may suppress another where their overlap begins in this
  // core's range of x.
  __mlu_func__ void Mark(const BatchBoxes& boxes, const float* alive, int count, float* involved,
                         mlu::Nram nram) {
    Range range(nram);
    float* const in_range = nram.Array<float>(count);
    int all;
    if (!FindRange(boxes, alive, count, in_range, range, all, nram)) return;
    if (range.size > kMostInRange) {  // too many to be worth it
      __bang_move(involved, in_range, count * sizeof(float));
      return;
    }
    int32_t* const order = nram.Array<int32_t>(kMostInStrips + kMostInRange);
    float* const strips = nram.Array<float>(kMostInStrips + kMostInRange);
    int total = MakeStrips(range, kStrips, order, strips, nram);
    if (total > kMostInStrips) total = MakeStrips(range, 1, order, strips, nram);
    if (total < 2) return;

    float* const found = nram.Array<float>(total);
    if (!Compare(boxes, range, order, strips, total, count, all, found, nram)) {
      __bang_move(involved, in_range, count * sizeof(float));
      return;
    }
    __bang_lut_s32(order, order, range.positions, total, range.size);
    const int marked =
        static_cast<int>(__bang_filter(order, order, reinterpret_cast<int32_t*>(found), total));
    for (int i = 0; i < marked; ++i) involved[order[i]] = 1.0f;
  }

  // Returns whether there is anything to compare; sets `all` to the number of boxes in all ranges,
  // and `mask` to 1 for those in this core's. Where these are more than kMostInRange, that is all.
  __mlu_func__ bool FindRange(const BatchBoxes& boxes, const float* alive, int count, float* mask,
                              Range& range, int& all, mlu::Nram nram) {
    const int cores = team_.team.cores, core = team_.team.core;
    // Both ends in units of 1/256 of where boxes begin.
    float* const begin = nram.Array<float>(count);
    float* const end = nram.Array<float>(count);
    float* const other = nram.Array<float>(count);
    __bang_mul(begin, boxes.x1, alive, count);
    const float units = Scale(begin, count, 255, nram);
    __bang_mul_scalar(begin, boxes.x1, units, count);
    __bang_add_scalar(end, boxes.x2, call_.offset, count);
    __bang_mul_scalar(end, end, units, count);

    // Ranges that begin about as many boxes each: bounded by some of a sample.
    float low = 0, high = 256;
    {
      mlu::Nram rest = nram;
      const int samples = 256;
      mlu::Pairs sample(rest, samples, false);
      all = static_cast<int>(__bang_filter(other, begin, alive, count));
      const int step = all / samples;
      __bang_move(mask, other, sizeof(float), sizeof(float), step * sizeof(float), samples - 1);
      __bang_float2int32_tz(sample.keys, mask, samples, 0);
      mlu::OrderPairs(sample, samples);
      if (core > 0) low = static_cast<float>(sample.keys[samples * core / cores]);
      if (core + 1 < cores) high = static_cast<float>(sample.keys[samples * (core + 1) / cores]);
    }
    if (!(low < high)) return false;

    __bang_lt_scalar(mask, begin, high, count);
    __bang_and(mask, mask, alive, count);
    if (core > 0) {
      __bang_ge_scalar(other, end, low, count);
      __bang_and(mask, mask, other, count);
    }
    const int size = static_cast<int>(__bang_count(mask, count));
    range.size = size;
    if (size < 2 || size > kMostInRange) return size > 1;

    // In order of their places.
    const float places = (kPlaces - 1) / (high - low);
    mlu::Pairs pairs(nram, size, true);
    __bang_filter(other, begin, mask, count);
    __bang_sub_scalar(other, other, low, size);
    __bang_mul_scalar(other, other, places, size);
    __bang_maxequal_scalar(other, other, 0.0f, size);
    __bang_float2int32_tz(pairs.keys, other, size, 0);
    int32_t* const positions = reinterpret_cast<int32_t*>(other);
    __bang_incseq(positions, count);
    __bang_filter(positions, positions, reinterpret_cast<int32_t*>(mask), count);
    __bang_move(pairs.values, positions, size * sizeof(int32_t));
    mlu::OrderPairs(pairs, size);
    __bang_move(range.positions, pairs.values, size * sizeof(int32_t));
    __bang_int322float(range.begin, pairs.keys, size, 0);
    LookUp(range.end, end, range.positions, size, count);
    __bang_sub_scalar(range.end, range.end, low, size);
    __bang_mul_scalar(range.end, range.end, places, size);
    __bang_minequal_scalar(range.end, range.end, 2.0f * kPlaces, size);
    LookUp(range.bottom, boxes.y1, range.positions, size, count);
    LookUp(range.top, boxes.y2, range.positions, size, count);
    return true;
  }

  // Numbers of the range's boxes, strip by strip; a box is in all strips that it reaches. Returns
  // how many, or more than kMostInStrips.
  __mlu_func__ int MakeStrips(const Range& range, int count, int32_t* order, float* strips,
                              mlu::Nram nram) {
    const int size = range.size;
    float* const bottom = nram.Array<float>(size);
    float* const top = nram.Array<float>(size);
    float* const mask = nram.Array<float>(size);
    float* const numbers = nram.Array<float>(size);
    const float units = Scale(range.bottom, size, static_cast<float>(count), nram);
    __bang_mul_scalar(bottom, range.bottom, units, size);
    __bang_add_scalar(top, range.top, call_.offset, size);
    __bang_mul_scalar(top, top, units, size);
    __bang_incseq(reinterpret_cast<int32_t*>(numbers), size);
    int total = 0;
    for (int strip = 0; strip < count; ++strip) {
      __bang_ge_scalar(mask, top, strip == 0 ? -1.0f : static_cast<float>(strip), size);
      if (strip + 1 < count) {
        float* const below = strips + total;
        __bang_lt_scalar(below, bottom, strip + 1.0f, size);
        __bang_and(mask, mask, below, size);
      }
      const int added =
          static_cast<int>(__bang_filter(order + total, reinterpret_cast<int32_t*>(numbers),
                                         reinterpret_cast<int32_t*>(mask), size));
      if (total + added > kMostInStrips) return total + added;
      if (added > 0) __bang_write_value(strips + total, added, 4.0f * kPlaces * strip);
      total += added;
    }
    return total;
  }

  // Sets found[i] to 1 for those that may suppress another. Returns false where that would take too
  // long.
  __mlu_func__ bool Compare(const BatchBoxes& boxes, const Range& range, const int32_t* order,
                            const float* strips, int total, int count, int all, float* found,
                            mlu::Nram nram) {
    int32_t* const positions = nram.Array<int32_t>(total);
    float* const begin = nram.Array<float>(total);
    float* const end = nram.Array<float>(total);
    float* const x1 = nram.Array<float>(total);
    float* const y1 = nram.Array<float>(total);
    float* const x2 = nram.Array<float>(total);
    float* const y2 = nram.Array<float>(total);
    float* const least = nram.Array<float>(total);
    float* const w = nram.Array<float>(total);
    float* const h = nram.Array<float>(total);
    float* const t = nram.Array<float>(total);
    const float off = call_.offset;
    __bang_lut_s32(positions, order, range.positions, total, range.size);
    // Of different strips, none overlap.
    LookUp(begin, range.begin, order, total, range.size);
    LookUp(end, range.end, order, total, range.size);
    __bang_add(begin, begin, strips, total);
    __bang_add(end, end, strips, total);
    LookUp(x1, boxes.x1, positions, total, count);
    LookUp(y1, boxes.y1, positions, total, count);
    LookUp(x2, boxes.x2, positions, total, count);
    LookUp(y2, boxes.y2, positions, total, count);
    __bang_sub(w, x2, x1, total);
    __bang_sub(h, y2, y1, total);
    __bang_add_scalar(w, w, off, total);
    __bang_add_scalar(h, h, off, total);
    __bang_mul(w, w, h, total);
    __bang_mul_scalar(least, w, call_.area_least, total);
    __bang_write_zero(found, total);

    const int most = MostDistance(all, total);
    if (most < total && Near(begin, end, most, total, w) > 0) return false;
    for (int distance = 1; distance < total; ++distance) {
      const int n = total - distance;
      if (distance % 4 == 1 && Near(begin, end, distance, total, w) == 0) return true;
      __bang_maxequal(w, x1, x1 + distance, n);
      __bang_minequal(t, x2, x2 + distance, n);
      __bang_maxequal(h, y1, y1 + distance, n);
      __bang_sub(w, t, w, n);
      __bang_minequal(t, y2, y2 + distance, n);
      if (off != 0.0f) __bang_add_scalar(w, w, off, n);
      __bang_sub(h, t, h, n);
      if (off != 0.0f) __bang_add_scalar(h, h, off, n);
      __bang_maxequal_scalar(w, w, 0.0f, n);
      __bang_add(t, least, least + distance, n);
      __bang_mul(w, w, h, n);
      __bang_gt(w, w, t, n);
      __bang_maxequal(found, found, w, n);
      __bang_maxequal(found + distance, found + distance, w, n);
    }
    return true;
  }

  // How many boxes begin before one that is `distance` places ahead of them ends.
  __mlu_func__ static int Near(const float* begin, const float* end, int distance, int total,
                               float* scratch) {
    __bang_le(scratch, begin + distance, end, total - distance);
    return static_cast<int>(__bang_count(scratch, total - distance));
  }

  // The distance up to which comparisons take a third of the time of comparing all boxes with all
  // those before them, in cycles of the vector unit.
  __mlu_func__ int MostDistance(int all, int total) const {
    const int per_row = 100 + 10 * all / 64, per_distance = 14 * (8 + total / 32);
    return all / team_.team.cores * per_row / 3 / per_distance;
  }

  const Call& call_;
  const ImageTeam& team_;
};

}  // namespace detops::ops
