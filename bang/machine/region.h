// SPDX-License-Identifier: Apache-2.0
//
// The bytes that one side of a copy or an operand covers: groups of segments.
#ifndef BANG_MACHINE_REGION_H_
#define BANG_MACHINE_REGION_H_

#include <stdint.h>

#include "bang/machine.h"

namespace bang {

struct Region {
  const char* begin = nullptr;
  int64_t bytes = 0;  // of a segment
  CopySide side;      // counts are numbers minus one

  const char* end() const {
    return begin + side.count1 * side.stride1 + side.count2 * side.stride2 + bytes;
  }
  int64_t segments() const { return (side.count1 + 1) * (side.count2 + 1); }
  // Whether the segments leave gaps, or come in another order than their addresses.
  bool scattered() const {
    return segments() > 1 && !(side.stride1 == bytes && side.count2 == 0);
  }
  int64_t total() const { return segments() * bytes; }
  const char* segment(int64_t index) const {
    return begin + index % (side.count1 + 1) * side.stride1 +
           index / (side.count1 + 1) * side.stride2;
  }
};

inline Region Contiguous(const void* data, int64_t bytes) {
  return {static_cast<const char*>(data), bytes, {}};
}

// Whether they share a byte. Exact, for strided regions too.
bool Overlap(const Region& a, const Region& b);

}  // namespace bang

#endif  // BANG_MACHINE_REGION_H_
