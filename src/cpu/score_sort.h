// SPDX-License-Identifier: Apache-2.0
//
// Sorts keys of math/score_order.h in ascending order: a stable radix sort on the rank. Given keys
// in ascending order of index, the result is the order of scores.
#pragma once

#include <cstdint>

#include "runtime/cpu/threads.h"

namespace detops::cpu {

// Sorts keys[0, count); other[0, count) is scratch. Returns the array that holds the result.
uint64_t* SortByRank(uint64_t* keys, uint64_t* other, int64_t count);

// A rank such that at least `wanted` scores, and few more, have it or a lower rank. Where another
// thread changes the scores meanwhile, any rank.
uint32_t LastRankOfBest(const float* scores, int64_t count, int64_t wanted,
                        runtime::Threads& threads);

}  // namespace detops::cpu
