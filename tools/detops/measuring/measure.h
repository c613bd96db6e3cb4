// SPDX-License-Identifier: Apache-2.0
//
// Times of cases, on every implementation.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cases/case_file.h"
#include "measuring/limits.h"
#include "measuring/machine.h"
#include "running/execution.h"

namespace detops::cli {

// As the device says. Else fill and copy are measured on every device, and the rate of operations
// on the CPU alone.
Peaks MeasurePeaks(const std::string& device, const Memory& memory, int threads, bool quick);

// Calls on one thread and on all, one right after the other.
struct Turn {
  double one_thread, all_threads;        // seconds per call
  std::optional<double> memory_scaling;  // the same ratio of a fill or a copy, just before
};

struct Measurement {
  std::string name, op, group, what, scene, size_unit, item;
  std::string type, shapes;           // "half", "[10,4] [20,4]": of the inputs
  std::vector<std::string> shown_in;  // tables of the documents
  int64_t size = 0;
  Target target;
  int threads = 0;
  std::string skipped;  // why there is no figure; "" where there is
  bool failed = false;  // by an error or a wrong result

  Timing timing;
  int64_t repeats = 0;
  double median = 0, fastest = 0, spread = 0;  // seconds; spread: middle half over the median
  std::optional<double> device_seconds;        // per call on the device itself, where that differs
  std::optional<double> interface_seconds;  // until the function has returned, where that differs
  int64_t pairs = -1, candidates = -1;      // as the call counted them; -1 where it does not
  size_t workspace_bytes = 0;
  std::vector<Turn> turns;
  std::string verified;             // the implementation whose bits these are too
  std::optional<double> ratio;      // the reference's time over this one
  nlohmann::ordered_json timeline;  // of a call (timeline.h); null where none was asked for
  std::string command;
};

struct MeasureOptions {
  std::string device, implementation;
  int threads = 0;
  double seconds = 0.3;  // for each measurement, about
  bool reference = false;
  bool large = false;          // simulated devices also where they take long
  bool timelines = false;      // of simulated devices
  bool allow_outside = false;  // files of a case that are not in its folder
  bool scaling = false;        // also one thread against all
  bool quick() const { return seconds < 0.05; }
};

// All implementations of a case; the preferred first. Never throws for what the file holds.
std::vector<Measurement> MeasureFile(const std::filesystem::path& file,
                                     const MeasureOptions& options, const Memory& memory);

// One call of a case after another that warms up, for programs that count its instructions: it is
// made inside detopsMeasuredCall. Throws RunError or UserError.
void CallOnce(const std::filesystem::path& file, const MeasureOptions& options);

nlohmann::ordered_json JsonOf(const Peaks& peaks);
nlohmann::ordered_json JsonOf(const Measurement& m, const Efficiency& e);

}  // namespace detops::cli
