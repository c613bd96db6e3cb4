// SPDX-License-Identifier: Apache-2.0
//
// How much each core of a card takes at a time: for the host, which cuts the work, and for the
// kernels, which reserve the memory.
#pragma once

#include <stdint.h>

namespace detops::ops::border_align {

// Channels that a weight is repeated for: 128 bytes, a pass of the vector unit.
constexpr int kLanes = 32;

// Bands of a map, and, of all slices together, their counts of boxes.
constexpr int kMostBands = 512;
constexpr int kMostCounts = 32768;

template <int kArch>
struct Cut {
  // All but what libraries leave to the compiler's stack.
  static constexpr int kNramFloats = ((kArch >= 592 ? 512 : 768) - 128) * 256;
  static constexpr int kSramBytes = ((kArch >= 592 ? 2048 : 4096) - 128) * 1024;

  static constexpr int kVector = kArch >= 592 ? 4096 : 8192;  // boxes x channels of a batch
  static constexpr int kWeights = 4096;                       // samples x boxes x lanes
  static constexpr int kSamples = 2176;                       // boxes x samples of a group
  static constexpr int kMostBoxes = 256;                      // of a group
  static constexpr int kMostChannels = 256;                   // of a block
};

}  // namespace detops::ops::border_align
