// SPDX-License-Identifier: Apache-2.0
//
// The part of the report about MLUs: the table that the operators' design documents ask for, with
// their bars, for each card.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace detops::cli {

// [{device, simulated, peaks, operators: [{name, accuracy, bits, passed, failed, network, other}],
// rows: [{op, case, hardware_us, interface_us, ...}]}]
nlohmann::ordered_json MluReport(const nlohmann::ordered_json& check,
                                 const nlohmann::ordered_json& bench);

// "" where there is none.
std::string MluHtml(const nlohmann::ordered_json& cards);
std::string MluMarkdown(const nlohmann::ordered_json& cards);

}  // namespace detops::cli
