// SPDX-License-Identifier: Apache-2.0
#ifndef BANG_TIMELINE_WRITE_TIMELINE_H_
#define BANG_TIMELINE_WRITE_TIMELINE_H_

#include <string>
#include <vector>

#include "timeline/drawn_launch.h"

namespace bang {

// The launches of a program, one behind another, as one file: *.json is a trace that Perfetto and
// chrome://tracing open, *.html a page that needs nothing else. The file is replaced when it is
// complete. On failure `error` says why.
bool WriteTimeline(const std::string& path, const std::vector<DrawnLaunch>& launches,
                   std::string* error);

std::string PerfettoTrace(const std::vector<DrawnLaunch>& launches);
std::string TimelinePage(const std::vector<DrawnLaunch>& launches);

}  // namespace bang

#endif  // BANG_TIMELINE_WRITE_TIMELINE_H_
