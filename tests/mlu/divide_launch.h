// SPDX-License-Identifier: Apache-2.0
//
// Launches of tests/mlu/divide.mlu, which is compiled for each card.
#pragma once

#include <cnrt.h>
#include <stdint.h>

namespace detops::test {

enum class Divider : int { kAny, kInRange, kSigned, kOneDivisor };  // the functions of mlu/divide.h

// quotients = a / b in device memory; kOneDivisor takes every 1024th of b for the 1024 behind it.
template <int kArch>
void LaunchDivide(cnrtQueue_t queue, Divider divider, const float* a, const float* b,
                  float* quotients, int64_t count);
template <>
void LaunchDivide<592>(cnrtQueue_t queue, Divider divider, const float* a, const float* b,
                       float* quotients, int64_t count);
template <>
void LaunchDivide<372>(cnrtQueue_t queue, Divider divider, const float* a, const float* b,
                       float* quotients, int64_t count);

}  // namespace detops::test
