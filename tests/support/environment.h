// SPDX-License-Identifier: Apache-2.0
//
// Variables that make tests larger than `make test` has time for.
#pragma once

#include <cstdint>
#include <cstdlib>

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

}  // namespace detops::test
