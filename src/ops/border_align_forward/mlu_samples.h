// SPDX-License-Identifier: Apache-2.0
//
// Where the samples of a group of boxes lie along one border (BANG C): math/bilinear.h and walk.h
// on vectors over boxes. "Along" is the axis on which a border lies, "across" the other one, on
// which its samples don't move.
#pragma once

#include <stdint.h>

#include "mlu/divide.h"
#include "ops/border_align_forward/mlu.h"

namespace detops::ops::border_align {

class Samples {
 public:
  static constexpr int kBoxVectors = 4 + 4 + 6 + 4;  // of as many floats as the group has boxes
  static constexpr int kSampleVectors = 4;           // times the number of samples

  // The boxes are loaded to Packed(), and then prepared for a border: 0 top, 1 left, 2 bottom,
  // 3 right.
  __mlu_func__ Samples(float* box_memory, float* sample_memory, int sample_floats, int boxes)
      : boxes_(box_memory), samples_(sample_memory), sample_floats_(sample_floats), count_(boxes) {}

  __mlu_func__ int count() const { return count_; }
  __mlu_func__ float* Packed() const { return boxes_; }

  // Of box i: the line of pixels across, and the weights of it and of the next one.
  __mlu_func__ float Line(int i) const { return Box(kLine)[i]; }
  __mlu_func__ const float* LineWeights() const { return Box(kLineWeight); }
  __mlu_func__ const float* NextLineWeights() const { return Box(kNextLineWeight); }

  // Of sample s, as counted from the first one found: the pixel along, or -1 where the sample is
  // outside of the map; and the weight of the pixel behind that.
  __mlu_func__ float Pixel(int s, int i) const { return Sample(kPixel)[s * count_ + i]; }
  __mlu_func__ const float* NextPixelWeights(int s) const {
    return Sample(kNextPixelWeight) + s * count_;
  }

  __mlu_func__ void PrepareBoxes(const BorderAlignMlu& call, int border) {
    const int n = count_;
    float* const coordinates = Box(4);  // [4][n]
    if (call.half) {
      half* const halves = reinterpret_cast<half*>(Packed());
      __bang_transpose(reinterpret_cast<half*>(Box(8)), halves, n, 4);
      __bang_half2float(coordinates, reinterpret_cast<half*>(Box(8)), 4 * n);
    } else {
      __bang_transpose(coordinates, Packed(), n, 4);
    }
    // x1, y1, x2, y2: a border begins at the one of its number; the other end is two away, and the
    // position across is that of the neighbour.
    const float* const start = coordinates + border * n;
    const float* const end = coordinates + (border ^ 2) * n;
    const float* const across = coordinates + (border ^ 1) * n;

    // A NaN or an infinity in a box puts all of its samples outside.
    float* const scratch = Box(kScratch);
    float* const finite = Box(kInside);
    __bang_mul_scalar(scratch, coordinates, 0.0f, 4 * n);
    __bang_add(scratch, scratch, scratch + 2 * n, 2 * n);
    __bang_add(scratch, scratch, scratch + n, n);
    __bang_eq_scalar(finite, scratch, 0.0f, n);

    // The step, 0 for those. Its sign is that of the way from the start to the end.
    float* const length = Packed();
    float* const steps = length + n;
    float* const step = length + 2 * n;
    __bang_sub(length, end, start, n);
    __bang_write_value(steps, n, static_cast<float>(call.pool_size));
    mlu::Divide(step, length, steps, scratch, n);
    __bang_write_value(Box(kStep), n, 0.0f);
    __bang_maskmove(Box(kStep), step, finite, n);

    float* const position = Box(kLineWeight);
    float* const line = Box(kLine);
    __bang_write_value(Box(kPosition), n, kOutside);
    __bang_maskmove(Box(kPosition), start, finite, n);
    __bang_write_value(position, n, kOutside);
    __bang_maskmove(position, across, finite, n);

    const BorderAlignAxis& axis = call.axes[1 - border % 2];
    float* const inside = Box(kInside);
    FindPixels(axis, position, line, inside, scratch, n);
    float* const next = Box(kNextLineWeight);
    __bang_move(next, position, n * sizeof(float));
    __bang_fusion(FUSION_FMA, Box(kLineWeight), next, -1.0f, 1.0f, n, n);
  }

  // The next `samples` of each box.
  __mlu_func__ void Find(const BorderAlignMlu& call, int border, int samples) {
    const int n = count_, all = samples * count_;
    float* const position = Sample(kNextPixelWeight);
    float* const inside = Sample(kPixel);
    float* const pixel = Sample(kFirstScratch);
    float* const scratch = Sample(kSecondScratch);
    __bang_move(position, Box(kPosition), n * sizeof(float));
    for (int s = 1; s < samples; ++s) {
      __bang_add(position + s * n, position + (s - 1) * n, Box(kStep), n);
    }
    __bang_add(Box(kPosition), position + (samples - 1) * n, Box(kStep), n);
    FindPixels(call.axes[border % 2], position, pixel, inside, scratch, all);
    __bang_cycle_mul(inside, inside, Box(kInside), all, n);
    // The pixel times 1 plus 0, or times 0 plus -1.
    __bang_sub_scalar(scratch, inside, 1.0f, all);
    __bang_fusion(FUSION_FMA, inside, pixel, inside, scratch, all, all);
  }

 private:
  enum { kPosition = 8, kStep, kLine, kLineWeight, kNextLineWeight, kInside, kScratch };
  enum { kNextPixelWeight, kPixel, kFirstScratch, kSecondScratch };
  static constexpr float kOutside = -2.0f;

  __mlu_func__ float* Box(int vector) const { return boxes_ + vector * count_; }
  __mlu_func__ float* Sample(int vector) const { return samples_ + vector * sample_floats_; }

  // Of positions that are no NaN: whether they are inside, 1 or 0, the pixel at or before them,
  // and, in place of them, the weight of the pixel behind that.
  __mlu_func__ void FindPixels(const BorderAlignAxis& axis, float* position, float* pixel,
                               float* inside, float* scratch, int count) {
    __bang_ge_scalar(inside, position, -1.0f, count);
    __bang_le_scalar(scratch, position, axis.end, count);
    __bang_mul(inside, inside, scratch, count);
    __bang_relun(position, position, count, axis.end);
    __bang_trunc(pixel, position, count);
    __bang_lt_scalar(scratch, pixel, axis.last_or_above, count);
    __bang_mineq_scalar(pixel, pixel, axis.last, count);
    // On the last pixel there is none behind it.
    __bang_fusion(FUSION_FSM, position, position, pixel, scratch, count, count);
  }

  float *boxes_, *samples_;
  int sample_floats_, count_;
};

}  // namespace detops::ops::border_align
