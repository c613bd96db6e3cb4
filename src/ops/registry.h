// SPDX-License-Identifier: Apache-2.0
//
// Every operator of the library, for listings; calls don't come this way.
#pragma once

#include <cstddef>
#include <span>

namespace detops::ops {

struct ImplementationEntry {
  const char* name;
  const char* why_unusable;  // on this machine; null if it can run
};

struct OperatorEntry {
  const char* name;
  size_t (*implementations)();
  ImplementationEntry (*implementation)(size_t i);
};

std::span<const OperatorEntry> Operators();

}  // namespace detops::ops
