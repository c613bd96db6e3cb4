// SPDX-License-Identifier: Apache-2.0
#include "cpu/threads.h"

#include <tbb/info.h>

#include <algorithm>
#include <cstdlib>

namespace detops::cpu {

int DefaultThreads() {
  if (const char* wanted = std::getenv("DETOPS_THREADS")) {
    const int count = std::atoi(wanted);
    if (count > 0) return count;
  }
  return std::max(1, tbb::info::default_concurrency());
}

}  // namespace detops::cpu
