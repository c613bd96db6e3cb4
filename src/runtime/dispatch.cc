// SPDX-License-Identifier: Apache-2.0
#include "runtime/dispatch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace detops::runtime {

void LogDispatch(const char* op, const char* implementation, const char* outcome) {
  static const bool enabled = [] {
    const char* value = std::getenv("DETOPS_LOG");
    return value != nullptr && std::strcmp(value, "dispatch") == 0;
  }();
  if (enabled) std::fprintf(stderr, "detops: %s: %s %s\n", op, implementation, outcome);
}

}  // namespace detops::runtime
