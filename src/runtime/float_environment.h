// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>

namespace detops::runtime {

// As long as it lives, this thread rounds to the nearest and keeps numbers that are tiny, whatever
// the program has set: results must not depend on it, nor on which thread computed what.
class UsualFloatEnvironment {
 public:
  UsualFloatEnvironment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~UsualFloatEnvironment() { std::fesetenv(&callers_); }
  UsualFloatEnvironment(const UsualFloatEnvironment&) = delete;
  UsualFloatEnvironment& operator=(const UsualFloatEnvironment&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace detops::runtime
