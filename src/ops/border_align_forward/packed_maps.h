// SPDX-License-Identifier: Apache-2.0
//
// How separate channels (NCHW) are packed into vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/checked_size.h"
#include "core/workspace.h"
#include "ops/border_align_forward/plan.h"

namespace detops::ops::border_align {

// Channels are packed in multiples of this: a vector of any target.
inline constexpr int64_t kPacked = 16;
// Up to this many channels are not worth packing.
inline constexpr int64_t kFewChannels = kPacked - 1;

// Lanes without a channel are read too.
inline int64_t WithAllLanes(int64_t channels) {
  return (channels + kPacked - 1) / kPacked * kPacked;
}

// How whole maps are packed into memory from the handle: at a time, the four maps of a group of
// channels. Results are stored there as well, until those of the four borders are written together.
struct PackedMaps {
  static constexpr int64_t kMostChannels = 128;
  int64_t group;  // channels
  int64_t groups;
  int64_t boxes;  // at a time, so that their results stay in a cache

  // Few boxes don't read enough of a map to make packing all of it worthwhile.
  static bool Worthwhile(const BorderAlignForwardPlan& plan) {
    return plan.layout == MLUOP_LAYOUT_NCHW && plan.channels > kFewChannels &&
           plan.boxes >= plan.height * plan.width / 16;
  }

  // As many channels as fit into the second-level cache, but not too few, because the samples are
  // computed again for each group.
  explicit PackedMaps(const BorderAlignForwardPlan& plan)
      : pixels_(core::CheckedMul(plan.height, plan.width, "workspace")) {
    constexpr int64_t kCached = 64 * 1024;  // values
    constexpr int64_t kLeastChannels = 64;
    constexpr int64_t kResults = 256 * 1024;
    const int64_t fit = kCached / pixels_ / kPacked * kPacked;
    group = std::min({WithAllLanes(plan.channels), kMostChannels, std::max(fit, kLeastChannels)});
    groups = (plan.channels + group - 1) / group;
    boxes = std::min(plan.boxes, kResults / 4 / group);
  }

  template <class T>
  struct Memory {
    T* maps;         // [4][pixels][group]
    T* best;         // [4][boxes][group]
    int32_t* index;  // the same
  };
  template <class T>
  Memory<T> Reserve(core::WorkspaceLayout& layout) const {
    const int64_t map = core::CheckedMul(pixels_, group, "workspace");
    return {layout.Array<T>(core::CheckedMul(map, 4, "workspace")),
            layout.Array<T>(4 * boxes * group), layout.Array<int32_t>(4 * boxes * group)};
  }

 private:
  int64_t pixels_;
};

}  // namespace detops::ops::border_align
