// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "schema/array.h"

namespace detops::fuzz {

// One problem on one implementation: the status, and what lies in the outputs.
struct Outcome {
  mluOpStatus_t status;
  std::vector<schema::Array> results;
};

inline bool SameBits(const Outcome& a, const Outcome& b) {
  return a.status == b.status &&
         std::ranges::equal(a.results, b.results,
                            [](const auto& x, const auto& y) { return schema::SameBits(x, y); });
}

}  // namespace detops::fuzz
