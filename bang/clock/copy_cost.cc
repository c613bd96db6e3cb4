// SPDX-License-Identifier: Apache-2.0
#include "clock/copy_cost.h"

#include <algorithm>

#include "clock/gdram_units.h"

namespace bang {
namespace {

// Of a copy whose recorder didn't count them: as if every segment began with a unit.
GdramUnits UnitsOf(const Operation& copy) {
  if (copy.units > 0) return {copy.units, copy.partial_units};
  const int64_t segments = copy.strided ? std::max<int64_t>(copy.segments, 1) : 1;
  const int64_t bytes = (copy.bytes + segments - 1) / segments;
  return CountGdramUnits(
      0, bytes,
      {.stride1 = bytes + kGdramUnitBytes - bytes % kGdramUnitBytes, .count1 = segments - 1});
}

int64_t GdramBytes(const Operation& copy, const Card& card) {
  const GdramUnits units = UnitsOf(copy);
  const int64_t gaps = copy.strided ? copy.segments : 0;
  int64_t bytes = 0;
  if (IsOffChip(copy.from)) {
    bytes += units.touched * kGdramUnitBytes + gaps * card.gdram_strided_read_bytes;
  }
  if (IsOffChip(copy.to)) {
    bytes += units.touched * kGdramUnitBytes * card.gdram_write_percent / 100 +
             units.partial * kGdramUnitBytes + gaps * card.gdram_strided_write_bytes;
  }
  return bytes;
}

}  // namespace

bool IsOffChip(Space space) { return space == Space::kGdram || space == Space::kLdram; }

CopyCost CostOfCopy(const Operation& copy, const Card& card) {
  const int64_t least = static_cast<int64_t>(copy.segments) * card.segment_cycles;
  if (IsOffChip(copy.from) || IsOffChip(copy.to)) {
    const int64_t latency = (IsOffChip(copy.from) ? card.gdram_read_latency : 0) +
                            (IsOffChip(copy.to) ? card.gdram_write_latency : 0);
    return {Channel::kGdram, card.gdram_start, GdramBytes(copy, card), least, latency};
  }
  const bool from_sram = copy.from == Space::kSram, to_sram = copy.to == Space::kSram;
  if (from_sram || to_sram) {
    const int64_t latency = from_sram && to_sram ? card.sram_remote_latency : card.sram_latency;
    const int64_t sides = from_sram && to_sram ? 2 : 1;
    return {Channel::kSram, card.sram_start, sides * copy.bytes, least, latency};
  }
  return {Channel::kLocal, card.local_start, copy.bytes, least, card.local_latency};
}

}  // namespace bang
