// SPDX-License-Identifier: Apache-2.0
//
// The words for what timelines show.
#ifndef BANG_TIMELINE_NAMES_H_
#define BANG_TIMELINE_NAMES_H_

#include "clock/clock.h"

namespace bang {

constexpr const char* kPipeNames[kPipeCount] = {"scalar", "IO", "Move", "Compute"};
constexpr const char* kWaitNames[kWaitCount] = {
    "waits for IO", "waits for Move",     "waits for Compute", "waits at a barrier",
    "queue full",   "waits for a result", "slowed by others"};
constexpr const char* kSpaceNames[] = {"NRAM", "WRAM", "SRAM", "LDRAM", "GDRAM"};

}  // namespace bang

#endif  // BANG_TIMELINE_NAMES_H_
