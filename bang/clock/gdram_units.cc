// SPDX-License-Identifier: Apache-2.0
#include "clock/gdram_units.h"

#include <algorithm>

namespace bang {
namespace {

GdramUnits CountSegment(uint64_t offset, int64_t bytes) {
  const int64_t begin = static_cast<int64_t>(offset % kGdramUnitBytes), end = begin + bytes;
  const int64_t touched = (end + kGdramUnitBytes - 1) / kGdramUnitBytes;
  const bool head = begin != 0, tail = end % kGdramUnitBytes != 0;
  return {touched, touched == 1 ? head || tail : head + tail};
}

}  // namespace

GdramUnits CountGdramUnits(uint64_t address, int64_t bytes, const CopySide& side) {
  int64_t count1 = side.count1 + 1, count2 = side.count2 + 1;
  int64_t stride1 = side.stride1, stride2 = side.stride2;
  if (count1 == 1 || stride1 == bytes) {
    bytes *= count1;
    count1 = count2;
    stride1 = stride2;
    count2 = 1;
    if (stride1 == bytes) {
      bytes *= count1;
      count1 = 1;
    }
  }
  // Where a segment begins in its unit repeats after 64 segments at the latest.
  GdramUnits sum{0, 0};
  for (int64_t j = 0; j < std::min(count2, kGdramUnitBytes); ++j) {
    const int64_t times2 = (count2 - j + kGdramUnitBytes - 1) / kGdramUnitBytes;
    for (int64_t i = 0; i < std::min(count1, kGdramUnitBytes); ++i) {
      const int64_t times1 = (count1 - i + kGdramUnitBytes - 1) / kGdramUnitBytes;
      const GdramUnits one =
          CountSegment(address + static_cast<uint64_t>(j * stride2 + i * stride1), bytes);
      sum.touched += times1 * times2 * one.touched;
      sum.partial += times1 * times2 * one.partial;
    }
  }
  return sum;
}

}  // namespace bang
