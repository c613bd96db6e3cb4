// SPDX-License-Identifier: Apache-2.0
//
// Which slab a coordinate lies in, on the device.
#pragma once

#include "ops/points_in_boxes/mlu.h"

namespace detops::ops::points_in_boxes {
namespace {

// Monotonic in v, so that a point between the ends of a box lies in a slab between theirs. The first
// and the last slab extend to infinity. NaN, also of inf * 0, goes to the first. `zeros` has n.
__mlu_func__ void FindSlabs(int32_t* slab, const float* v, float origin, float scale,
                            const float* zeros, float* t, int n) {
  __bang_fusion(FUSION_FSM, t, v, origin, scale, n);
  __bang_maximum(t, t, zeros, n);
  __bang_minequal_scalar(t, t, static_cast<float>(kSlabs - 1), n);
  __bang_float2int32_tz(slab, t, n, 0);
}

}  // namespace
}  // namespace detops::ops::points_in_boxes
