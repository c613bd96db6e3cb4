// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "math/host_device.h"

namespace detops::ops::nms {

// False: its IoU with every box is 0 or NaN, because it has no inside, or because its area is not a
// positive finite number.
template <class Box>
DETOPS_HD bool MayOverlap(const Box& b, float area) {
  return b.x1 < b.x2 && b.y1 < b.y2 && area > 0.0f && area <= std::numeric_limits<float>::max();
}

}  // namespace detops::ops::nms
