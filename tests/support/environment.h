// SPDX-License-Identifier: Apache-2.0
//
// Variables of the environment: those that make tests larger than `make test` has time for, and how
// a test sets one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace detops::test {

// DETOPS_TEST_EXHAUSTIVE=1: every float instead of a dense sample.
inline bool Exhaustive() {
  const char* value = std::getenv("DETOPS_TEST_EXHAUSTIVE");
  return value != nullptr && *value != '\0' && *value != '0';
}

inline int64_t CountFrom(const char* variable, int64_t otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::atoll(value) : otherwise;
}

// How much slower this build is than an optimised one, roughly.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int64_t kSlowdown = 20;
#else
inline constexpr int64_t kSlowdown = 1;
#endif

// DETOPS_TEST_PAIRS: pairs of polygons decided in exact arithmetic, of each kind.
inline int64_t PolygonPairs() { return CountFrom("DETOPS_TEST_PAIRS", 500000 / kSlowdown); }

// Sets an environment variable, or removes it, and puts back what was there.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    Set(value);
  }
  ~ScopedEnvironment() { Set(old_.has_value() ? old_->c_str() : nullptr); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void Set(const char* value) const {
    EXPECT_EQ(value != nullptr ? setenv(name_, value, 1) : unsetenv(name_), 0);
  }

  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace detops::test
