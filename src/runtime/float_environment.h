// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>

namespace detops::runtime {

// As long as it lives, this thread rounds to the nearest and keeps numbers that are tiny, whatever
// the program has set: results must not depend on it, nor on which thread computed what.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&callers_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace detops::runtime
