// SPDX-License-Identifier: Apache-2.0
//
// The cards that tests are repeated on.
#pragma once

#include <cnrt.h>
#include <gtest/gtest.h>

#include <vector>

namespace detops::test {

inline std::vector<int> Devices() {
  unsigned count = 0;
  EXPECT_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  std::vector<int> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(static_cast<int>(i));
  return all;
}

}  // namespace detops::test
