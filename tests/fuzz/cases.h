// SPDX-License-Identifier: Apache-2.0
//
// Random calls of the five operators for the differential fuzz test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mlu_op.h"
#include "support/random_data.h"

namespace detops::test {

using Bytes = std::vector<uint8_t>;

struct FuzzCase {
  const char* op;
  std::string description;
  // Calls the operator; on success `outputs` gets every output's bytes, NaNs made equal.
  std::function<mluOpStatus_t(mluOpHandle_t, Bytes& outputs)> run;
};

FuzzCase RandomCase(Rng& rng);

}  // namespace detops::test
