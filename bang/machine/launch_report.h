// SPDX-License-Identifier: Apache-2.0
//
// What a launch says when it has ended.
#ifndef BANG_MACHINE_LAUNCH_REPORT_H_
#define BANG_MACHINE_LAUNCH_REPORT_H_

#include <string>

#include "clock/clock.h"
#include "machine/launch_state.h"

namespace bang {

// What the kernel printed, in the order of tasks, as far as the first that failed.
void PrintOutput(const LaunchState& launch);

// Each remark once, with how often it was made. Returns the first, or "".
std::string PrintRemarks(const LaunchState& launch);

// The summary and the timeline, where they are asked for.
void ReportTime(const LaunchRecord& record, const Timeline& timeline, const Card& card);

}  // namespace bang

#endif  // BANG_MACHINE_LAUNCH_REPORT_H_
