// SPDX-License-Identifier: Apache-2.0
//
// The order in which suppression visits boxes: NaN > +inf > … > -inf, -0 == +0, and the lower
// index first among equals, as one unsigned integer to sort in ascending order.
#pragma once

#include <cstdint>

#include "math/bit_cast.h"
#include "math/host_device.h"

namespace detops::math {

// Ascending rank is descending score; every NaN has rank 0, both zeros have the same rank.
DETOPS_HD uint32_t ScoreRank(float score) {
  if (score != score) return 0;
  const uint32_t bits = BitCast<uint32_t>(score + 0.0f);  // -0 + 0 is +0
  const uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return ~ascending;
}

// A score of that rank or, where no score has it, of the nearest rank before it; +inf for ranks
// before those of all scores that are not NaN.
DETOPS_HD float ScoreOfRank(uint32_t rank) {
  constexpr uint32_t kInfinity = 0x7f800000u;
  if (rank < ~(kInfinity | 0x80000000u)) return BitCast<float>(kInfinity);
  if (rank > kInfinity + 0x80000000u) return BitCast<float>(kInfinity | 0x80000000u);
  const uint32_t ascending = ~rank;
  return BitCast<float>((ascending >> 31) != 0 ? ascending & 0x7fffffffu : ~ascending);
}

// Unique for every index, so that any sort of these keys gives the same order.
DETOPS_HD uint64_t ScoreKey(float score, uint32_t index) {
  return (static_cast<uint64_t>(ScoreRank(score)) << 32) | index;
}

DETOPS_HD uint32_t IndexOfKey(uint64_t key) { return static_cast<uint32_t>(key); }

}  // namespace detops::math
