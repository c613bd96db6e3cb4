// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/border_align_forward/mlu.h"

namespace detops::ops::border_align {

// Sorts the boxes of each image and border by the bands of the map: fills counts, starts and order.
template <int kArch>
void LaunchSort(const mlu::Grid& grid, const BorderAlignMlu& call);
template <>
void LaunchSort<592>(const mlu::Grid& grid, const BorderAlignMlu& call);
template <>
void LaunchSort<372>(const mlu::Grid& grid, const BorderAlignMlu& call);

}  // namespace detops::ops::border_align
