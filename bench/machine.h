// SPDX-License-Identifier: Apache-2.0
//
// What the processor can do at best, measured in the same run as everything else.
#pragma once

#include <string>

#include "bench/problem.h"

namespace detops::bench {

struct Rates {
  int threads = 0;
  double fill = 0;      // bytes written a second
  double copy = 0;      // bytes read and written a second
  double fused = 0;     // float operations a second, a multiply-add in one instruction
  double separate = 0;  // the same, multiplied, rounded and then added, as the library must

  double operations() const { return fused > separate ? fused : separate; }
};

// Memory to fill and copy, far larger than the caches, and as fast as it goes. `quick` is for
// tests: small and useless.
class Memory {
 public:
  explicit Memory(bool quick);
  // The best of the tries, in bytes a second.
  double FillRate(int threads, int tries) const;
  double CopyRate(int threads, int tries) const;

 private:
  Handle handle_{"cpu"};
  Buffer from_, to_;
};

// The best of several tries on that many threads.
Rates MeasureRates(const Memory& memory, int threads, bool quick);
Rates BestOf(const Rates& a, const Rates& b);

// What DETOPS_THREADS says, else what the machine runs at once: the threads of a new handle.
int DefaultThreads();

// The name that the library has for the processor.
std::string ProcessorName();
std::string CompilerName();

}  // namespace detops::bench
