// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "math/half.h"

namespace detops::bench {

inline std::vector<math::Half> Halves(const std::vector<float>& values) {
  std::vector<math::Half> halves;
  halves.reserve(values.size());
  for (const float v : values) halves.push_back(math::ToHalf(v));
  return halves;
}

}  // namespace detops::bench
