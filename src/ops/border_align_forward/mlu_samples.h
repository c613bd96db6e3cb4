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
  static constexpr int kBoxVectors = 4 + 4 + 7 + 5;  // of as many floats as the group has boxes
  static constexpr int kSampleVectors = 4;           // times the number of samples

  __mlu_func__ Samples(float* box_memory, float* sample_memory, int sample_floats, int boxes)
      : boxes_(box_memory), samples_(sample_memory), sample_floats_(sample_floats), count_(boxes) {}

  __mlu_func__ int count() const { return count_; }

  // Where the boxes are loaded, as they lie in memory. The functions below are called in their
  // order; borders are 0 top, 1 left, 2 bottom, 3 right.
  __mlu_func__ float* Packed() const { return boxes_; }

  __mlu_func__ void Unpack(bool half_boxes) {
    const int n = count_;
    float* const coordinates = Box(kCoordinates);
    if (half_boxes) {
      half* const halves = reinterpret_cast<half*>(Box(kScratch));
      __bang_transpose(halves, reinterpret_cast<half*>(Packed()), n, 4);
      __bang_half2float(coordinates, halves, 4 * n);
    } else {
      __bang_transpose(coordinates, Packed(), n, 4);
    }
    float* const zeros = Box(kScratch);
    __bang_mul_scalar(zeros, coordinates, 0.0f, 4 * n);
    __bang_add(zeros, zeros, zeros + 2 * n, 2 * n);
    __bang_add(zeros, zeros, zeros + n, n);
    __bang_eq_scalar(Box(kFinite), zeros, 0.0f, n);
  }

  // Across: the line of pixels at or before the border, and the weights of it and of the next one.
  __mlu_func__ void FindLines(const BorderAlignMlu& call, int border) {
    float* const position = Box(kNextLineWeight);
    SetWhereFinite(position, Box(kCoordinates) + (border ^ 1) * count_, kOutside);
    FindPixels(call.axes[1 - border % 2], position, Box(kLine), Box(kInside), Box(kScratch),
               count_);
    __bang_fusion(FUSION_FMA, Box(kLineWeight), position, -1.0f, 1.0f, count_, count_);
  }
  __mlu_func__ float* Lines() const { return Box(kLine); }
  __mlu_func__ const float* LineWeights() const { return Box(kLineWeight); }
  __mlu_func__ const float* NextLineWeights() const { return Box(kNextLineWeight); }

  // Along: where the samples start, and their step. Of x1, y1, x2, y2 a border starts at the one of
  // its number; it ends at the one two away.
  __mlu_func__ void FindSteps(const BorderAlignMlu& call, int border) {
    const int n = count_;
    const float* const start = Box(kCoordinates) + border * n;
    const float* const end = Box(kCoordinates) + (border ^ 2) * n;
    float* const length = Box(kPacked);
    float* const steps = length + n;
    float* const step = steps + n;
    __bang_sub(length, end, start, n);
    __bang_write_value(steps, n, static_cast<float>(call.pool_size));
    mlu::Divide(step, length, steps, Box(kScratch), n);
    SetWhereFinite(Box(kStep), step, 0.0f);
    SetWhereFinite(Box(kPosition), start, kOutside);
  }

  // The next `samples` of each box: the pixel at or before each of them along the border, or -1
  // where the sample is outside of the map, and the weight of the pixel behind that.
  __mlu_func__ void Find(const BorderAlignMlu& call, int border, int samples) {
    const int n = count_, all = samples * count_;
    float* const position = Sample(kNextPixelWeight);
    __bang_move(position, Box(kPosition), n * sizeof(float));
    for (int s = 1; s < samples; ++s) {
      __bang_add(position + s * n, position + (s - 1) * n, Box(kStep), n);
    }
    __bang_add(Box(kPosition), position + (samples - 1) * n, Box(kStep), n);
    FindPixels(call.axes[border % 2], position, Sample(kPixel), Sample(kSampleInside),
               Sample(kSampleScratch), all);
    __bang_cycle_mul(Sample(kSampleInside), Sample(kSampleInside), Box(kInside), all, n);
    SetOutside(-1.0f, all);
  }
  __mlu_func__ const float* Pixels(int s) const { return Sample(kPixel) + s * count_; }
  __mlu_func__ const float* NextPixelWeights(int s) const {
    return Sample(kNextPixelWeight) + s * count_;
  }

  // Instead of Find: where the pixels are in a band of lines, in bytes; outside of the map, where
  // zeros are.
  __mlu_func__ void FindOffsets(const BorderAlignMlu& call, int border, int samples,
                                const BorderAlignBand& band) {
    const int n = count_, all = samples * count_;
    Find(call, border, samples);
    // The lines' first pixels. All numbers are below 2^24.
    float* const first = Box(kScratch);
    __bang_sub_scalar(first, Box(kLine), static_cast<float>(band.first_line), n);
    __bang_mul_scalar(first, first, static_cast<float>(band.line_pixels), n);
    __bang_cycle_add(Sample(kPixel), Sample(kPixel), first, all, n);
    SetOutside(static_cast<float>(band.zero_pixel), all);
    int32_t* const offsets = reinterpret_cast<int32_t*>(Sample(kPixel));
    __bang_float2int32_tz(offsets, Sample(kPixel), all, 0);
    __bang_mul_scalar(offsets, offsets, band.pixel_bytes, all);
  }
  __mlu_func__ const int32_t* Offsets(int s) const {
    return reinterpret_cast<const int32_t*>(Pixels(s));
  }

 private:
  enum {
    kPacked = 0,
    kCoordinates = 4,
    kFinite = 8,
    kInside,
    kLine,
    kLineWeight,
    kNextLineWeight,
    kStep,
    kPosition,
    kScratch
  };
  enum { kNextPixelWeight, kPixel, kSampleInside, kSampleScratch };
  static constexpr float kOutside = -2.0f;

  __mlu_func__ float* Box(int vector) const { return boxes_ + vector * count_; }
  __mlu_func__ float* Sample(int vector) const { return samples_ + vector * sample_floats_; }

  // A NaN or an infinity in a box puts all of its samples outside.
  __mlu_func__ void SetWhereFinite(float* dst, const float* src, float otherwise) {
    __bang_write_value(dst, count_, otherwise);
    __bang_maskmove(dst, src, Box(kFinite), count_);
  }

  // pixel * 1 + 0, or pixel * 0 + value.
  __mlu_func__ void SetOutside(float value, int count) {
    float* const values = Sample(kSampleScratch);
    __bang_fusion(FUSION_FMA, values, Sample(kSampleInside), -value, value, count, count);
    __bang_fusion(FUSION_FMA, Sample(kPixel), Sample(kPixel), Sample(kSampleInside), values, count,
                  count);
  }

  // Of finite or infinite positions: the pixel at or before them, whether they are inside, 1 or 0,
  // and, in place of them, the weight of the pixel behind that.
  __mlu_func__ static void FindPixels(const BorderAlignAxis& axis, float* position, float* pixel,
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
