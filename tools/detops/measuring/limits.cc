// SPDX-License-Identifier: Apache-2.0
#include "measuring/limits.h"

#include <algorithm>

namespace detops::cli {

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double MemorySeconds(const schema::Work& work, double fill, double copy) {
  const double paired = std::min(work.read, work.written);
  return (work.read + paired) / copy + (work.written - paired) / fill;
}

Efficiency EfficiencyOf(const Timing& timing, Peaks peaks) {
  Efficiency e;
  if (timing.seconds <= 0) return e;
  if (timing.half && peaks.half_operations > 0) peaks.operations = peaks.half_operations;
  std::vector<Round> rounds = timing.rounds;
  if (rounds.empty()) rounds.push_back({peaks.fill, peaks.copy, timing.seconds});
  // Each round has the rates of its moment.
  const auto median_share = [&](const auto& least_seconds) {
    std::vector<double> shares;
    for (const Round& round : rounds) shares.push_back(least_seconds(round) / round.seconds);
    return Median(shares);
  };
  const double bytes = timing.tensors.read + timing.tensors.written;
  if (peaks.fill > 0 && peaks.copy > 0) {
    e.io =
        median_share([&](const Round& r) { return MemorySeconds(timing.tensors, r.fill, r.copy); });
  }
  if (peaks.sheet_bytes > 0) e.sheet_io = bytes / peaks.sheet_bytes / timing.seconds;
  if (timing.counts_operations) {
    const double operations = timing.tensors.operations;
    if (peaks.operations > 0) e.compute = operations / peaks.operations / timing.seconds;
    if (peaks.sheet_operations > 0) {
      e.sheet_compute = operations / peaks.sheet_operations / timing.seconds;
    }
  }
  if (e.io || e.compute) {
    e.side = e.compute.value_or(0) > e.io.value_or(0) ? "compute" : "io";
    e.bottleneck = std::max(e.compute.value_or(0), e.io.value_or(0));
  }
  if (!timing.floor) return e;
  const auto least_seconds = [&](const Round& r) {
    const double operations =
        peaks.operations > 0 ? timing.floor->operations / peaks.operations : 0;
    // Data that stay in a cache are not bound by the memory.
    const bool memory_counts = !timing.in_cache && r.fill > 0 && r.copy > 0;
    return memory_counts ? std::max(operations, MemorySeconds(*timing.floor, r.fill, r.copy))
                         : operations;
  };
  const double share = median_share(least_seconds);
  if (share <= 0) return e;
  e.of_limit = share;
  e.limit_seconds = share * timing.seconds;
  return e;
}

}  // namespace detops::cli
