// SPDX-License-Identifier: Apache-2.0
//
// The highest of many scores, without sorting them all: a sample estimates the lowest score wanted,
// and one pass collects the scores that are not below it. Compiled once for each Highway target,
// hence the unusual guard.
#if defined(DETOPS_CPU_COLLECT_BEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_COLLECT_BEST_INL_H_
#undef DETOPS_CPU_COLLECT_BEST_INL_H_
#else
#define DETOPS_CPU_COLLECT_BEST_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "cpu/lane-inl.h"
#include "cpu/score_sort.h"
#include "math/score_order.h"
#include "runtime/cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// Writes the indices from `begin` to `end` of the scores that are not below `least`, including NaN;
// returns where they end. `out` has room for all.
inline uint32_t* CollectIndices(const float* scores, int64_t begin, int64_t end, float least,
                                uint32_t* out) {
  constexpr int64_t kBits = 64;  // scores at a time: a branch per vector would be mispredicted
  const FloatTag tag;
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const auto limit = hn::Set(tag, least);
  int64_t i = begin;
  for (; i + kBits <= end; i += kBits) {
    uint64_t below = 0;
    for (int64_t j = 0; j < kBits; j += lanes) {
      below |= MaskBits(hn::Lt(hn::LoadU(tag, scores + i + j), limit)) << j;
    }
    for (uint64_t good = ~below; good != 0; good &= good - 1) {
      *out++ = static_cast<uint32_t>(i + std::countr_zero(good));
    }
  }
  for (; i < end; ++i) {
    if (!(scores[i] < least)) *out++ = static_cast<uint32_t>(i);
  }
  return out;
}

// The keys of the scores that are not below `least`, ascending by index; returns how many. Both
// arrays have room for `count`.
inline int64_t CollectFrom(float least, const float* scores, int64_t count, uint64_t* keys,
                           uint32_t* scratch, runtime::Threads& threads) {
  constexpr int64_t kPart = 8192;  // the least number of scores per thread
  const auto take = [&](int64_t begin, int64_t end, uint64_t* out) HWY_ATTR {
    const uint32_t* indices_end = CollectIndices(scores, begin, end, least, scratch + begin);
    for (const uint32_t* i = scratch + begin; i < indices_end; ++i) {
      *out++ = math::ScoreKey(scores[*i], *i);
    }
    return out;
  };
  return threads.Collect(count, kPart, keys, take);
}

// The keys of at least the `wanted` highest scores, with those that are about as high as the last
// of them, ascending by index; returns how many, which may be fewer where another thread changes
// the scores meanwhile. The arrays are as above.
inline int64_t CollectBest(const float* scores, int64_t count, int64_t wanted, uint64_t* keys,
                           uint32_t* scratch, runtime::Threads& threads) {
  constexpr int64_t kSamples = 2048;
  if (wanted < count / 4 && 8 * kSamples <= count) {
    std::array<uint32_t, kSamples> ranks;
    for (int64_t i = 0; i < kSamples; ++i) {
      ranks[i] = math::ScoreRank(scores[i * count / kSamples]);
    }
    // This many of the sample are expected to be wanted. A few more are taken, so that they are
    // nearly always enough.
    const double expected = static_cast<double>(wanted) * kSamples / static_cast<double>(count);
    const auto last =
        ranks.begin() +
        std::min<int64_t>(static_cast<int64_t>(expected + 3 * std::sqrt(expected) + 4),
                          kSamples - 1);
    std::nth_element(ranks.begin(), last, ranks.end());
    const int64_t found =
        CollectFrom(math::ScoreOfRank(*last), scores, count, keys, scratch, threads);
    if (found >= wanted && found <= 3 * wanted) return found;
  }
  const uint32_t last = LastRankOfBest(scores, count, wanted, threads);
  return CollectFrom(math::ScoreOfRank(last), scores, count, keys, scratch, threads);
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
