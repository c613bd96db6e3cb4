// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process may have at most.
#pragma once

#include <cstdint>
#include <filesystem>

namespace detops::schema {

// In bytes: what the machine has, or less where a control group (a container) or the process's own
// limit allows less.
int64_t HostMemory();

// The least limit of the control groups that this process is in, of version 1 or 2, below `root`,
// which is / but in tests. No limit at all: the largest number.
int64_t ControlGroupMemory(const std::filesystem::path& root);

}  // namespace detops::schema
