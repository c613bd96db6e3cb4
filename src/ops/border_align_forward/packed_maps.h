// SPDX-License-Identifier: Apache-2.0
//
// How channels that lie apart (NCHW) are packed into vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/checked_size.h"
#include "core/workspace.h"
#include "ops/border_align_forward/plan.h"

namespace detops::ops::border_align {

// Channels packed together at least, and in multiples of: a vector of any target.
inline constexpr int64_t kPacked = 16;
// Channels that are not worth packing.
inline constexpr int64_t kFewChannels = kPacked - 1;

// Lanes that no channel fills are read too.
inline int64_t WithAllLanes(int64_t channels) {
  return (channels + kPacked - 1) / kPacked * kPacked;
}

// How maps are packed whole, [pixels][group] each, into memory that the handle lends.
struct PackedMaps {
  static constexpr int64_t kMostChannels = 128;
  int64_t group;  // channels of a map
  int64_t groups;
  int64_t at_a_time;  // maps: so that there is work for several threads

  // Few boxes don't read enough of a map for packing all of it.
  static bool Worthwhile(const BorderAlignForwardPlan& plan) {
    return plan.layout == MLUOP_LAYOUT_NCHW && plan.channels > kFewChannels &&
           plan.boxes >= plan.height * plan.width / 16;
  }

  // As many channels as stay in the second-level cache, and some at least, because each group finds
  // the samples anew.
  explicit PackedMaps(const BorderAlignForwardPlan& plan) {
    constexpr int64_t kCached = 64 * 1024;  // values
    constexpr int64_t kLeastChannels = 64;
    const int64_t fit = kCached / (plan.height * plan.width) / kPacked * kPacked;
    group = std::min({WithAllLanes(plan.channels), kMostChannels, std::max(fit, kLeastChannels)});
    groups = (plan.channels + group - 1) / group;
    values_ = core::CheckedMul(plan.height * plan.width, group, "workspace");
    constexpr int64_t kMost = 8, kMostValues = 4 << 20;  // one map may have more
    at_a_time =
        std::min(plan.images * groups * 4, std::clamp<int64_t>(kMostValues / values_, 1, kMost));
  }

  template <class T>
  T* Reserve(core::WorkspaceLayout& layout) const {
    return layout.Array<T>(core::CheckedMul(at_a_time, values_, "workspace"));
  }

 private:
  int64_t values_;  // of a map
};

}  // namespace detops::ops::border_align
