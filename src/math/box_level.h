// SPDX-License-Identifier: Apache-2.0
//
// Boxes by size, for grids of cells: a box belongs to the level whose cells have the smallest power
// of 4 as side that is more than the longer side of its bounds. So sizes over any number of decades
// cost no more than uniform ones.
#pragma once

#include <cstdint>

#include "math/bit_cast.h"
#include "math/host_device.h"

namespace detops::math {

// Sides of float bounds, as doubles, are from 2^-149 to 2^129, or not finite.
constexpr int kBoxLevels = 142;
constexpr int kHugeBoxes = kBoxLevels - 1;  // whose bounds are not finite

DETOPS_HD int BoxLevelOf(float x1, float y1, float x2, float y2) {
  const double width = static_cast<double>(x2) - x1, height = static_cast<double>(y2) - y1;
  const double side = width > height ? width : height;
  if (!(side < 1e300)) return kHugeBoxes;
  const auto exponent = static_cast<int>(BitCast<uint64_t>(side) >> 52) - 1022;
  return (exponent + 151) / 2;  // side < 2^exponent
}

// 1 / the side of a cell, for all levels but that of huge boxes.
DETOPS_HD double BoxLevelPerSide(int level) {
  return BitCast<double>(static_cast<uint64_t>(1023 + 150 - 2 * level) << 52);
}

}  // namespace detops::math
