// SPDX-License-Identifier: Apache-2.0
//
// Each function adds one command. Its callback sets `exit_code` where that is not 0: 1 for a check
// that failed, 2 for arguments and files that are wrong (thrown as UserError).
#pragma once

#include "terminal/arguments.h"
#include "terminal/errors.h"
#include "terminal/terminal.h"

namespace detops::cli {

void AddList(Command& program, int& exit_code);
void AddRun(Command& program, int& exit_code);
void AddCheck(Command& program, int& exit_code);
void AddGen(Command& program, int& exit_code);
void AddBench(Command& program, int& exit_code);
void AddTrace(Command& program, int& exit_code);
void AddReport(Command& program, int& exit_code);
void AddDemo(Command& program, int& exit_code);
void AddCompletion(Command& program, int& exit_code);

struct MeasureAllOptions;
// --allow-outside, of the commands that read case files.
void AddAllowOutside(Command& command, bool& allow_outside);
void AddMeasureOptions(Command& command, MeasureAllOptions& options);

// --quiet and --json.
void AddOutputOptions(Command& command, Output& output);

}  // namespace detops::cli
