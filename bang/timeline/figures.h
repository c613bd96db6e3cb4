// SPDX-License-Identifier: Apache-2.0
//
// What a launch's counters say, in the terms of the operators' design documents.
#ifndef BANG_TIMELINE_FIGURES_H_
#define BANG_TIMELINE_FIGURES_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "clock/clock.h"

namespace bang {

struct Figures {
  double microseconds = 0;
  int64_t cycles = 0;
  int cores = 0;           // of the card
  int cores_used = 0;      // that had a task
  double unit_cycles = 0;  // of those cores and of their MPUs: lines of the source are shares of it
  // Shares of the time of the cores that had a task; MPUs count apart.
  double busy[kPipeCount] = {};
  double waits[kWaitCount] = {};
  double no_task = 0;
  Counters sum;                   // of the cores and the MPUs
  double memory_use = 0;          // what GDRAM moved, of what it could have moved
  double io_efficiency = 0;       // bytes asked for / (time * the card's bandwidth)
  double compute_efficiency = 0;  // operations / (time * peak of all cores), by width of the types
  std::string bottleneck;         // a sentence
};

Figures FiguresOf(const Timeline& timeline, const Card& card);

// The lines of the source on which most time went, the worst first: numbers of sites.
std::vector<uint32_t> WorstSites(const Timeline& timeline, size_t most);

}  // namespace bang

#endif  // BANG_TIMELINE_FIGURES_H_
