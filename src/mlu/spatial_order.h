// SPDX-License-Identifier: Apache-2.0
//
// An order of boxes in which neighbours are near each other. For kernels only.
//
// Boxes of a cell of a grid follow each other, and cells do along a Hilbert curve, of which every
// part is compact. The lines of the grid go through the centres of a sample of the boxes, so that
// there are about as many boxes between any two. Boxes much larger than most have grids of their
// own.
#pragma once

#include "mlu/team.h"
#include "mlu/vectors.h"

namespace detops::mlu {

// Bounds as columns: empty ones have x1 > x2.
struct BoundsColumns {
  Vec x1, y1, x2, y2;
};

class SpatialOrder {
 public:
  // What `lines` must have room for, in floats.
  static constexpr int kLineFloats = 2 * 256;
  static constexpr int kMostSamples = 1023;

  // For `count` boxes.
  __mlu_func__ SpatialOrder(int64_t count, Nram& nram)
      : bits_(AxisBits(count)),
        lines_((1 << bits_) - 1),
        samples_(4 * lines_ + 3 < count ? 4 * lines_ + 3 : static_cast<int>(count)) {
    x_ = nram.Array<float>(256);
    y_ = nram.Array<float>(256);
  }
  // Of how many of the boxes the bounds are wanted.
  __mlu_func__ int samples() const { return samples_; }
  // Of the keys.
  static __mlu_func__ int Bits(int64_t count) { return 2 * AxisBits(count) + kClassBits; }

  // Places the lines; all cores have the same sample. `lines` is in GDRAM. There is a barrier in
  // it.
  __mlu_func__ void SetSample(const Team& team, const BoundsColumns& b, float* lines) {
    const Scope scope(b.x1.arena);
    Arena* const arena = b.x1.arena;
    const Vec places = arena->New(kLineFloats), values = arena->New(kLineFloats);
    int found = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const Scope axis_scope(arena);
      const Vec centre = axis == 0 ? Centre(b.x1, b.x2) : Centre(b.y1, b.y2);
      const Vec before = arena->New(samples_);
      const Share mine(team, samples_);
      for (int i = mine.begin; i < mine.end; ++i) {
        const float value = centre.data[i];
        int rank = 0;
        if (i > 0) {
          __bang_le_scalar(before.data, centre.data, value, i);
          rank += __bang_count(before.data, i);
        }
        if (i + 1 < samples_) {
          const int behind = samples_ - i - 1;
          __bang_lt_scalar(before.data, centre.data + i + 1, value, behind);
          rank += __bang_count(before.data, behind);
        }
        // Line k goes through the centre of rank (k + 1) * samples / (lines + 1).
        const int cells = lines_ + 1;
        for (int k = (rank * cells + samples_ - 1) / samples_ - 1;
             k < lines_ && (k + 1) * samples_ / cells == rank; ++k) {
          if (k < 0) continue;
          places.Bits()[found] = (axis * 256 + k) * sizeof(float);
          values.data[found++] = value;
        }
      }
    }
    if (found > 0) {
      __scatter(lines, values.data, reinterpret_cast<unsigned*>(places.Bits()), sizeof(float),
                NRAM2GDRAM, sizeof(float), found);
    }
    team.Sync();
    __memcpy(x_, lines, lines_ * sizeof(float), GDRAM2NRAM);
    __memcpy(y_, lines + 256, lines_ * sizeof(float), GDRAM2NRAM);
    usual_ = MedianExponent(b);
  }

  __mlu_func__ void Keys(const BoundsColumns& b, int32_t* keys) const {
    const int count = b.x1.count;
    Arena* const arena = b.x1.arena;
    const Scope scope(arena);
    const Vec column = Cell(Centre(b.x1, b.x2), x_), row = Cell(Centre(b.y1, b.y2), y_);
    HilbertKeys(column.Bits(), row.Bits(), keys, count, arena);
    const Vec exponent = Exponent(b);
    int32_t* const larger = column.Bits();
    for (int i = 1; i < 1 << kClassBits; ++i) {
      const int64_t least = usual_ + int64_t{i} * kClassRatio;
      if (least > 0x7f000000) break;
      __bang_ge_scalar(larger, exponent.Bits(), static_cast<int32_t>(least), count);
      __bang_mul_scalar(larger, larger, int32_t{1} << (2 * bits_), count);
      __bang_add(keys, keys, larger, count);
    }
  }

