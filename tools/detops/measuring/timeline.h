// SPDX-License-Identifier: Apache-2.0
//
// What the pipes of a simulated device did during one call, small enough to be part of a report:
// time is cut into columns, and each kind of work has a level, 0 to 4 quarters, in each of them.
// The report draws it (reporting/timeline_figure.h).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "running/execution.h"

namespace detops::cli {

// The columns of a timeline.
inline constexpr int kTimelineColumns = 480;

// {microseconds, launches: [{kernel, begin, microseconds}], rows: [{name, tracks: [{pipe, kind,
// levels}]}]}; levels are a digit per column. Of a trace that `detops trace --out *.json` wrote.
// Throws UserError where it is anything else.
nlohmann::ordered_json TimelineOfTrace(const std::filesystem::path& trace);

// Of one more call of the case, in a process of its own: the simulator draws all launches of a
// process into one file. Throws RunError.
nlohmann::ordered_json TimelineOf(const std::filesystem::path& file, bool allow_outside,
                                  const Target& target);

bool IsTimeline(const nlohmann::ordered_json& json);

}  // namespace detops::cli
