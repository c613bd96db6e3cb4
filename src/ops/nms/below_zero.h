// SPDX-License-Identifier: Apache-2.0
//
// Suppression with a threshold below 0: a box suppresses every later one with which its IoU is a
// number, however far away it is. So no grid helps, but areas alone decide nearly all: the IoU of
// boxes that share no area is 0 where the sum of their areas is more than 0, and NaN where it is
// not. One pass in score order is enough.
#pragma once

#include <cstdint>
#include <limits>

#include "math/box.h"
#include "math/host_device.h"

namespace detops::ops::nms {

// box_at(rank) gives the boxes in score order. Writes the ranks kept, ascending; returns how many.
template <class BoxAt>
DETOPS_HD int32_t KeepBelowZero(int64_t count, const BoxAt& box_at, float threshold,
                                int32_t* kept) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  int32_t keeps = 0;
  float largest = -kInfinity;  // area of the boxes kept
  for (int64_t i = 0; i < count; ++i) {
    const math::Box<float> box = box_at(i);
    const float area = math::BoxArea(box, 0.0f);
    bool suppressed = largest + area > 0.0f;  // never with NaN
    if (suppressed && largest == kInfinity && area == kInfinity) {
      // Where two such boxes share an infinite area, their union is inf - inf.
      suppressed = false;
      for (int32_t k = 0; k < keeps && !suppressed; ++k) {
        const math::Box<float> ahead = box_at(kept[k]);
        suppressed = math::BoxIoU(ahead, box, math::BoxArea(ahead, 0.0f), area, 0.0f, 0.0f, 0.0f) >
                     threshold;
      }
    }
    if (suppressed) continue;
    if (area > largest) largest = area;
    kept[keeps++] = static_cast<int32_t>(i);
  }
  return keeps;
}

}  // namespace detops::ops::nms
