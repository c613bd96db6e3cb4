// SPDX-License-Identifier: Apache-2.0
//
// Each function adds one command. Its callback sets `exit_code` where that is not 0: 1 for a check
// that failed, 2 for arguments and files that are wrong (thrown as UserError).
#pragma once

#include <CLI/CLI.hpp>

#include "core/terminal.h"

namespace detops::cli {

inline constexpr int kExitFailed = 1, kExitUsage = 2;

void AddList(CLI::App& app, int& exit_code);
void AddRun(CLI::App& app, int& exit_code);
void AddCheck(CLI::App& app, int& exit_code);
void AddGen(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddReport(CLI::App& app, int& exit_code);
void AddDemo(CLI::App& app, int& exit_code);
void AddCompletion(CLI::App& app, int& exit_code);

struct MeasureAllOptions;
void AddMeasureOptions(CLI::App& app, MeasureAllOptions& options);

// --quiet and --json.
void AddOutputOptions(CLI::App& app, Output& output);

}  // namespace detops::cli
