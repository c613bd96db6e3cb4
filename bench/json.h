// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "bench/measurement.h"

namespace detops::bench {

// The machine, its rates and a record for each measurement that was timed; what is not known is
// null. scripts/bench-tables reads it. False when the file can't be written.
bool WriteJson(const std::string& file, const std::deque<Measurement>& measurements,
               const std::vector<Rates>& rates, bool smoke);

}  // namespace detops::bench
