// SPDX-License-Identifier: Apache-2.0
//
// Many cases: what `detops check` writes and the report shows.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "checking/check.h"

namespace detops::cli {

// {kind, environment, summary, results}; `shown` is called with the rows of each case.
nlohmann::ordered_json CheckAll(const std::vector<std::filesystem::path>& files,
                                const CheckOptions& options, bool progress,
                                const std::function<void(const std::vector<CheckRow>&)>& shown);

// Of a file that CheckAll's result was written to. Throws UserError where it is anything else.
nlohmann::ordered_json ReadCheckJson(const std::filesystem::path& file);

}  // namespace detops::cli
