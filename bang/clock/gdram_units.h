// SPDX-License-Identifier: Apache-2.0
//
// GDRAM works in units of 64 bytes: how many of them a copy touches, and how many of those in part.
#ifndef BANG_CLOCK_GDRAM_UNITS_H_
#define BANG_CLOCK_GDRAM_UNITS_H_

#include <stdint.h>

#include "bang/machine.h"

namespace bang {

constexpr int64_t kGdramUnitBytes = 64;

struct GdramUnits {
  int64_t touched;  // per segment: two segments in one unit touch it twice
  int64_t partial;  // of these
};

// The side of a copy that lies in GDRAM; segments that follow each other without a gap are one. For
// equal results on every host an allocation's address must be a multiple of the unit.
GdramUnits CountGdramUnits(uint64_t address, int64_t bytes, const CopySide& side);

}  // namespace bang

#endif  // BANG_CLOCK_GDRAM_UNITS_H_
