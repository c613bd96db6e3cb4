// SPDX-License-Identifier: Apache-2.0
//
// The points at which a border is sampled: a start, and a step that is added repeatedly.
#pragma once

#include <limits>

#include "math/half.h"

namespace detops::ops {

struct BorderWalk {
  float x, y, step_x, step_y;
};

// borders: 0 top, 1 left, 2 bottom, 3 right
template <class T>
DETOPS_HD BorderWalk WalkAlong(int64_t border, const T* box, float pool_size) {  // [4] x1 y1 x2 y2
  const float x1 = math::ToFloat(box[0]), y1 = math::ToFloat(box[1]);
  const float x2 = math::ToFloat(box[2]), y2 = math::ToFloat(box[3]);
  if ((x1 * 0.0f + y1 * 0.0f) + (x2 * 0.0f + y2 * 0.0f) != 0.0f) {  // a NaN or an infinity
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    return {kNan, kNan, 0.0f, 0.0f};  // every sample is outside
  }
  const float step = (border % 2 == 0 ? x2 - x1 : y2 - y1) / pool_size;
  switch (border) {
    case 0: return {x1, y1, step, 0.0f};
    case 1: return {x1, y1, 0.0f, step};
    case 2: return {x2, y2, -step, 0.0f};
    default: return {x2, y2, 0.0f, -step};
  }
}

}  // namespace detops::ops
