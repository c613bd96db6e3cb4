// SPDX-License-Identifier: Apache-2.0
//
// Comparing boxes by a judge (suppression.cuh): most pairs are decided at once, one per lane. Those
// that are doubtful are collected and decided 32 at a time, so that all lanes have work.
#pragma once

#include <cstdint>

#include "cuda/box_lists.cuh"
#include "math/quad_filter.h"

namespace detops::cuda {

struct Pair {
  int32_t ahead, behind;
};

// Of the warps of a block, in shared memory.
template <int kWarps>
struct PairQueues {
  static constexpr int kRoom = 64;  // 31 left over and 32 more
  Pair pairs[kWarps][kRoom];
  int counts[kWarps];
};

// All functions are called by a whole warp.
template <class Judge, int kWarps>
class DoubtfulPairs {
 public:
  __device__ DoubtfulPairs(const Judge& judge, const BoxLists& lists, PairQueues<kWarps>& queues)
      : judge_(judge), lists_(lists), queues_(queues) {}

  // Notes that `ahead` suppresses `behind`, at once or later. Returns whether something has been
  // noted of any box.
  __device__ bool Compare(bool there, int32_t ahead, int32_t behind) {
    if (!__any_sync(kAllLanes, there)) return false;
    using math::Verdict;
    const Verdict verdict =
        there ? judge_.Quick(judge_.Load(ahead), judge_.Load(behind)) : Verdict::kNo;
    if (verdict == Verdict::kYes) lists_.Note(ahead, behind);
    const bool noted = __any_sync(kAllLanes, verdict == Verdict::kYes);
    if constexpr (!Judge::kDoubts) return noted;
    const bool doubtful = verdict == Verdict::kDoubtful;
    const unsigned who = __ballot_sync(kAllLanes, doubtful);
    if (who == 0) return noted;
    if (doubtful) Mine()[count_ + __popc(who & ((1u << lane_) - 1))] = {ahead, behind};
    count_ += __popc(who);
    __syncwarp();
    if (count_ < 32) return noted;
    count_ -= 32;
    Decide(Mine()[count_ + lane_], true);
    return true;
  }
  __device__ void Finish() {
    if constexpr (!Judge::kDoubts) return;
    if (count_ > 0) Decide(Mine()[lane_ < count_ ? lane_ : 0], lane_ < count_);
    count_ = 0;
  }
  // By all warps of the block: what is left over in all queues is shared evenly.
  __device__ void FinishTogether() {
    if constexpr (!Judge::kDoubts) return;
    const auto warp = static_cast<int>(threadIdx.x / 32);
    if (lane_ == 0) queues_.counts[warp] = count_;
    __syncthreads();
    int all = 0;
    for (int w = 0; w < kWarps; ++w) all += queues_.counts[w];
    // A judge takes several pairs at once, some lanes for each.
    constexpr int kAtOnce = 4;
    const int share = (all + kWarps * kAtOnce - 1) / (kWarps * kAtOnce) * kAtOnce;
    const int begin = warp * share;
    if (begin >= all) return;
    const bool there = lane_ < share && begin + lane_ < all;
    int at = there ? begin + lane_ : begin, from = 0;
    for (; at >= queues_.counts[from]; ++from) at -= queues_.counts[from];
    Decide(queues_.pairs[from][at], there);
  }

 private:
  __device__ Pair* Mine() const { return queues_.pairs[threadIdx.x / 32]; }

  __device__ void Decide(const Pair& pair, bool there) {
    // A better list may be full by now.
    there = there && pair.ahead < lists_.Limit(pair.behind);
    if (judge_.Decide(pair, there)) lists_.Note(pair.ahead, pair.behind);
    __syncwarp();
  }

  const Judge& judge_;
  const BoxLists& lists_;
  PairQueues<kWarps>& queues_;
  int count_ = 0;
  int lane_ = static_cast<int>(threadIdx.x % 32);
};

}  // namespace detops::cuda
