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
constexpr int64_t kPart = 16384;  // scores of a thread's share at least
constexpr int64_t kMaxParts = 256;

// Among the scores whose rank begins with the `known` bits `prefix`: the next 12 bits of the one
// that comes at place `wanted`, when `below` come before them all; adds to `below` what comes
// before it, and sets `same` to how many have its bits.
uint32_t FindDigit(const float* scores, int64_t count, int64_t wanted, int known, uint32_t prefix,
                   int64_t& below, int64_t& same, Threads& threads) {
  std::array<std::atomic<uint32_t>, 1 << kSelectBits> histogram = {};
  threads.For(count, kPart, [&](int64_t begin, int64_t end) {
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
  uint32_t digit = 0;
  while (below + histogram[digit] < wanted) below += histogram[digit++];
  same = histogram[digit];
  return digit;
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

int64_t CollectBest(const float* scores, int64_t count, int64_t wanted, uint64_t* keys,
                    Threads& threads) {
  uint32_t last = ~uint32_t{0};  // the rank up to which keys are collected
  if (wanted < count) {
    // 12 bits of the rank, sign, exponent and 3 of the fraction. Where a narrow range of scores has
    // too many with the same, 12 more.
    int64_t below = 0, same = 0;
    const uint32_t first = FindDigit(scores, count, wanted, 0, 0, below, same, threads);
    last = (first << (32 - kSelectBits)) | ((uint32_t{1} << (32 - kSelectBits)) - 1);
    if (below + same > 3 * wanted) {
      const uint32_t second =
          FindDigit(scores, count, wanted, kSelectBits, first, below, same, threads);
      last = (first << (32 - kSelectBits)) | (second << (32 - 2 * kSelectBits)) |
             ((uint32_t{1} << (32 - 2 * kSelectBits)) - 1);
    }
  }
  const auto collect = [&](int64_t begin, int64_t end, uint64_t* out) {
    for (int64_t i = begin; i < end; ++i) {
      // Written always and counted where it belongs: no branch to mispredict. There is room.
      *out = math::ScoreKey(scores[i], static_cast<uint32_t>(i));
      out += (*out >> kRankShift) <= last ? 1 : 0;
    }
    return out;
  };
  if (threads.count() == 1 || count <= kPart) return collect(0, count, keys) - keys;

  // Each part collects to where it begins; then the parts close up.
  const int64_t parts = std::min<int64_t>(count / kPart, kMaxParts);
  const auto part_begin = [&](int64_t part) { return count * part / parts; };
  std::array<uint64_t*, kMaxParts> ends;
  threads.For(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      ends[part] = collect(part_begin(part), part_begin(part + 1), keys + part_begin(part));
    }
  });
  uint64_t* end = ends[0];
  for (int64_t part = 1; part < parts; ++part) {
    end = std::copy(keys + part_begin(part), ends[part], end);
  }
  return end - keys;
}

}  // namespace detops::cpu
