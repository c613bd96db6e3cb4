// SPDX-License-Identifier: Apache-2.0
//
// What the picture of one launch needs, on its own: the record it was made from may go.
#ifndef BANG_TIMELINE_DRAWN_LAUNCH_H_
#define BANG_TIMELINE_DRAWN_LAUNCH_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "clock/clock.h"
#include "timeline/figures.h"

namespace bang {

// One span, or neighbours that are drawn as one.
struct DrawnSpan {
  Span span;      // the longest of them, but from the first's begin to the last's end
  int64_t count;  // 1: the span itself
  int64_t busy;   // cycles that they cover
};

struct DrawnSite {
  std::string name, file;
  int line;
  SiteCounters counters;
};

struct DrawnLaunch {
  std::string kernel, file, card, tasks;
  int line = 0;
  int64_t clock_khz = 0;
  Figures figures;
  std::string summary;
  std::vector<DrawnSite> sites;
  std::vector<DrawnSpan> spans;  // by unit, then pipe, then time
  int64_t thinned_from = -1;     // cycle after which neighbours are drawn as one; -1: nowhere
};

// The most spans that a file has, so that browsers show it at once.
constexpr size_t kMostSpans = 400000;

DrawnLaunch DrawLaunch(const LaunchRecord& launch, const Timeline& timeline, const Card& card,
                       size_t most_spans = kMostSpans);

// At most about `most_spans` spans are left. The first half are the earliest as they are; after
// them neighbours on a pipe are joined, so that the rest is still there as a whole.
void Thin(size_t most_spans, DrawnLaunch* launch);

// One more launch of a program, and all of them thinned to what a file has, so that memory is
// bounded.
void AddLaunch(DrawnLaunch launch, std::vector<DrawnLaunch>* launches);

}  // namespace bang

#endif  // BANG_TIMELINE_DRAWN_LAUNCH_H_
