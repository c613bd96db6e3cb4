// SPDX-License-Identifier: Apache-2.0
//
// Launches of tests/mlu/every_pair.mlu, which is compiled for each card.
#pragma once

#include <cnrt.h>
#include <stdint.h>

namespace detops::test {

// points [count,3], boxes [box_count,7], indices [count], in device memory.
template <int kArch>
void LaunchEveryPair(cnrtQueue_t queue, int cores, const float* points, int64_t count,
                     const float* boxes, int box_count, int32_t* indices);
template <>
void LaunchEveryPair<592>(cnrtQueue_t queue, int cores, const float* points, int64_t count,
                          const float* boxes, int box_count, int32_t* indices);
template <>
void LaunchEveryPair<372>(cnrtQueue_t queue, int cores, const float* points, int64_t count,
                          const float* boxes, int box_count, int32_t* indices);

}  // namespace detops::test
