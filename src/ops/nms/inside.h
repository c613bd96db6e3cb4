// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "math/host_device.h"

namespace detops::ops::nms {

// Whether a box may have an IoU of more than 0 with others: it has an inside, and its area is a
// number that is not infinite.
template <class Box>
DETOPS_HD bool HasInside(const Box& b, float area) {
  constexpr float kLargest = 0x1.fffffep127f;
  return b.x1 < b.x2 && b.y1 < b.y2 && area > 0.0f && area <= kLargest;
}

}  // namespace detops::ops::nms
