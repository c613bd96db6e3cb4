// SPDX-License-Identifier: Apache-2.0
//
// Two runs of the bench, for regressions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace detops::cli {

// Slower or faster is what differs by more than the tolerance and by more than the samples of both
// runs scatter.
nlohmann::ordered_json Compare(const nlohmann::ordered_json& old, const nlohmann::ordered_json& now,
                               double tolerance);
void PrintComparison(const nlohmann::ordered_json& comparison, const std::string& old_name);

}  // namespace detops::cli
