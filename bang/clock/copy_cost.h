// SPDX-License-Identifier: Apache-2.0
//
// What a copy costs by the card's parameters, before others slow it down.
#ifndef BANG_CLOCK_COPY_COST_H_
#define BANG_CLOCK_COPY_COST_H_

#include <stdint.h>

#include "clock/card.h"
#include "clock/operations.h"

namespace bang {

enum class Channel : uint8_t { kGdram, kSram, kLocal };  // local: within a core, shared with nobody

struct CopyCost {
  Channel channel;
  int64_t start;    // cycles before the first byte
  int64_t bytes;    // that the channel moves
  int64_t least;    // cycles that the segments take, however fast the channel
  int64_t latency;  // cycles from the last byte to data there
};

CopyCost CostOfCopy(const Operation& copy, const Card& card);

bool IsOffChip(Space space);  // GDRAM, and LDRAM, which lies in it

}  // namespace bang

#endif  // BANG_CLOCK_COPY_COST_H_
