// SPDX-License-Identifier: Apache-2.0
//
// What the processor can do at best, measured in the same run as everything else.
#pragma once

#include <string>

#include "schema/device.h"

namespace detops::cli {

// Per second.
struct Rates {
  double fill = 0;        // bytes written
  double copy = 0;        // bytes read and written
  double operations = 0;  // of floats: a multiply-add in one instruction, or rounded in between
};

// Memory to fill and copy, far larger than the caches. `quick` is for tests: small and useless.
class Memory {
 public:
  explicit Memory(bool quick);
  // The best of the tries, in bytes per second.
  double FillRate(int threads, int tries) const;
  double CopyRate(int threads, int tries) const;

 private:
  schema::Handle handle_{"cpu"};
  schema::Buffer from_, to_;
};

// The best of several tries on that many threads.
Rates MeasureRates(const Memory& memory, int threads, bool quick);

// The threads of a new handle.
int DefaultThreads();

std::string CompilerName();

}  // namespace detops::cli
