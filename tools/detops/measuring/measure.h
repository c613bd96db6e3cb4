// SPDX-License-Identifier: Apache-2.0
//
// Times of cases, and how far they are from what the machine can do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cases/case_file.h"
#include "running/execution.h"

namespace detops::cli {

// Of a device, in bytes and operations a second; 0 where not known.
struct Peaks {
  std::string device;
  double fill = 0, copy = 0, operations = 0;
  // As the maker of the device says, where the user gave them.
  double sheet_bytes = 0, sheet_operations = 0;
};
// Fill and copy are measured on every device; the rate of operations on the CPU alone.
Peaks MeasurePeaks(const std::string& device, int threads, bool quick);

struct Measurement {
  std::string name, op, group, what;
  int64_t size = 0;
  Target target;
  int threads = 0;
  std::string skipped;  // why there is no figure; "" where there is
  bool failed = false;  // by an error or a wrong result

  int64_t repeats = 0;
  double median = 0, fastest = 0, spread = 0;  // seconds; spread: middle half over the median
  double bytes = 0, written = 0;               // of the tensors; written: the outputs
  std::optional<double> operations;            // as the operator's README counts
  int64_t pairs = -1;
  size_t workspace_bytes = 0;
  bool in_cache = false;        // the data stay in the cache from call to call
  std::string verified;         // the implementation whose bits these are too
  std::optional<double> ratio;  // the reference's time over this one
  std::string command;

  double bytes_a_second() const { return bytes / median; }
};

// What a measurement is of the peaks.
struct Efficiency {
  std::optional<double> io, compute;  // of the measured peaks
  std::optional<double> sheet_io, sheet_compute;
  std::string side;                  // "io" or "compute": which peak bounds the case
  std::optional<double> bottleneck;  // on that side
};
Efficiency EfficiencyOf(const Measurement& m, const Peaks& peaks);

struct MeasureOptions {
  std::string device, implementation;
  int threads = 0;
  double seconds = 0.3;  // for each measurement, about
  bool reference = false;
};

// All implementations of a case; the preferred first. Never throws for what the file holds.
std::vector<Measurement> MeasureFile(const std::filesystem::path& file,
                                     const MeasureOptions& options);

nlohmann::ordered_json JsonOf(const Peaks& peaks);
nlohmann::ordered_json JsonOf(const Measurement& m, const Efficiency& e);

}  // namespace detops::cli
