// SPDX-License-Identifier: Apache-2.0
//
// Where the samples of a border read, and with which weights: found once, for all channels.
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

// Samples of a border found at a time. Where there are more, every block finds them anew.
constexpr int64_t kSamples = 32;

// How far apart in the input neighbours lie, in elements.
struct Strides {
  int64_t y, x, channel;
};

template <class T>
struct Sample {
  const T* tap[4];  // their first channels
  float weight[4];
};

// Those samples of a border that are inside, kSamples at a time. They are consecutive: a walk is
// straight and goes one way, so it enters the map once and leaves it once.
template <class T>
struct Samples {
  const BorderAlignForwardPlan& plan;
  const Strides strides;

  const T* map = nullptr;
  int64_t packed_channels = 0;  // they read copies of that many; if 0, in place
  BorderWalk start = {}, at = {};
  bool at_first = false;
  int64_t count = 0, end_index = 0;
  Sample<T> list[kSamples];
  T packed[kSamples][4][border_align::kPacked];

  Samples(const BorderAlignForwardPlan& p, const Strides& s) : plan(p), strides(s) {}

  // Go to the first ones, or to the next ones. False where there are none.
  bool First() {
    if (at_first) return count > 0;
    at_first = true;
    at = start;
    end_index = 0;
    return Find();
  }
  bool Next() {
    if (count < kSamples) return false;
    at_first = false;
    return Find();
  }

  HWY_NOINLINE bool Find() {
    count = 0;
    for (; end_index <= plan.pool_size && count < kSamples; ++end_index) {
      const auto s = SampleAt(at.y, at.x, plan.height, plan.width);
      if (s.inside) {
        Add(s);
      } else if (count > 0) {
        break;
      }
      at.x += at.step_x;
      at.y += at.step_y;
    }
    return count > 0;
  }
  HWY_INLINE void Add(const BilinearSample<int64_t>& s) {
    const T *low = map + s.y_low * strides.y, *high = map + s.y_high * strides.y;
    const int64_t left = s.x_low * strides.x, right = s.x_high * strides.x;
    Sample<T>& sample = list[count];
    sample = {{low + left, low + right, high + left, high + right}, {s.w1, s.w2, s.w3, s.w4}};
    for (int64_t c = 0; c < packed_channels; ++c) {
      for (int i = 0; i < 4; ++i) packed[count][i][c] = sample.tap[i][c * strides.channel];
    }
    for (int i = 0; i < 4 && packed_channels > 0; ++i) {
      // The lanes that no channel fills are read too.
      std::fill(packed[count][i] + packed_channels, packed[count][i] + border_align::kPacked, T{});
      sample.tap[i] = packed[count][i];
    }
    ++count;
  }
};

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