 private:
  static constexpr int kClassBits = 2;
  static constexpr int32_t kClassRatio = 2 << 23;  // of sizes: two exponents

  static __mlu_func__ int AxisBits(int64_t count) {
    return count < 4096 ? 5 : count < 32768 ? 6 : count < 1048576 ? 7 : 8;
  }

  // Far away for empty bounds.
  static __mlu_func__ Vec Centre(Vec low, Vec high) {
    const Vec far = Filled(low.arena, low.count, 3e38f);
    return Select(low < high, low * 0.5f + high * 0.5f, far);
  }

  // The exponent of the longer side, as it is in a float; 0 for empty bounds.
  static __mlu_func__ Vec Exponent(const BoundsColumns& b) {
    const Vec size = Max(Max(b.x2 - b.x1, b.y2 - b.y1), 0.0f);
    __bang_band_scalar(size.Bits(), size.Bits(), int32_t{0x7f800000}, size.count);
    return size;
  }
  static __mlu_func__ int32_t MedianExponent(const BoundsColumns& b) {
    const Vec exponent = Exponent(b), below = b.x1.arena->New(b.x1.count);
    int low = 0, high = 255;
    while (low < high) {
      const int middle = (low + high) / 2;
      __bang_le_scalar(below.Bits(), exponent.Bits(), middle << 23, below.count);
      if (2 * static_cast<int>(__bang_count(below.Bits(), below.count)) >= below.count) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return static_cast<int32_t>(low) << 23;
  }

  // How many lines are not beyond, as integers: a binary search.
  __mlu_func__ Vec Cell(Vec centre, const float* lines) const {
    const int count = centre.count;
    const Vec cell = Filled(centre.arena, count, 0.0f);
    const Vec line = centre.arena->New(count);
    __bang_write_zero(cell.Bits(), count);
    for (int step = 1 << (bits_ - 1); step > 0; step /= 2) {
      __bang_add_scalar(line.Bits(), cell.Bits(), step - 1, count);
      __bang_lut_s32(line.Bits(), line.Bits(),
                     reinterpret_cast<int32_t*>(const_cast<float*>(lines)), count, lines_);
      __bang_ge(line.data, centre.data, line.data, count);
      // 1.0 is 127 << 23.
      __bang_band_scalar(line.Bits(), line.Bits(), int32_t{1} << 23, count);
      __bang_ne_scalar(line.Bits(), line.Bits(), int32_t{0}, count);
      __bang_mul_scalar(line.Bits(), line.Bits(), step, count);
      __bang_add(cell.Bits(), cell.Bits(), line.Bits(), count);
    }
    return cell;
  }

  // The places of cells along the curve. Columns and rows are overwritten.
  __mlu_func__ void HilbertKeys(int32_t* x, int32_t* y, int32_t* keys, int count,
                                Arena* arena) const {
    int32_t* const right = arena->New(count).Bits();
    int32_t* const above = arena->New(count).Bits();
    int32_t* const scratch = arena->New(count).Bits();
    __bang_write_zero(keys, count);
    for (int half = 1 << (bits_ - 1); half > 0; half /= 2) {
      __bang_band_scalar(right, x, half, count);
      __bang_band_scalar(above, y, half, count);
      __bang_ne_scalar(right, right, int32_t{0}, count);
      __bang_ne_scalar(above, above, int32_t{0}, count);
      // Quarters in the order left below, left above, right above, right below.
      __bang_mul_scalar(keys, keys, int32_t{4}, count);
      __bang_mul_scalar(scratch, right, int32_t{2}, count);
      __bang_add(keys, keys, scratch, count);
      __bang_bxor(scratch, right, above, count);
      __bang_add(keys, keys, scratch, count);
      // The lower quarters are transposed, the right one also turned round.
      __bang_lt(scratch, above, right, count);
      __bang_mul_scalar(scratch, scratch, half - 1, count);
      __bang_bxor(x, x, scratch, count);
      __bang_bxor(y, y, scratch, count);
      __bang_sub_scalar(above, above, int32_t{1}, count);
      __bang_bxor(scratch, x, y, count);
      __bang_band(scratch, scratch, above, count);
      __bang_bxor(x, x, scratch, count);
      __bang_bxor(y, y, scratch, count);
    }
  }

  const int bits_, lines_, samples_;
  float *x_, *y_;
  int32_t usual_ = 0;
};

}  // namespace detops::mlu
