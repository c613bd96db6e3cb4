// SPDX-License-Identifier: Apache-2.0
//
// Pairs of boxes whose bounds overlap, collected by the warps of a block and judged 32 at a time
// (suppression.cuh says what a judge is), so that all lanes have work and few wait for memory.
#pragma once

#include <cstdint>

#include "cuda/box_lists.cuh"
#include "math/quad_filter.h"

namespace detops::cuda {

struct Pair {
  int32_t ahead, behind;
};

// Of the warps of a block, in shared memory.
template <int kWarpCount, int kRoomPerWarp>
struct PairStorage {
  static constexpr int kWarps = kWarpCount, kRoom = kRoomPerWarp;
  Pair pairs[kWarps][kRoom];
  int counts[kWarps];
  unsigned long long work[2];  // of the block, as BoxLists::work
};

// Functions are called by a whole warp unless they say otherwise.
template <class Judge, class Storage>
class PairQueue {
 public:
  // some_decided: whether boxes ahead may be decided already.
  __device__ PairQueue(const Judge& judge, const BoxLists& lists, Storage& storage,
                       bool some_decided)
      : judge_(judge), lists_(lists), storage_(storage), some_decided_(some_decided) {
    if (lane_ == 0) storage_.counts[warp_] = 0;
    if (threadIdx.x < 2) storage_.work[threadIdx.x] = 0;
    __syncwarp();
  }

  // Each lane has examined so many boxes.
  __device__ void Examined(uint32_t boxes) { examined_ += boxes; }

  __device__ void Add(bool there, int32_t ahead, int32_t behind) {
    const unsigned who = __ballot_sync(kAllLanes, there);
    if (who == 0) return;
    const int count = storage_.counts[warp_];
    if (there) storage_.pairs[warp_][count + __popc(who & ((1u << lane_) - 1))] = {ahead, behind};
    __syncwarp();
    if (lane_ == 0) storage_.counts[warp_] = count + __popc(who);
    __syncwarp();
  }
  // By any lanes. Returns false where there is no room.
  __device__ bool AddAlone(int32_t ahead, int32_t behind) {
    const int at = atomicAdd(&storage_.counts[warp_], 1);
    if (at >= Storage::kRoom) return false;
    storage_.pairs[warp_][at] = {ahead, behind};
    return true;
  }

  // Judges pairs as long as there are 32. Returns whether there were.
  __device__ bool Settle() {
    __syncwarp();
    const int added = storage_.counts[warp_];
    __syncwarp();  // all lanes know it before any adds another one
    int count = min(added, Storage::kRoom);
    if (count < 32) return false;
    for (; count >= 32; count -= 32) JudgePair(storage_.pairs[warp_][count - 32 + lane_], true);
    __syncwarp();
    if (lane_ == 0) storage_.counts[warp_] = count;
    __syncwarp();
    return true;
  }
  __device__ void Finish() {
    Settle();
    const int count = storage_.counts[warp_];
    if (count > 0) JudgePair(storage_.pairs[warp_][lane_ < count ? lane_ : 0], lane_ < count);
    __syncwarp();
    if (lane_ == 0) storage_.counts[warp_] = 0;
    __syncwarp();
    AddWork(lists_.work);
  }
  // By all warps of the block: what is left over in all queues is shared evenly.
  __device__ void FinishTogether() {
    Settle();
    __syncthreads();
    int all = 0;
    for (int w = 0; w < Storage::kWarps; ++w) all += storage_.counts[w];
    // A judge takes several pairs at once, some lanes for each.
    constexpr int kAtOnce = 4, kShares = Storage::kWarps * kAtOnce;
    const int share = (all + kShares - 1) / kShares * kAtOnce;
    const int begin = warp_ * share;
    if (begin < all) {
      const bool there = lane_ < share && begin + lane_ < all;
      int at = there ? begin + lane_ : begin, from = 0;
      for (; at >= storage_.counts[from]; ++from) at -= storage_.counts[from];
      JudgePair(storage_.pairs[from][at], there);
    }
    AddWork(storage_.work);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(lists_.work + threadIdx.x, storage_.work[threadIdx.x]);
  }

 private:
  __device__ void AddWork(unsigned long long* to) {
    for (int distance = 16; distance > 0; distance /= 2) {
      judged_ += __shfl_xor_sync(kAllLanes, judged_, distance);
      examined_ += __shfl_xor_sync(kAllLanes, examined_, distance);
    }
    if (lane_ == 0) atomicAdd(to, judged_);
    if (lane_ == 1) atomicAdd(to + 1, examined_);
  }

  __device__ void JudgePair(const Pair& pair, bool there) {
    using math::Verdict;
    there = there && pair.ahead < lists_.Limit(pair.behind, some_decided_);
    const uint8_t state =
        there && some_decided_ ? lists_.StateNow(pair.ahead) : BoxLists::kUndecided;
    there = there && state != BoxLists::kSuppressed;
    judged_ += there ? 1 : 0;
    const Verdict verdict =
        there ? judge_.Quick(judge_.Load(pair.ahead), judge_.Load(pair.behind)) : Verdict::kNo;
    bool yes = verdict == Verdict::kYes;
    if constexpr (Judge::kDoubts) {
      const bool doubtful = verdict == Verdict::kDoubtful;
      if (__any_sync(kAllLanes, doubtful)) yes = judge_.Decide(pair, doubtful) || yes;
    }
    if (yes) lists_.Note(pair.ahead, pair.behind, state);
    __syncwarp();
  }

  const Judge& judge_;
  const BoxLists& lists_;
  Storage& storage_;
  const bool some_decided_;
  unsigned long long judged_ = 0, examined_ = 0;
  const int lane_ = static_cast<int>(threadIdx.x % 32), warp_ = static_cast<int>(threadIdx.x / 32);
};

}  // namespace detops::cuda
