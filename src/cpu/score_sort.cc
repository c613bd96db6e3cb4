// SPDX-License-Identifier: Apache-2.0
#include "cpu/score_sort.h"

#include <algorithm>
#include <array>
#include <atomic>
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

constexpr int kSelectBits = 12;
// The least number of scores per thread: each thread has a histogram to clear and to add up.
constexpr int64_t kCountPart = 32768;

// Among the scores whose rank begins with the `known` bits `prefix`, finds the next 12 bits of the
// rank at position `wanted`, given that `below` scores rank before all of them. Adds to `below` the
// number of scores that rank before those bits, and sets `same` to how many scores share them.
uint32_t FindDigit(const float* scores, int64_t count, int64_t wanted, int known, uint32_t prefix,
                   int64_t& below, int64_t& same, runtime::Threads& threads) {
  std::array<std::atomic<uint32_t>, 1 << kSelectBits> histogram = {};
  threads.For(count, kCountPart, [&](int64_t begin, int64_t end) {
    std::array<uint32_t, 1 << kSelectBits> part = {};
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t rank = math::ScoreRank(scores[i]);
      if (rank >> (32 - known) != prefix) continue;
      ++part[(rank >> (32 - known - kSelectBits)) & ((1 << kSelectBits) - 1)];
    }
    for (size_t digit = 0; digit < part.size(); ++digit) {
      if (part[digit] != 0) histogram[digit].fetch_add(part[digit], std::memory_order_relaxed);
    }
  });
  // There is always such a digit, unless another thread changes the scores meanwhile.
  uint32_t digit = 0;
  while (digit + 1 < histogram.size() && below + histogram[digit] < wanted) {
    below += histogram[digit++];
  }
  same = histogram[digit];
  return digit;
}

}  // namespace

uint64_t* SortByRank(uint64_t* keys, uint64_t* other, int64_t count) {
  if (count <= 512) {  // takes less time than clearing the histograms
    std::sort(keys, keys + count);
    return keys;
  }
  std::array<std::array<uint32_t, kDigits>, kPasses> histogram = {};
  for (int64_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < kPasses; ++pass) ++histogram[pass][Digit(keys[i], pass)];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    std::array<uint32_t, kDigits>& next = histogram[pass];
    if (next[Digit(keys[0], pass)] == count) continue;  // all keys have the same digit
    uint32_t sum = 0;
    for (uint32_t& n : next) n = std::exchange(sum, sum + n);
    for (int64_t i = 0; i < count; ++i) other[next[Digit(keys[i], pass)]++] = keys[i];
    std::swap(keys, other);
  }
  return keys;
}

uint32_t LastRankOfBest(const float* scores, int64_t count, int64_t wanted,
                        runtime::Threads& threads) {
  if (wanted >= count) return ~uint32_t{0};
  // 12 bits of the rank: sign, exponent and 3 of the fraction.
  int64_t below = 0, same = 0;
  const uint32_t first = FindDigit(scores, count, wanted, 0, 0, below, same, threads);
  const uint32_t begin = first << (32 - kSelectBits);
  const uint32_t others = (uint32_t{1} << (32 - kSelectBits)) - 1;  // the bits not known
  if (below + same <= 3 * wanted) return begin | others;
  // A narrow range of scores: 12 bits more.
  const uint32_t second =
      FindDigit(scores, count, wanted, kSelectBits, first, below, same, threads);
  return begin | (second << (32 - 2 * kSelectBits)) | (others >> kSelectBits);
}

}  // namespace detops::cpu
