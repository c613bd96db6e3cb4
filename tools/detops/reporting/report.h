// SPDX-License-Identifier: Apache-2.0
//
// The acceptance report: what `detops check` and `detops bench` wrote, held against the bars of the
// operators' design documents. Everything shown is in the JSON; the other forms only set it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace detops::cli {

// Share of the peak on the bottleneck side that is asked for.
inline constexpr double kNetworkBar = 0.6, kOtherBar = 0.3;

// {kind, environment, verdicts, accuracy, performance, skipped, commands}
nlohmann::ordered_json MakeReport(const nlohmann::ordered_json& check,
                                  const nlohmann::ordered_json& bench);
std::string ReportHtml(const nlohmann::ordered_json& report);
std::string ReportMarkdown(const nlohmann::ordered_json& report);

}  // namespace detops::cli
