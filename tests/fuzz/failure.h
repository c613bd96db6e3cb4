// SPDX-License-Identifier: Apache-2.0
//
// How a target says that a promise does not hold: libFuzzer keeps the input of a process that
// aborts, and the replay names it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace detops::fuzz {

[[noreturn]] inline void Fail(const std::string& what) {
  std::fprintf(stderr, "the target's promise does not hold: %s\n", what.c_str());
  std::abort();
}

}  // namespace detops::fuzz
