// SPDX-License-Identifier: Apache-2.0
//
// Samples of a batch of boxes, blended and compared channel by channel (BANG C). All vectors are
// [chunks][boxes][lanes]: the weights of the boxes, each repeated for the lanes of a chunk, serve
// all chunks, and no vector is short.
#pragma once

#include <stdint.h>

#include "ops/border_align_forward/mlu.h"

namespace detops::ops::border_align {

// Weights of the boxes of a batch, for some samples at a time: [samples][boxes][lanes].
struct Weights {
  static constexpr int kVectors = 5;

  float *line, *next_line;  // across, [boxes][lanes]
  float* corners[4];        // [line][pixel along]
  float* zeros;

  // Of as many floats each; `line_memory` has room for two batches of weights.
  __mlu_func__ Weights(float* memory, int floats, float* line_memory) {
    for (int i = 0; i < 4; ++i) corners[i] = memory + i * floats;
    zeros = memory + 4 * floats;
    line = line_memory;
    next_line = line + floats;
  }

  __mlu_func__ void SetLines(const float* line_weights, const float* next_line_weights, int boxes,
                             int lanes) {
    __bang_cycle_add(corners[0], zeros, line_weights, lanes * boxes, boxes);
    __bang_cycle_add(corners[1], zeros, next_line_weights, lanes * boxes, boxes);
    __bang_transpose(line, corners[0], lanes, boxes);
    __bang_transpose(next_line, corners[1], lanes, boxes);
  }

  // next_pixel_weights: [samples][boxes]
  __mlu_func__ void SetPixels(const float* next_pixel_weights, int samples, int boxes, int lanes) {
    const int weights = samples * boxes, period = boxes * lanes, n = samples * period;
    float* const next = corners[3];
    float* const here = corners[2];
    __bang_cycle_add(here, zeros, next_pixel_weights, n, weights);
    __bang_transpose(next, here, lanes, weights);
    __bang_fusion(FUSION_FMA, here, next, -1.0f, 1.0f, n, n);
    __bang_cycle_mul(corners[1], next, line, n, period);
    __bang_cycle_mul(corners[0], here, line, n, period);
    __bang_cycle_mul(corners[3], next, next_line, n, period);
    __bang_cycle_mul(corners[2], here, next_line, n, period);
  }
};

// Running maxima and their samples. A sample that is greater than all before it sets the bit of its
// number, modulo kSegment, in a float; the last one set is the float's exponent.
struct Maxima {
  static constexpr int kSegment = 24;  // bits of a float that is exact

  float* best;
  float* bits;     // becomes the index
  int32_t* index;  // of segments that are over; needed only where there are several

  __mlu_func__ int32_t* Index() const { return reinterpret_cast<int32_t*>(bits); }

  // corners: values [line][pixel along][chunks][boxes][lanes], which are overwritten. Their weights
  // begin at `first_weight`.
  __mlu_func__ void Add(const Weights& weights, int first_weight, float* corners,
                        bool border_is_vertical, int64_t sample, int period, int count) {
    float* values[4];
    for (int i = 0; i < 4; ++i) {
      values[i] = corners + i * count;
      __bang_cycle_mul(values[i], values[i], weights.corners[i] + first_weight, count, period);
    }
    // In the contract's order: the second one is the neighbour in x.
    float* const sum = values[0];
    float* const second = values[border_is_vertical ? 2 : 1];
    float* const third = values[border_is_vertical ? 1 : 2];
    __bang_fusion(FUSION_FAA, sum, sum, second, third, count, count);
    if (sample == 0) {
      __bang_write_value(bits, count, 1.0f);
      __bang_add(best, sum, values[3], count);
      return;
    }
    const int bit = sample % kSegment;
    __bang_add(sum, sum, values[3], count);
    float* const greater = values[1];
    __bang_gt(greater, sum, best, count);
    __bang_maxequal(best, best, sum, count);  // a NaN in either: best
    if (bit == 0) __bang_write_value(bits, count, 0.0f);
    __bang_fusion(FUSION_FMA, bits, greater, static_cast<float>(1 << bit), bits, count, count);
    if (bit == kSegment - 1) EndSegment(sample - bit, values[2], count);
  }

  // The indices of all samples up to `sample`, the last one.
  __mlu_func__ void End(int64_t sample, float* scratch, int count) {
    const int bit = sample % kSegment;
    if (sample < kSegment) {
      // The first sample's bit is always set.
      if (bit < kSegment - 1) {
        Exponents(Index(), bits, count);
      } else {
        __bang_move(bits, index, count * sizeof(float));
      }
      return;
    }
    if (bit < kSegment - 1) EndSegment(sample - bit, scratch, count);
    __bang_move(bits, index, count * sizeof(float));
  }

 private:
  __mlu_func__ static void Exponents(int32_t* dst, float* src, int count) {
    // Exact: the exponent's bits make a float, from which its offset is taken.
    float* const floats = reinterpret_cast<float*>(dst);
    __bang_band_scalar(dst, reinterpret_cast<int32_t*>(src), 0x7F800000, count);
    __bang_int322float(floats, dst, count, 0);
    __bang_fusion(FUSION_FMA, floats, floats, 0x1p-23f, -127.0f, count, count);
    __bang_float2int32_tz(dst, floats, count, 0);
  }

  __mlu_func__ void EndSegment(int32_t first, float* scratch, int count) {
    if (first == 0) {
      Exponents(index, bits, count);
      return;
    }
    // Later indices are larger: the maximum, but 0 where no sample of this segment counts.
    int32_t* const any = reinterpret_cast<int32_t*>(scratch);
    __bang_gt_scalar(scratch, bits, 0.0f, count);
    __bang_float2int32_tz(any, scratch, count, 0);
    Exponents(Index(), bits, count);
    __bang_add_scalar(Index(), Index(), first, count);
    __bang_mul(Index(), Index(), any, count);
    __bang_maxequal(index, index, Index(), count);
  }
};

}  // namespace detops::ops::border_align
