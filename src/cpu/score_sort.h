// SPDX-License-Identifier: Apache-2.0
//
// Keys of math/score_order.h in ascending order: a radix sort on the rank, which keeps equal ranks
// as they came. Given keys in ascending order of index, that is the order of scores.
#pragma once

#include <cstdint>

#include "runtime/cpu/threads.h"

namespace detops::cpu {

// Sorts keys[0, count); other[0, count) is scratch. Returns the array that holds the result.
uint64_t* SortByRank(uint64_t* keys, uint64_t* other, int64_t count);

// A rank that at least `wanted` of the scores have or are before, and few more.
uint32_t LastRankOfBest(const float* scores, int64_t count, int64_t wanted,
                        runtime::Threads& threads);

}  // namespace detops::cpu
