// SPDX-License-Identifier: Apache-2.0
//
// The switches of the simulator: environment variables, read once.
#ifndef BANG_MACHINE_OPTIONS_H_
#define BANG_MACHINE_OPTIONS_H_

#include <string>

namespace bang {

struct Options {
  bool check = true;         // BANG_CHECK=0|1|strict
  bool strict = false;       // warnings stop the kernel, too
  bool clock = true;         // BANG_CLOCK=0|1
  bool early = false;        // BANG_ASYNC=late|early: async copies at their sync, or at once
  bool summary = false;      // BANG_SUMMARY=0|1: counters on stderr after each launch
  std::string timeline;      // BANG_TIMELINE=FILE.html|FILE.json
  double time_limit = 300;   // BANG_TIME_LIMIT: seconds of the host per launch; 0: none
  int threads = 1;           // BANG_THREADS; default: the processors that the host gives us
};

const Options& GetOptions();

}  // namespace bang

#endif  // BANG_MACHINE_OPTIONS_H_
