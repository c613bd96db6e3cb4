// SPDX-License-Identifier: Apache-2.0
#include "timeline/figures.h"

#include <algorithm>

namespace bang {
namespace {

constexpr const char* kPipeSentence[kPipeCount] = {
    "scalar code: it is busy most of the time; give more to each vector instruction",
    "the IO pipe of each core: it is busy most of the time; copy less, or in larger pieces",
    "the Move pipe of each core: it is busy most of the time; copy less, or in larger pieces",
    "the vector unit: it is busy most of the time; fewer or longer instructions would help"};

// Where no pipe is busy most of the time: what the cores wait for.
const char* WaitSentence(Wait wait) {
  switch (wait) {
    case Wait::kIo:
      return "waiting for IO: load the next block while the core computes, or load more at once";
    case Wait::kMove: return "waiting for Move: copy the next block while the core computes";
    case Wait::kCompute: return "waiting for results: use longer vectors, or wait later";
    case Wait::kBarrier:
      return "barriers: cut the work into equal parts, or let the cores meet less often";
    default: return "no part: each is busy for a part of the time; let them overlap";
  }
}

std::string Bottleneck(const Figures& figures, const Card& card) {
  const auto share = [&](Wait wait) { return figures.waits[static_cast<int>(wait)]; };
  if (figures.cores_used == 0) return "no task did anything";
  const double running = 1 - figures.no_task;
  if (figures.memory_use > 0.7 * running) {
    return "GDRAM: its bandwidth is used up; move fewer bytes, or in larger pieces";
  }
  if (static_cast<double>(card.launch_cycles) > 0.5 * static_cast<double>(figures.cycles)) {
    return "the launch itself: the kernel is over before it pays; do more in one launch";
  }
  if (figures.no_task > 0.5) {
    return "too little to do for the cores: most of the time those that had a task have none; cut "
           "the work into equal parts";
  }
  const int pipe =
      static_cast<int>(std::max_element(figures.busy, figures.busy + kPipeCount) - figures.busy);
  std::string sentence;
  if (figures.busy[pipe] > 0.6 * running) {
    const bool copies =
        pipe == static_cast<int>(Pipe::kIo) || pipe == static_cast<int>(Pipe::kMove);
    sentence =
        copies && share(Wait::kBandwidth) > 0.3 * figures.busy[pipe]
            ? "the bandwidth that cores of a cluster share: their copies slow each other down; "
              "load what they share once, into SRAM"
            : kPipeSentence[pipe];
  } else {
    const Wait core_waits[] = {Wait::kIo, Wait::kMove, Wait::kCompute, Wait::kBarrier};
    const Wait most = *std::max_element(std::begin(core_waits), std::end(core_waits),
                                        [&](Wait a, Wait b) { return share(a) < share(b); });
    sentence = WaitSentence(share(most) > 0.2 * running ? most : Wait::kNone);
  }
  if (2 * figures.cores_used <= figures.cores) {
    sentence += " (and " + std::to_string(figures.cores - figures.cores_used) + " of " +
                std::to_string(figures.cores) + " cores had no task)";
  }
  return sentence;
}

}  // namespace

Figures FiguresOf(const Timeline& timeline, const Card& card) {
  Figures figures;
  figures.cycles = timeline.cycles;
  figures.microseconds = card.Microseconds(timeline.cycles);
  figures.cores = static_cast<int>(card.cores());
  Counters cores;
  for (size_t i = 0; i < timeline.units.size(); ++i) {
    const Counters& unit = timeline.units[i];
    figures.sum += unit;
    if (unit.programs > 0) figures.unit_cycles += static_cast<double>(timeline.cycles);
    if (i % kUnitsPerCluster == kCoresPerCluster || unit.programs == 0) continue;
    ++figures.cores_used;
    cores += unit;
  }
  const double cycles = static_cast<double>(std::max<int64_t>(timeline.cycles, 1));
  const double core_cycles = cycles * std::max(figures.cores_used, 1);
  for (int i = 0; i < kPipeCount; ++i) {
    figures.busy[i] = static_cast<double>(cores.busy[i]) / core_cycles;
  }
  for (int i = 0; i < kWaitCount; ++i) {
    figures.waits[i] = static_cast<double>(cores.waits[i]) / core_cycles;
  }
  figures.no_task = 1 - static_cast<double>(cores.resident) / core_cycles;
  const double seconds = cycles / (static_cast<double>(card.clock_khz) * 1e3);
  const double bytes_at_peak = seconds * static_cast<double>(card.gdram_bandwidth);
  figures.memory_use = static_cast<double>(figures.sum.gdram_moved) / bytes_at_peak;
  figures.io_efficiency =
      static_cast<double>(figures.sum.gdram_read + figures.sum.gdram_written) / bytes_at_peak;
  figures.compute_efficiency =
      static_cast<double>(figures.sum.computed_bytes) /
      (cycles * static_cast<double>(card.cores() * card.vector_bytes_per_cycle));
  figures.bottleneck = Bottleneck(figures, card);
  return figures;
}

std::vector<uint32_t> WorstSites(const Timeline& timeline, size_t most) {
  std::vector<uint32_t> sites;
  for (uint32_t i = 0; i < timeline.sites.size(); ++i) {
    if (timeline.sites[i].busy + timeline.sites[i].waited > 0) sites.push_back(i);
  }
  std::stable_sort(sites.begin(), sites.end(), [&](uint32_t a, uint32_t b) {
    const SiteCounters &x = timeline.sites[a], &y = timeline.sites[b];
    return std::max(x.busy, x.waited) > std::max(y.busy, y.waited);
  });
  sites.resize(std::min(sites.size(), most));
  return sites;
}

}  // namespace bang
