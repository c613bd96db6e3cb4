// SPDX-License-Identifier: Apache-2.0
//
// From what the cores did to when they did it.
#ifndef BANG_CLOCK_CLOCK_H_
#define BANG_CLOCK_CLOCK_H_

#include "clock/card.h"
#include "clock/operations.h"

namespace bang {

enum class Detail { kCounters, kTimeline };

// What a run of the clock gives: see timeline/ for what is made of it. Times are in cycles.
struct Timeline {
  int64_t cycles = 0;
  // ... counters, and with Detail::kTimeline every span of every pipe: the clock's own part.
};

Timeline RunClock(const LaunchRecord& launch, const Card& card, Detail detail);

}  // namespace bang

#endif  // BANG_CLOCK_CLOCK_H_
