// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/threads.h"

#include <tbb/info.h>

#include <algorithm>
#include <cstdlib>

namespace detops::runtime {

int DefaultThreads() {
  if (const char* wanted = std::getenv("DETOPS_THREADS")) {
    const int count = std::atoi(wanted);
    if (count > 0) return count;
  }
  return std::max(1, tbb::info::default_concurrency());
}

void Threads::Start() {
  if (count_ > tbb::info::default_concurrency()) {
    more_workers_ = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism, static_cast<size_t>(count_));
  }
  arena_ = std::make_unique<tbb::task_arena>(count_);
}

}  // namespace detops::runtime
