// SPDX-License-Identifier: Apache-2.0
//
// Where the samples of a border read, and with which weights: computed once for all channels.
// Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_OPS_BORDER_ALIGN_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_BORDER_ALIGN_SAMPLES_INL_H_
#undef DETOPS_OPS_BORDER_ALIGN_SAMPLES_INL_H_
#else
#define DETOPS_OPS_BORDER_ALIGN_SAMPLES_INL_H_
#endif

#include <algorithm>

#include "math/bilinear.h"
#include "ops/border_align_forward/packed_maps.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {

using namespace math::HWY_NAMESPACE;

// Samples of a border computed at a time. Where there are more, every block of channels computes
// them again.
constexpr int64_t kSamples = 32;

// Distances between neighbours in the input, in elements.
struct Strides {
  int64_t y, x, channel;
};

// The samples of a border that are inside, up to kSamples at a time. They are consecutive: a walk
// is straight and goes in one direction, so it enters and leaves the map at most once.
template <class T>
struct Samples {
  const BorderAlignForwardPlan& plan;
  const Strides strides;

  const T* map = nullptr;
  int64_t packed_channels = 0;  // samples read copies of this many; if 0, they read in place
  BorderWalk start = {}, at = {};
  bool at_first = false;
  // The samples from `begin` to `end` of the list are inside; the list starts at sample
  // first_index.
  int64_t begin = 0, end = 0, first_index = 0, next_index = 0;
  const T* tap[4][kSamples];  // their first channels
  float weight[4][kSamples];
  T packed[kSamples][4][border_align::kPacked];

  Samples(const BorderAlignForwardPlan& p, const Strides& s) : plan(p), strides(s) {}

  // Starts another border, possibly on another map.
  void StartAlong(const BorderWalk& walk, const T* its_map) {
    start = walk;
    map = its_map;
    at_first = false;
  }

  // Move to the first samples, or to the next. False where there are none.
  bool First() {
    if (at_first) return begin < end;
    at_first = true;
    at = start;
    next_index = 0;
    while (next_index <= plan.pool_size) {
      if (Find()) return true;
    }
    return false;
  }
  bool Next() {
    if (first_index + end < next_index || next_index > plan.pool_size) return false;
    at_first = false;
    return Find();
  }

  HWY_NOINLINE bool Find() {
    first_index = next_index;
    next_index = std::min(first_index + kSamples, int64_t{plan.pool_size} + 1);
    begin = end = 0;
    for (int64_t i = 0; i < next_index - first_index; ++i) {
      const auto s = SampleAt(at.y, at.x, plan.height, plan.width);
      at.x += at.step_x;
      at.y += at.step_y;
      if (!s.inside) continue;
      if (begin == end) begin = i;
      end = i + 1;
      weight[0][i] = s.w1;
      weight[1][i] = s.w2;
      weight[2][i] = s.w3;
      weight[3][i] = s.w4;
      const T *const low = map + s.y_low * strides.y, *const high = map + s.y_high * strides.y;
      tap[0][i] = low + s.x_low * strides.x;
      tap[1][i] = low + s.x_high * strides.x;
      tap[2][i] = high + s.x_low * strides.x;
      tap[3][i] = high + s.x_high * strides.x;
    }
    if (packed_channels > 0) Pack();
    return begin < end;
  }

 private:
  void Pack() {
    for (int64_t i = begin; i < end; ++i) {
      for (int k = 0; k < 4; ++k) {
        T* const copy = packed[i][k];
        for (int64_t c = 0; c < packed_channels; ++c) copy[c] = tap[k][i][c * strides.channel];
        // Lanes without a channel are read too.
        std::fill(copy + packed_channels, copy + border_align::kPacked, T{});
        tap[k][i] = copy;
      }
    }
  }
};

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
