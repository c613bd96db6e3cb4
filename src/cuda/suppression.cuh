// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression on the device, of lists of boxes in the order of scores: a box is kept if no
// kept box before it suppresses it. That depends on the boxes before it alone that would suppress
// it, its suppressors. Two kernels:
// - a search, in parallel, notes the best few suppressors of each box: by comparing all boxes
//   (CompareAllKernel) or, in one list of many, those near each other (SearchGridKernel);
// - DecideKernel decides every box as soon as its suppressors are decided. Where all of the few
//   that were noted are suppressed, it searches for the next ones.
// So dense clusters cost little: nearly always, one of the best few suppressors is kept. The number
// of launches depends on sizes alone, and nothing waits for the host.
//
// A Judge decides when one box suppresses another. Boxes are given by their positions.
//   struct Box                          what a lane holds of a box
//   Box Load(position)
//   double LeastArea(behind)            least area of the bounds of boxes that may suppress it
//   Verdict Quick(ahead, behind)        cheap; kDoubtful only with kDoubts
//   bool Decide(pair, there)            a doubtful pair per lane, or none; called by a whole warp
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/box_grid.cuh"
#include "cuda/pair_queue.cuh"
#include "math/quad_filter.h"
#include "runtime/cuda/launch.h"

namespace detops::cuda {

__device__ inline bool Overlap(const float4& a, const float4& b) {
  return a.x < b.z && b.x < a.z && a.y < b.w && b.y < a.w;
}

constexpr int kSearchThreads = 256;
constexpr int kSearchWarps = kSearchThreads / 32;

// ---- by comparing all boxes ---------------------------------------------------------------------

constexpr int kSegment = 1024;  // boxes ahead that are in shared memory at a time

// Boxes `begin` to `end` of each list; blockIdx.y is the list. A warp compares kGroup boxes with
// all ahead of them, in order: once a box has enough suppressors, it needs no more comparisons.
template <class Judge, int kGroup>
__global__ void __launch_bounds__(kSearchThreads, 2)
    CompareAllKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end) {
  BeginKernel();
  using Storage = PairStorage<kSearchWarps, 31 + 32 * kGroup>;
  __shared__ Storage storage;
  __shared__ float4 segment_bounds[kSegment];
  const int64_t image = blockIdx.y;
  if (lists.HasEnough(image, begin)) return;
  PairQueue<Judge, Storage> queue(judge, lists, storage, begin > 0);
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  // Blocks with the most to do come first.
  constexpr int kBlockBoxes = kSearchWarps * kGroup;
  const int64_t block_first = begin + int64_t{gridDim.x - 1 - blockIdx.x} * kBlockBoxes;
  const int64_t block_last = min(block_first + kBlockBoxes, end);
  const int64_t first = block_first + warp * kGroup;
  const auto base = static_cast<int32_t>(image * lists.count);
  float4 behind[kGroup];
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    behind[k] = first + k < end ? lists.bounds[base + first + k] : BoxLists::Nowhere();
  }
  // Of box `lane`: boxes from here on need not be compared with it; and the same of all.
  int32_t limit = 0, limit_of_all = 0;
  const auto update_limits = [&] {
    limit = lane < kGroup && first + lane < end
                ? lists.Limit(static_cast<int32_t>(base + first + lane), begin > 0)
                : 0;
    limit_of_all = limit;
    for (int distance = kGroup / 2; distance > 0; distance /= 2) {
      limit_of_all = max(limit_of_all, __shfl_xor_sync(kAllLanes, limit_of_all, distance));
    }
    limit_of_all = __shfl_sync(kAllLanes, limit_of_all, 0);
  };
  update_limits();
  for (int64_t segment = 0; segment < block_last; segment += kSegment) {
    if (__syncthreads_and(base + segment >= limit_of_all)) break;
    for (int64_t i = threadIdx.x; i < kSegment; i += kSearchThreads) {
      if (segment + i < block_last) segment_bounds[i] = lists.bounds[base + segment + i];
    }
    __syncthreads();
    const int64_t last = min(segment + kSegment, block_last);
    for (int64_t word = segment; word < last && base + word < limit_of_all; word += 32) {
      const float4 box = segment_bounds[word - segment + lane];
      bool near[kGroup], any = false;
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        near[k] = Overlap(box, behind[k]);
        any |= near[k];
      }
      const auto ahead = static_cast<int32_t>(base + word + lane);
      queue.Examined(kGroup);
      if (!__any_sync(kAllLanes, any && ahead < limit_of_all)) continue;
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const int32_t limit_of_this = __shfl_sync(kAllLanes, limit, k);
        queue.Add(near[k] && ahead < limit_of_this, ahead, static_cast<int32_t>(base + first + k));
      }
      if (queue.Settle()) update_limits();
    }
  }
  queue.FinishTogether();
}

// ---- in the grid --------------------------------------------------------------------------------

