// SPDX-License-Identifier: Apache-2.0
//
// Cases on every implementation, against the oracle and against each other.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cases/case_file.h"
#include "running/execution.h"

namespace detops::cli {

enum class Status {
  kPassed,
  kWeak,     // passed, but the comparison says little
  kFailed,   // wrong, or other bits than another implementation
  kRefused,  // the implementation can't on this machine, or not this case
  kSkipped,  // not run, to save time
  kError     // the case could not be run at all
};
const char* NameOf(Status status);

struct CheckRow {
  std::string name, op, group, what;  // the case; what: its sizes
  Target target;
  Status status = Status::kPassed;
  std::string reason;  // of anything but a plain pass
  std::string sample;  // what was compared, where not all was
  std::vector<Accuracy> outputs;
  std::vector<Accuracy> expected;  // against the values that the file gives
  std::string same_bits_as;        // the implementation that it was held against; "" for the first
  bool same_bits = true;
  double seconds = 0;
  std::string command;  // that repeats it
  std::vector<std::string> notes;
  bool long_to_simulate = false;  // the case says so
};

struct CheckOptions {
  std::string device, implementation;
  bool reference = false;      // run it even where it is slow
  bool large = false;          // the same of simulated devices
  bool allow_outside = false;  // files of a case that are not in its folder
};

// The rows of a case file, the preferred implementation first. Never throws for what the file
// holds.
std::vector<CheckRow> CheckFile(const std::filesystem::path& file, const CheckOptions& options);
// Of a problem that is there already; `command` without device and implementation.
std::vector<CheckRow> CheckProblem(const Problem& problem, const CheckRow& about,
                                   const CheckOptions& options);

// Steps above which the reference is not waited for.
inline constexpr double kMostReferenceSteps = 3e8;

inline constexpr char kLongToSimulate[] =
    "a simulated device takes long on this case; --impl or --large runs it";

// How the case is named on a command line.
std::string ArgumentOf(const std::filesystem::path& file);

nlohmann::ordered_json JsonOf(const CheckRow& row);
struct Tally {
  int passed = 0, weak = 0, failed = 0, refused = 0, skipped = 0, errors = 0;
  void Add(Status status);
};
nlohmann::ordered_json JsonOf(const Tally& tally);

}  // namespace detops::cli
