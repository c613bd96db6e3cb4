// SPDX-License-Identifier: Apache-2.0
//
// Launches of tests/mlu/box.mlu, which is compiled for each card.
#pragma once

#include <cnrt.h>
#include <stdint.h>

namespace detops::test {

// What points_in_boxes makes of headings and sizes, arrays of `count` in device memory.
struct BoxArrays {
  const float* headings;
  const float* sizes;
  float *cos, *sin, *doubtful;  // of -heading
  float *reach, *half;          // of the sizes
  int64_t count;
};

template <int kArch>
void LaunchBoxes(cnrtQueue_t queue, const BoxArrays& arrays);
template <>
void LaunchBoxes<592>(cnrtQueue_t queue, const BoxArrays& arrays);
template <>
void LaunchBoxes<372>(cnrtQueue_t queue, const BoxArrays& arrays);

}  // namespace detops::test
