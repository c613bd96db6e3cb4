// SPDX-License-Identifier: Apache-2.0
//
// What a core keeps in NRAM, and the waits of its pipes for each other (BANG C).
#pragma once

#include <stdint.h>

#include "ops/border_align_forward/mlu_blend.h"
#include "ops/border_align_forward/mlu_cut.h"
#include "ops/border_align_forward/mlu_samples.h"

namespace detops::ops::border_align {

using ThisCut = Cut<DETOPS_MLU_ARCH>;

// In floats.
struct Memory {
  static constexpr int kCorners = 0;  // two buffers of four vectors
  static constexpr int kBest = kCorners + 2 * 4 * ThisCut::kVector;
  static constexpr int kBits = kBest + 2 * ThisCut::kVector;
  static constexpr int kIndex = kBits + 2 * ThisCut::kVector;
  static constexpr int kWeights = kIndex + ThisCut::kVector;
  static constexpr int kLineWeights = kWeights + Weights::kVectors * ThisCut::kWeights;
  static constexpr int kSamples = kLineWeights + 2 * ThisCut::kWeights;
  static constexpr int kSlice = kSamples + Samples::kSampleVectors * ThisCut::kSamples;
  static constexpr int kBoxes = kSlice + ThisCut::kSamples;
  static constexpr int kOrder = kBoxes + Samples::kBoxVectors * ThisCut::kMostBoxes;
  static constexpr int kFloats = kOrder + ThisCut::kMostBoxes;
  static_assert(kFloats <= ThisCut::kNramFloats);
};

__mlu_func__ int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// What follows on the one pipe waits for what is before on the other one.
__mlu_func__ void ComputeWaitsForIo() {
  __sync_io_move_compute(true, false, false, false, false, true);
}
__mlu_func__ void ComputeWaitsForMove() {
  __sync_io_move_compute(false, true, false, false, false, true);
}
__mlu_func__ void IoWaitsForMove() {
  __sync_io_move_compute(false, true, false, true, false, false);
}
__mlu_func__ void CopiesWaitForCompute() {
  __sync_io_move_compute(false, false, true, true, true, false);
}

// One border's maps, as many channels as are blended together, of one image, and some of its boxes.
struct Part {
  int64_t image;
  int border;
  int64_t first_channel;
  int channels;
  int chunks, lanes;   // how the channels lie in NRAM: [chunks][boxes][lanes]
  int64_t begin, end;  // boxes, by their place in the order if there is one
  const int32_t* order;

  __mlu_func__ bool vertical() const { return border % 2 == 1; }
};

// The bytes from one element to the next, and where the maps of a part begin.
struct InputLayout {
  int64_t along, across;
  const int8_t* map;

  __mlu_func__ InputLayout(const BorderAlignMlu& call, const Part& part) {
    const int64_t bytes = call.half ? sizeof(half) : sizeof(float);
    const int64_t pixel = 4 * call.channels * bytes, row = call.axes[0].size * pixel;
    along = part.vertical() ? row : pixel;
    across = part.vertical() ? pixel : row;
    map = static_cast<const int8_t*>(call.input) + part.image * call.axes[1].size * row +
          (part.border * call.channels + part.first_channel) * bytes;
  }
};

}  // namespace detops::ops::border_align