// Adds the pairs of the box at `behind` with boxes later than `after`. Called by a whole warp.
template <class Judge, class Storage>
__device__ void FindSuppressors(const BoxLists& lists, int64_t image, int32_t behind, int32_t after,
                                const Judge& judge, PairQueue<Judge, Storage>& queue) {
  const float4 query = lists.bounds[behind];
  if (!(query.x <= query.z)) return;
  // The same in all lanes.
  const auto limit_now = [&] { return __shfl_sync(kAllLanes, lists.Limit(behind, true), 0); };
  int32_t limit = limit_now();
  const auto visit = [&](int32_t ahead, const float4& bounds) {
    queue.Examined(ahead >= 0 ? 1 : 0);
    queue.Add(ahead >= 0 && Overlap(bounds, query), ahead, behind);
    if (queue.Settle()) limit = limit_now();
  };
  if (lists.grid.capacity > 0) {
    lists.grid.Search(query, judge.LeastArea(judge.Load(behind)), after, limit, lists.bounds,
                      visit);
    return;
  }
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const auto base = static_cast<int32_t>(image * lists.count);
  for (int32_t word = after < 0 ? base : after + 1; word < limit; word += 32) {
    const int32_t ahead = word + lane;
    visit(ahead < limit ? ahead : -1, ahead < limit ? lists.bounds[ahead] : float4{});
  }
}

// The boxes of one list from `begin` on. Each lane searches for one box, those that are near each
// other in one warp; where that may take long, the whole warp does.
template <class Judge>
__global__ void __launch_bounds__(kSearchThreads, 3)
    SearchGridKernel(BoxLists lists, Judge judge, int64_t begin) {
  BeginKernel();
  using Storage = PairStorage<kSearchWarps, 512>;
  __shared__ Storage storage;
  if (lists.HasEnough(0, begin)) return;
  PairQueue<Judge, Storage> queue(judge, lists, storage, begin > 0);
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const int64_t step = int64_t{gridDim.x} * kSearchThreads;
  for (int64_t word = (int64_t{blockIdx.x} * kSearchThreads + threadIdx.x) / 32 * 32;
       word < lists.count; word += step) {
    const int32_t box = word + lane < lists.count ? lists.grid.slot_box[word + lane] : -1;
    const float4 query = box >= begin ? lists.bounds[box] : BoxLists::Nowhere();
    const bool alone =
        !(query.x <= query.z) ||
        lists.grid.SearchAlone(query, judge.LeastArea(judge.Load(box)), box,
                               [&](int32_t ahead, const float4& bounds) {
                                 queue.Examined(1);
                                 return !Overlap(bounds, query) || queue.AddAlone(ahead, box);
                               });
    queue.Settle();
    for (unsigned others = __ballot_sync(kAllLanes, !alone); others != 0; others &= others - 1) {
      const int32_t other = __shfl_sync(kAllLanes, box, __ffs(static_cast<int>(others)) - 1);
      FindSuppressors(lists, 0, other, -1, judge, queue);
    }
  }
  queue.FinishTogether();
}

// ---- decisions ----------------------------------------------------------------------------------

constexpr int kDecideThreads = 512;
constexpr int kDecideWarps = kDecideThreads / 32;

using DecideStorage = PairStorage<kDecideWarps, 64>;

// What DecideKernel does rarely; not inlined, so that its registers don't count towards the common
// path.
template <class Judge>
__device__ __noinline__ void FindNextSuppressors(const BoxLists& lists, int64_t image,
                                                 int32_t behind, const Judge& judge,
                                                 DecideStorage& storage) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  int32_t* const noted = lists.suppressors + int64_t{behind} * BoxLists::kNoted;
  const int32_t after = __ldcg(noted + BoxLists::kNoted - 1);
  __syncwarp();
  if (lane < BoxLists::kNoted) __stcg(noted + lane, BoxLists::kNone);
  __syncwarp();
  PairQueue<Judge, DecideStorage> queue(judge, lists, storage, /*some_decided=*/true);
  FindSuppressors(lists, image, behind, after, judge, queue);
  queue.Finish();
}

