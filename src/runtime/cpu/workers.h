// SPDX-License-Identifier: Apache-2.0
//
// The process's threads for parallel loops, which all handles share. A loop never waits for a
// thread to come: the caller works on it, those that are free join, and where threads can't be
// started it goes on without. Nothing here allocates or throws.
#pragma once

#include <cstdint>

namespace detops::runtime {

// More is a mistake: no machine gains from it, and their stacks alone would take gigabytes.
inline constexpr int kMostThreads = 4096;

// The threads that work for one handle.
struct HandleThreads {
  int threads;  // at most, the caller's included

  // For the workers alone.
  int helpers = 0;       // of its threads, those that work now, without the caller
  unsigned started = 0;  // the process whose threads were started for it
};

using RunPart = void (*)(const void* body, int64_t begin, int64_t end);

// run(body, begin, end) on `parts` parts of [0, size), of equal size up to one, in any order and at
// the same time; returns when all are done.
void RunLoop(HandleThreads& handle, int64_t size, int64_t parts, RunPart run,
             const void* body) noexcept;

}  // namespace detops::runtime
