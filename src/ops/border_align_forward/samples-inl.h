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
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/lane-inl.h"
#include "math/bilinear.h"
#include "ops/border_align_forward/packed_maps.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

// Samples of a border computed at a time. Where there are more, every block of channels computes
// them again.
constexpr int64_t kSamples = 32;
static_assert(kSamples % border_align::kPacked == 0 && kSamples < 64);  // whole vectors, bits

// Distances between neighbours in the input, in elements.
struct Strides {
  int64_t y, x, channel;
};

// The coordinate that varies along a border, of up to kSamples samples.
struct Coordinates {
  HWY_ALIGN float at[kSamples];
  HWY_ALIGN float low[kSamples];  // the pixel at or before it, or one beyond the last
  HWY_ALIGN float low_weight[kSamples], high_weight[kSamples];

  // Computes the others from `at`, a vector at a time, as math::SampleAt does; returns a bit mask
  // of those of the first `count` that are inside a map of that size. The rest is left undefined.
  uint64_t Find(int64_t count, int64_t size) {
    const FloatTag tag;
    const FloatVec zero = hn::Zero(tag);
    const FloatVec end = hn::Set(tag, static_cast<float>(size));
    const FloatVec last = hn::Set(tag, LeastFloatFrom(size - 1));
    uint64_t inside = 0;
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(FloatLanes())) {
      const FloatVec p = hn::Load(tag, at + i);
      inside |= MaskBits(hn::And(hn::Ge(p, hn::Set(tag, -1.0f)), hn::Le(p, end))) << i;
      const FloatVec position = hn::IfThenElse(hn::Le(p, zero), zero, p);
      const FloatVec pixel = hn::Trunc(position);
      const FloatVec high = hn::IfThenElse(hn::Ge(pixel, last), zero, hn::Sub(position, pixel));
      hn::Store(pixel, tag, low + i);
      hn::Store(high, tag, high_weight + i);
      hn::Store(hn::Sub(hn::Set(tag, 1.0f), high), tag, low_weight + i);
    }
    return inside & ((uint64_t{1} << count) - 1);
  }

 private:
  // The least float that is at least `value`.
  static float LeastFloatFrom(int64_t value) {
    const auto nearest = static_cast<float>(value);
    return static_cast<int64_t>(nearest) < value
               ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
               : nearest;
  }
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
  HWY_ALIGN float weight[4][kSamples];
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
    // One coordinate is fixed, the other varies (either may, where the step is 0). A sample at
    // pixel 0 of the varying coordinate has the weights of the fixed one.
    const bool down = at.step_y != 0.0f;
    const auto fixed = down ? SampleAt(0.0f, at.x, plan.height, plan.width)
                            : SampleAt(at.y, 0.0f, plan.height, plan.width);
    begin = end = 0;
    first_index = next_index;
    next_index = int64_t{plan.pool_size} + 1;
    if (!fixed.inside) return false;
    const int64_t count = std::min(kSamples, next_index - first_index);
    next_index = first_index + count;

    Coordinates varying;
    float& position = down ? at.y : at.x;
    const float step = down ? at.step_y : at.step_x;
    for (int64_t i = 0; i < WholeVectors(count); ++i) {
      varying.at[i] = position;
      position += step;
    }
    const int64_t size = down ? plan.height : plan.width;
    const uint64_t inside = varying.Find(count, size);
    if (inside == 0) return false;
    begin = std::countr_zero(inside);
    end = begin + std::countr_one(inside >> begin);

    // Weights and taps 1 and 2 combine the low pixel of one coordinate with the high pixel of the
    // other.
    const int low_high = down ? 2 : 1, high_low = 3 - low_high;
    const FloatLane fixed_low = Broadcast(fixed.w1);
    const FloatLane fixed_high = Broadcast(down ? fixed.w2 : fixed.w3);
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(FloatLanes())) {
      const FloatLane low = LoadLane(varying.low_weight + i);
      const FloatLane high = LoadLane(varying.high_weight + i);
      StoreElements((fixed_low * low).v, weight[0] + i);
      StoreElements((fixed_low * high).v, weight[low_high] + i);
      StoreElements((fixed_high * low).v, weight[high_low] + i);
      StoreElements((fixed_high * high).v, weight[3] + i);
    }
    const T* const low_line = map + (down ? fixed.x_low * strides.x : fixed.y_low * strides.y);
    const T* const high_line = map + (down ? fixed.x_high * strides.x : fixed.y_high * strides.y);
    const int64_t stride = down ? strides.y : strides.x;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t low = std::min(static_cast<int64_t>(varying.low[i]), size - 1);
      const int64_t high = std::min(low + 1, size - 1);
      tap[0][i] = low_line + low * stride;
      tap[low_high][i] = low_line + high * stride;
      tap[high_low][i] = high_line + low * stride;
      tap[3][i] = high_line + high * stride;
    }
    if (packed_channels > 0) Pack();
    return true;
  }

 private:
  static int64_t WholeVectors(int64_t count) {
    const auto lanes = static_cast<int64_t>(FloatLanes());
    return (count + lanes - 1) / lanes * lanes;
  }

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