// Blocks take boxes in order, kDecideThreads at a time, one per thread, by drawing numbers: so they
// wait for blocks alone that have begun before them, and none waits for ever.
template <class Judge>
__global__ void __launch_bounds__(kDecideThreads, 1)
    DecideKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end) {
  BeginKernel();
  __shared__ DecideStorage storage;
  __shared__ volatile uint8_t own[kDecideThreads];
  __shared__ uint32_t drawn;
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const auto chunks = static_cast<uint32_t>((end - begin + kDecideThreads - 1) / kDecideThreads);
  for (;;) {
    __syncthreads();
    if (thread == 0) drawn = atomicAdd(lists.Ticket(begin), 1u);
    __syncthreads();
    if (drawn >= chunks * lists.images) return;
    const int64_t image = drawn / chunks;
    if (lists.HasEnough(image, begin)) continue;
    const int64_t rank = begin + int64_t{drawn % chunks} * kDecideThreads + thread;
    const auto box = static_cast<int32_t>(image * lists.count + rank);
    const int32_t first = box - thread;  // of this block
    const bool there = rank < end;
    const uint8_t before = there ? lists.state[box] : BoxLists::kSuppressed;
    own[thread] = before;
    bool open = there && before == BoxLists::kUndecided;
    int32_t wait_for[BoxLists::kNoted];
    bool may_have_more = false;
    const auto load = [&] {
      const auto* const noted =
          reinterpret_cast<const int4*>(lists.suppressors + int64_t{box} * BoxLists::kNoted);
#pragma unroll
      for (int i = 0; i < BoxLists::kNoted / 4; ++i) {
        const int4 four = __ldcg(noted + i);
        wait_for[4 * i] = four.x;
        wait_for[4 * i + 1] = four.y;
        wait_for[4 * i + 2] = four.z;
        wait_for[4 * i + 3] = four.w;
      }
      may_have_more = wait_for[BoxLists::kNoted - 1] != BoxLists::kNone;
    };
    if (open) load();
    __syncthreads();
    uint8_t state = before;
    while (__any_sync(kAllLanes, open)) {
      if (open) {
        while (wait_for[0] != BoxLists::kNone) {
          const uint8_t other =
              wait_for[0] >= first ? own[wait_for[0] - first] : lists.StateNow(wait_for[0]);
          if (other == BoxLists::kUndecided) break;
          if (other == BoxLists::kKept) {
            state = BoxLists::kSuppressed;
            break;
          }
#pragma unroll
          for (int i = 1; i < BoxLists::kNoted; ++i) wait_for[i - 1] = wait_for[i];
          wait_for[BoxLists::kNoted - 1] = BoxLists::kNone;
        }
        const bool none_left = wait_for[0] == BoxLists::kNone;
        if (none_left && !may_have_more) state = BoxLists::kKept;
        if (state != BoxLists::kUndecided) {
          own[thread] = state;
          lists.SetState(box, state);
          open = false;
        }
      }
      const bool wants = open && wait_for[0] == BoxLists::kNone;
      for (unsigned who = __ballot_sync(kAllLanes, wants); who != 0; who &= who - 1) {
        const int asker = __ffs(static_cast<int>(who)) - 1;
        FindNextSuppressors(lists, image, first + 32 * warp + asker, judge, storage);
        if (lane == asker) load();
      }
      __syncwarp();
    }
    const bool is_kept = there && state == BoxLists::kKept;
    if (is_kept) lists.MarkKept(box);
    const unsigned kept = __ballot_sync(kAllLanes, is_kept);
    if (lane == 0 && kept != 0) {
      atomicAdd(lists.KeptCount(image, begin), static_cast<int32_t>(__popc(kept)));
    }
  }
}

// Decides the boxes of all lists, each of which was begun by BoxLists::Begin; or, where fewer than
// all are wanted, at least as many as it takes to keep so many.
template <class Judge>
void Suppress(Launcher& launch, BoxLists& lists, const Judge& judge) {
  const char* what = "suppression";
  const bool has_grid = lists.grid.capacity > 0;
  if (has_grid) lists.grid.Build(launch, lists.bounds, lists.count);
  const auto images = static_cast<unsigned>(lists.images);
  const auto multiprocessors = static_cast<unsigned>(launch.multiprocessors());
  const auto compare = [&]<int kGroup>(int64_t begin, int64_t end,
                                       std::integral_constant<int, kGroup>) {
    launch(what, CompareAllKernel<Judge, kGroup>,
           dim3(BlocksFor(end - begin, kSearchWarps * kGroup), images), kSearchThreads, lists,
           judge, begin, end);
  };
  const auto decide = [&](int64_t begin, int64_t end, bool in_grid) {
    const int64_t boxes = (end - begin) * lists.images;
    constexpr int64_t kFew = 4096;  // more groups are faster, though that compares less at once
    if (in_grid) {
      launch(what, SearchGridKernel<Judge>,
             BlocksFor(lists.count, kSearchThreads, 4 * multiprocessors), kSearchThreads, lists,
             judge, begin);
    } else if (boxes <= kFew) {
      compare(begin, end, std::integral_constant<int, 1>());
    } else {
      compare(begin, end, std::integral_constant<int, 4>());
    }
    launch(what, DecideKernel<Judge>, BlocksFor(boxes, kDecideThreads, 2 * multiprocessors),
           kDecideThreads, lists, judge, begin, end);
  };
  const int64_t first = lists.FirstBatch();
  decide(0, first, false);
  if (first < lists.count) decide(first, lists.count, has_grid);
}

}  // namespace detops::cuda
