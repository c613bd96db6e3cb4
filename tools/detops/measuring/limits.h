// SPDX-License-Identifier: Apache-2.0
//
// How far a measured time is from what the machine can do: the one definition of efficiency.
// docs/performance.md explains the figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/schema.h"

namespace detops::cli {

// Of a device, in bytes and operations per second; 0 where not known.
struct Peaks {
  std::string device;
  double fill = 0, copy = 0, operations = 0;
  double half_operations = 0;  // of half, where they differ; else 0
  bool simulated = false;      // and then all this is what the simulator takes the card to be
  // As the maker of the device says, where the user gave them.
  double sheet_bytes = 0, sheet_operations = 0;
};

// A call right after a fill and a copy of memory: a shared machine changes from second to second.
struct Round {
  double fill, copy;  // bytes per second
  double seconds;     // of the call
};

struct Timing {
  double seconds = 0;              // per call
  bool in_cache = false;           // the data stay in a cache from call to call
  std::vector<Round> rounds = {};  // none: the peaks count
  schema::Work tensors = {};  // every tensor once, and operations as the operator's README counts
  bool counts_operations = false;
  bool half = false;                       // operations are of half
  std::optional<schema::Work> floor = {};  // the least that any method must do
};

struct Efficiency {
  // Of every tensor moved once, and of the README's operations: what the design documents ask for.
  std::optional<double> io, compute;
  std::optional<double> sheet_io, sheet_compute;
  std::string side;                  // "io" or "compute": which of them is larger
  std::optional<double> bottleneck;  // on that side
  // Of the floor: the shortest time that the machine allows, and its share of the time measured.
  std::optional<double> limit_seconds, of_limit;
};
Efficiency EfficiencyOf(const Timing& timing, Peaks peaks);

// Bytes that are read and bytes that are written go in pairs at the rate of a copy; what is written
// beyond that goes at the rate of a fill.
double MemorySeconds(const schema::Work& work, double fill, double copy);

double Median(std::vector<double> values);

}  // namespace detops::cli
