// SPDX-License-Identifier: Apache-2.0
#ifndef BANG_TIMELINE_SUMMARY_H_
#define BANG_TIMELINE_SUMMARY_H_

#include <string>

#include "clock/clock.h"

namespace bang {

// Some lines of text about a launch, for a terminal.
std::string Summary(const LaunchRecord& launch, const Timeline& timeline, const Card& card);

// "48 BLOCK tasks", "16 tasks as UNION1".
std::string TasksText(const LaunchRecord& launch);
// "1.50 MB", of a thousand each.
std::string BytesText(double bytes);
// "__bang_add, add.mlu:12".
std::string SiteText(const CallSite& site);

}  // namespace bang

#endif  // BANG_TIMELINE_SUMMARY_H_
