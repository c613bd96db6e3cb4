// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace detops::test {

constexpr uint64_t kAllFloats = uint64_t{1} << 32;

// How many floats, or pairs, give other bits than a slower computation; -1 after a CUDA error.
int64_t CountSinCosDifferences();    // every float, against double-double throughout
int64_t CountQuotientDifferences();  // pairs, against IEEE division
int64_t CountQuotientEscapes();      // pairs, IEEE division outside the bounds for halves
int64_t CountHalfDifferences();      // every float, against its neighbours

// exp of `count` floats from the one with these bits on. False after an error.
bool ExpOnDevice(uint32_t first, uint32_t count, float* results);

}  // namespace detops::test
