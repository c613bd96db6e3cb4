// SPDX-License-Identifier: Apache-2.0
//
// Every operator of the library, for listings; calls don't come this way.
#pragma once

#include <cstddef>
#include <span>

namespace detops::ops {

struct OperatorEntry {
  const char* name;
  size_t (*implementations)();
  const char* (*implementation_name)(size_t i);
};

std::span<const OperatorEntry> Operators();

}  // namespace detops::ops
