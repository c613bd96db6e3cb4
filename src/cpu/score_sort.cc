// SPDX-License-Identifier: Apache-2.0
#include "cpu/score_sort.h"

#include <algorithm>
#include <array>
#include <utility>

#include "math/score_order.h"

namespace detops::cpu {
namespace {

constexpr int kRankShift = 32;  // a key is rank, then index
constexpr int kDigitBits = 11;
constexpr int kPasses = 3;  // 33 bits hold a rank
constexpr uint64_t kDigits = 1 << kDigitBits;

uint64_t Digit(uint64_t key, int pass) {
  return (key >> (kRankShift + pass * kDigitBits)) & (kDigits - 1);
}

}  // namespace

uint64_t* SortByRank(uint64_t* keys, uint64_t* other, int64_t count) {
  if (count <= 512) {  // less than clearing the histograms
    std::sort(keys, keys + count);
    return keys;
  }
  std::array<std::array<uint32_t, kDigits>, kPasses> histogram = {};
  for (int64_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < kPasses; ++pass) ++histogram[pass][Digit(keys[i], pass)];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    std::array<uint32_t, kDigits>& next = histogram[pass];
    if (next[Digit(keys[0], pass)] == count) continue;  // one digit for all
    uint32_t sum = 0;
    for (uint32_t& n : next) n = std::exchange(sum, sum + n);
    for (int64_t i = 0; i < count; ++i) other[next[Digit(keys[i], pass)]++] = keys[i];
    std::swap(keys, other);
  }
  return keys;
}

int64_t CollectBest(const float* scores, int64_t count, int64_t wanted, uint64_t* keys) {
  uint32_t last = ~uint32_t{0};
  if (wanted < count) {
    // The leading 12 bits: sign, exponent and 3 of the fraction.
    constexpr int kBits = 12;
    std::array<uint32_t, 1 << kBits> histogram = {};
    for (int64_t i = 0; i < count; ++i) ++histogram[math::ScoreRank(scores[i]) >> (32 - kBits)];
    int64_t below = 0;
    uint32_t digit = 0;
    while (below + histogram[digit] < wanted) below += histogram[digit++];
    last = (digit << (32 - kBits)) | ((uint32_t{1} << (32 - kBits)) - 1);
    // Once more within that digit, or a narrow range of scores would all be collected.
    histogram = {};
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t rank = math::ScoreRank(scores[i]);
      if (rank >> (32 - kBits) == digit) ++histogram[(rank >> (32 - 2 * kBits)) & 0xfff];
    }
    uint32_t second = 0;
    while (below + histogram[second] < wanted) below += histogram[second++];
    last = (digit << (32 - kBits)) | (second << (32 - 2 * kBits)) |
           ((uint32_t{1} << (32 - 2 * kBits)) - 1);
  }
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t rank = math::ScoreRank(scores[i]);
    keys[found] = (static_cast<uint64_t>(rank) << kRankShift) | static_cast<uint32_t>(i);
    found += rank <= last ? 1 : 0;
  }
  return found;
}

}  // namespace detops::cpu
