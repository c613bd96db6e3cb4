// SPDX-License-Identifier: Apache-2.0
//
// What both kernels use: which slab a coordinate lies in.
#pragma once

#include "ops/points_in_boxes/mlu.h"

namespace detops::ops::points_in_boxes {
namespace {

__mlu_func__ int32_t* Bits(float* v) { return reinterpret_cast<int32_t*>(v); }
__mlu_func__ const int32_t* Bits(const float* v) { return reinterpret_cast<const int32_t*>(v); }

// As an instruction of the vector unit, which is not waited for.
__mlu_func__ void CopyWords(int32_t* to, const int32_t* from, int n) {
  if (n > 0) __memcpy_async(to, from, n * sizeof(int32_t), NRAM2NRAM);
}

// Monotonic in v, so that a point between the ends of a box lies in a slab between theirs. The
// first and the last slab extend to infinity. NaN, also of inf * 0, goes to the first. `zeros` has
// n. For several axes or ends at once, so that no instruction waits for the one before.
template <int kCount>
__mlu_func__ void FindSlabs(int32_t* const (&slab)[kCount], const float* const (&v)[kCount],
                            const SlabAxis (&axis)[kCount], const float* zeros, int n) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    __bang_fusion(FUSION_FSM, reinterpret_cast<float*>(slab[i]), v[i], axis[i].origin,
                  axis[i].scale, n);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    float* const t = reinterpret_cast<float*>(slab[i]);
    __bang_maximum(t, t, zeros, n);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    float* const t = reinterpret_cast<float*>(slab[i]);
    __bang_minequal_scalar(t, t, static_cast<float>(kSlabs - 1), n);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    __bang_float2int32_tz(slab[i], reinterpret_cast<float*>(slab[i]), n, 0);
  }
}

}  // namespace
}  // namespace detops::ops::points_in_boxes
