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

// Samples of a border found at a time. Where there are more, every block finds them anew.
constexpr int64_t kSamples = 32;
static_assert(kSamples % border_align::kPacked == 0 && kSamples < 64);  // whole vectors, bits

// How far apart in the input neighbours lie, in elements.
struct Strides {
  int64_t y, x, channel;
};

// The coordinate that changes along a border, of up to kSamples samples.
struct Coordinates {
  HWY_ALIGN float at[kSamples];
  HWY_ALIGN float low[kSamples];  // the pixel before it, or one beyond the last
  HWY_ALIGN float low_weight[kSamples], high_weight[kSamples];

  // Sets the others from `at`, a vector at a time, as math::SampleAt does; returns as bits which of
  // the first `count` are inside a map of that size. What is not is left undefined.
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
  // A float is at least `value` where it is at least this.
  static float LeastFloatFrom(int64_t value) {
    const auto nearest = static_cast<float>(value);
    return static_cast<int64_t>(nearest) < value
               ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
               : nearest;
  }
};

// Those samples of a border that are inside, up to kSamples at a time. They are consecutive: a walk
// is straight and goes one way, so it enters the map once and leaves it once.
template <class T>
struct Samples {
  const BorderAlignForwardPlan& plan;
  const Strides strides;

  const T* map = nullptr;
  int64_t packed_channels = 0;  // they read copies of that many; if 0, in place
  BorderWalk start = {}, at = {};
  bool at_first = false;
  // Of the list, those from `begin` to `end` are inside; it starts at sample first_index.
  int64_t begin = 0, end = 0, first_index = 0, next_index = 0;
  const T* tap[4][kSamples];  // their first channels
  HWY_ALIGN float weight[4][kSamples];
  T packed[kSamples][4][border_align::kPacked];

  Samples(const BorderAlignForwardPlan& p, const Strides& s) : plan(p), strides(s) {}

  // Of another border, on a map that may be another too.
  void StartAlong(const BorderWalk& walk, const T* its_map) {
    start = walk;
    map = its_map;
    at_first = false;
  }

  // Go to the first ones, or to the next ones. False where there are none.
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
    // One coordinate stays, the other changes (either may, where the step is 0). A sample at pixel
    // 0 of the other has the weights of the first.
    const bool down = at.step_y != 0.0f;
    const auto stays = down ? SampleAt(0.0f, at.x, plan.height, plan.width)
                            : SampleAt(at.y, 0.0f, plan.height, plan.width);
    begin = end = 0;
    first_index = next_index;
    next_index = int64_t{plan.pool_size} + 1;
    if (!stays.inside) return false;
    const int64_t count = std::min(kSamples, next_index - first_index);
    next_index = first_index + count;

    Coordinates changes;
    float& position = down ? at.y : at.x;
    const float step = down ? at.step_y : at.step_x;
    for (int64_t i = 0; i < WholeVectors(count); ++i) {
      changes.at[i] = position;
      position += step;
    }
    const int64_t size = down ? plan.height : plan.width;
    const uint64_t inside = changes.Find(count, size);
    if (inside == 0) return false;
    begin = std::countr_zero(inside);
    end = begin + std::countr_one(inside >> begin);

    // Weights and taps 1 and 2 have one coordinate's low with the other's high.
    const int low_high = down ? 2 : 1, high_low = 3 - low_high;
    const FloatLane stays_low = Broadcast(stays.w1);
    const FloatLane stays_high = Broadcast(down ? stays.w2 : stays.w3);
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(FloatLanes())) {
      const FloatLane low = LoadLane(changes.low_weight + i);
      const FloatLane high = LoadLane(changes.high_weight + i);
      StoreElements((stays_low * low).v, weight[0] + i);
      StoreElements((stays_low * high).v, weight[low_high] + i);
      StoreElements((stays_high * low).v, weight[high_low] + i);
      StoreElements((stays_high * high).v, weight[3] + i);
    }
    const T* const low_line = map + (down ? stays.x_low * strides.x : stays.y_low * strides.y);
    const T* const high_line = map + (down ? stays.x_high * strides.x : stays.y_high * strides.y);
    const int64_t stride = down ? strides.y : strides.x;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t low = std::min(static_cast<int64_t>(changes.low[i]), size - 1);
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
        // The lanes that no channel fills are read too.
        std::fill(copy + packed_channels, copy + border_align::kPacked, T{});
        tap[k][i] = copy;
      }
    }
  }
};

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
