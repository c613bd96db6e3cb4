// SPDX-License-Identifier: Apache-2.0
//
// Launches of tests/mlu/exp.mlu, which is compiled for each card.
#pragma once

#include <cnrt.h>
#include <stdint.h>

namespace detops::test {

// results = exp of x in device memory.
template <int kArch>
void LaunchExp(cnrtQueue_t queue, const float* x, float* results, int64_t count);
template <>
void LaunchExp<592>(cnrtQueue_t queue, const float* x, float* results, int64_t count);
template <>
void LaunchExp<372>(cnrtQueue_t queue, const float* x, float* results, int64_t count);

}  // namespace detops::test
