// SPDX-License-Identifier: Apache-2.0
//
// Built-ins called as a kernel calls them: on a simulated core, with the checks on.
#ifndef BANG_TESTS_BUILTINS_ON_CORE_H_
#define BANG_TESTS_BUILTINS_ON_CORE_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "bang.h"

constexpr int64_t kNramBytes = 256 * 1024;

// Runs the body on one core; `nram` are kNramBytes of zeros. What stopped it, or "".
std::string OnCore(const std::function<void(char* nram)>& body);

#endif  // BANG_TESTS_BUILTINS_ON_CORE_H_
