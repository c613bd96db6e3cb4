// SPDX-License-Identifier: Apache-2.0
//
// Many cases in one run, with the peaks of that run: what `detops bench` writes and the report
// shows.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measuring/measure.h"

namespace detops::cli {

struct MeasureAllOptions : MeasureOptions {
  std::vector<std::string> groups;
  std::vector<std::string> datasheet;  // "cpu=80,400"
};

// {kind, environment, peaks, measurements}
nlohmann::ordered_json MeasureAll(const std::vector<std::filesystem::path>& files,
                                  const MeasureAllOptions& options, bool progress);

// Of a file that MeasureAll's result was written to. Throws UserError where it is anything else.
nlohmann::ordered_json ReadBenchJson(const std::filesystem::path& file);

}  // namespace detops::cli
