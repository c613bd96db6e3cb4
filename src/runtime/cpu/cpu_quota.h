// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace detops::runtime {

// How many processors' time Linux lets this process use: the least quota of its control group
// (version 1 or 2) and of those around it. Infinite where there is none. `root` is for tests: the
// folder that has /proc and /sys.
double CpuQuota(const std::string& root = "");

}  // namespace detops::runtime
