// SPDX-License-Identifier: Apache-2.0
#include "runtime/dispatch.h"

#include <cstdio>

namespace detops::runtime {

void LogDispatch(const char* op, const char* implementation, const char* outcome) {
  static const bool enabled = LogHas("dispatch");
  if (enabled) std::fprintf(stderr, "detops: %s: %s %s\n", op, implementation, outcome);
}

}  // namespace detops::runtime
