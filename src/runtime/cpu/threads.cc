// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/threads.h"

#include <cstdlib>
#include <string_view>
#include <thread>

#include "core/status.h"

namespace detops::runtime {

int DefaultThreads() {
  if (const char* wanted = std::getenv("DETOPS_THREADS"); wanted != nullptr && *wanted != '\0') {
    char* end = nullptr;
    const long count = std::strtol(wanted, &end, 10);
    if (*end != '\0' || count < 0 || count > kMostThreads) {
      core::BadParam("DETOPS_THREADS: is \"", wanted, "\", expected the largest number of threads ",
                     "per handle, 1 to ", kMostThreads, ", or 0 for what the machine runs at once");
    }
    if (count > 0) return static_cast<int>(count);
  }
  const auto at_once = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(at_once, 1, kMostThreads);
}

}  // namespace detops::runtime
