// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression on the device, of lists of boxes in the order of scores: a box is kept if no
// kept box before it suppresses it. That depends on the boxes before it alone that would suppress
// it, its suppressors. In each batch of boxes,
// - a search, in parallel, notes the best few suppressors of each box: by comparing all boxes
//   (CompareAllKernel) or, in one list of many, those near each other (SearchGridKernel, and
//   SearchWideKernel for boxes with many of these);
// - DecideKernel decides every box as soon as its suppressors are decided. Where all of the few
//   that were noted are suppressed, it searches for the next ones.
// So few pairs are judged in dense clusters, too: often, one of the best few suppressors is kept.
// The number of launches depends on sizes alone, and nothing waits for the host.
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

constexpr int kBlockBoxes = 16;

// Boxes `begin` to `end` of each list; blockIdx.y is the list. A block compares some boxes with all
// ahead of them, 32 per warp at a time and about in order: once a box has enough suppressors, it
// needs no more comparisons.
template <class Judge>
__global__ void __launch_bounds__(kSearchThreads, 2)
    CompareAllKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end, int batch) {
  BeginKernel();
  using Storage = PairStorage<kSearchWarps, 31 + 32 * kBlockBoxes>;
  __shared__ Storage storage;
  __shared__ float4 behind[kBlockBoxes];
  // Boxes from here on need not be compared with the box any more. Any warp may lower it.
  __shared__ volatile int32_t limits[kBlockBoxes];
  const int64_t image = blockIdx.y;
  if (lists.HasEnough(image, batch)) return;
  PairQueue<Judge, Storage> queue(judge, lists, storage, batch > 0);
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const auto base = static_cast<int32_t>(image * lists.count);
  // Blocks with the most to do come first.
  const int64_t rank = begin + int64_t{gridDim.x - 1 - blockIdx.x} * kBlockBoxes;
  const auto first = static_cast<int32_t>(base + rank);
  const auto last = static_cast<int32_t>(base + min(rank + kBlockBoxes, end));
  const auto limit_of = [&](int k) {
    return first + k < last ? lists.Limit(first + k, batch > 0) : 0;
  };
  if (threadIdx.x < kBlockBoxes) {
    behind[lane] = first + lane < last ? lists.bounds[first + lane] : BoxLists::Nowhere();
    limits[lane] = limit_of(lane);
  }
  __syncthreads();
  const auto highest_limit = [&] {
    int32_t highest = limits[lane % kBlockBoxes];
    for (int distance = kBlockBoxes / 2; distance > 0; distance /= 2) {
      highest = max(highest, __shfl_xor_sync(kAllLanes, highest, distance));
    }
    return __shfl_sync(kAllLanes, highest, 0);
  };
  int32_t highest = highest_limit();
  const auto bounds_at = [&](int32_t box) {
    return box < last ? lists.bounds[box] : BoxLists::Nowhere();
  };
  float4 next = bounds_at(base + 32 * warp + lane);
  for (int32_t word = base + 32 * warp; word < highest; word += kSearchThreads) {
    const float4 box = next;
    const int32_t ahead = word + lane;
    next = bounds_at(ahead + kSearchThreads);
    unsigned near = 0;
#pragma unroll
    for (int k = 0; k < kBlockBoxes; ++k) near |= Overlap(box, behind[k]) ? 1u << k : 0u;
    queue.Examined(kBlockBoxes);
    if (!__any_sync(kAllLanes, near != 0)) continue;
    for (; near != 0; near &= near - 1) {
      const int k = __ffs(static_cast<int>(near)) - 1;
      if (ahead < limits[k]) queue.AddAlone(ahead, first + k);
    }
    if (!queue.Settle()) continue;
    if (lane < kBlockBoxes) limits[lane] = limit_of(lane);
    __syncwarp();
    highest = highest_limit();
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
  const auto bounds_at = [&](int32_t box) {
    return box < behind ? lists.bounds[box] : BoxLists::Nowhere();
  };
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  int32_t word = after < 0 ? static_cast<int32_t>(image * lists.count) : after + 1;
  float4 next = bounds_at(word + lane);
  for (; word < limit; word += 32) {
    const float4 bounds = next;
    const int32_t ahead = word + lane;
    next = bounds_at(ahead + 32);
    visit(ahead < limit ? ahead : -1, bounds);
  }
}

// The boxes of one list from `begin` on. Each lane searches for one box, those that are near each
// other in one warp. What would take long is left to SearchWideKernel.
template <class Judge>
__global__ void __launch_bounds__(kSearchThreads, 3)
    SearchGridKernel(BoxLists lists, Judge judge, int64_t begin, int batch) {
  BeginKernel();
  using Storage = PairStorage<kSearchWarps, 512>;
  __shared__ Storage storage;
  if (lists.HasEnough(0, batch)) return;
  PairQueue<Judge, Storage> queue(judge, lists, storage, batch > 0);
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
    const unsigned others = __ballot_sync(kAllLanes, !alone);
    if (others == 0) continue;
    uint32_t at = 0;
    if (lane == 0) at = atomicAdd(lists.wide_count, static_cast<uint32_t>(__popc(others)));
    at = __shfl_sync(kAllLanes, at, 0) + __popc(others & ((1u << lane) - 1));
    if (!alone) lists.wide[at] = box;
  }
  queue.FinishTogether();
}

// One box per warp.
template <class Judge>
__global__ void __launch_bounds__(kSearchThreads, 2)
    SearchWideKernel(BoxLists lists, Judge judge, int batch) {
  BeginKernel();
  using Storage = PairStorage<kSearchWarps, 64>;
  __shared__ Storage storage;
  const uint32_t count = *lists.wide_count;
  if (count == 0) return;
  PairQueue<Judge, Storage> queue(judge, lists, storage, batch > 0);
  for (uint32_t i = (blockIdx.x * kSearchThreads + threadIdx.x) / 32; i < count;
       i += gridDim.x * kSearchWarps) {
    FindSuppressors(lists, 0, lists.wide[i], -1, judge, queue);
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
    DecideKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end, int batch) {
  BeginKernel();
  __shared__ DecideStorage storage;
  __shared__ volatile uint8_t own[kDecideThreads];
  __shared__ uint32_t drawn;
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const auto chunks = static_cast<uint32_t>((end - begin + kDecideThreads - 1) / kDecideThreads);
  bool some_left = false;
  for (int64_t image = 0; image < lists.images; ++image) {
    some_left |= !lists.HasEnough(image, batch);
  }
  if (!some_left) return;
  for (;;) {
    __syncthreads();
    if (thread == 0) drawn = atomicAdd(lists.tickets + batch, 1u);
    __syncthreads();
    if (drawn >= chunks * lists.images) return;
    const int64_t image = drawn / chunks;
    if (lists.HasEnough(image, batch)) continue;
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
    // Takes note of what has become of the first box waited for.
    const auto learn = [&](uint8_t other) {
      if (other == BoxLists::kKept) state = BoxLists::kSuppressed;
      if (other == BoxLists::kSuppressed) {
#pragma unroll
        for (int i = 1; i < BoxLists::kNoted; ++i) wait_for[i - 1] = wait_for[i];
        wait_for[BoxLists::kNoted - 1] = BoxLists::kNone;
      }
    };
    const auto decide = [&] {
      if (wait_for[0] == BoxLists::kNone && !may_have_more && open) state = BoxLists::kKept;
      if (state == BoxLists::kUndecided) return;
      own[thread] = state;
      lists.SetState(box, state);
      open = false;
    };
    const int32_t warp_first = first + 32 * warp;
    if (open) decide();
    for (;;) {
      // Within the warp, as long as that decides anything: chains of boxes are followed here.
      unsigned open_lanes = __ballot_sync(kAllLanes, open);
      for (bool some = true; some && open_lanes != 0;) {
        const unsigned kept_lanes = __ballot_sync(kAllLanes, state == BoxLists::kKept);
        const int other = wait_for[0] - warp_first;
        const bool learns =
            open && wait_for[0] >= warp_first && other < 32 && (open_lanes >> other & 1) == 0;
        if (learns) {
          learn((kept_lanes >> other & 1) != 0 ? BoxLists::kKept : BoxLists::kSuppressed);
          decide();
        }
        some = __any_sync(kAllLanes, learns);
        open_lanes = __ballot_sync(kAllLanes, open);
      }
      if (open_lanes == 0) break;
      uint8_t other = BoxLists::kUndecided;
      if (open && wait_for[0] < warp_first) {
        other = wait_for[0] >= first ? own[wait_for[0] - first] : lists.StateNow(wait_for[0]);
        learn(other);
        decide();
      }
      const bool wants = open && wait_for[0] == BoxLists::kNone;
      for (unsigned who = __ballot_sync(kAllLanes, wants); who != 0; who &= who - 1) {
        const int asker = __ffs(static_cast<int>(who)) - 1;
        FindNextSuppressors(lists, image, warp_first + asker, judge, storage);
        if (lane == asker) {
          load();
          // A kept one suppresses it: that may have no room in the list, behind better ones.
          if (lists.StateNow(box) == BoxLists::kSuppressed) state = BoxLists::kSuppressed;
          decide();
        }
      }
      // Warps that wait leave the multiprocessor to the others.
      if (!__any_sync(kAllLanes, wants || other != BoxLists::kUndecided)) __nanosleep(100);
    }
    const bool is_kept = there && state == BoxLists::kKept;
    if (is_kept) lists.MarkKept(box);
    const unsigned kept = __ballot_sync(kAllLanes, is_kept);
    if (lane == 0 && kept != 0) {
      atomicAdd(lists.kept_count + batch * lists.images + image,
                static_cast<int32_t>(__popc(kept)));
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
  int batch = 0;
  for (int64_t begin = 0; begin < lists.count; ++batch) {
    const int64_t end = lists.BatchEnd(begin);
    const int64_t boxes = (end - begin) * lists.images;
    if (has_grid && end == lists.count) {
      launch(what, SearchGridKernel<Judge>,
             BlocksFor(lists.count, kSearchThreads, 3 * multiprocessors), kSearchThreads, lists,
             judge, begin, batch);
      launch(what, SearchWideKernel<Judge>, 2 * multiprocessors, kSearchThreads, lists, judge,
             batch);
    } else {
      launch(what, CompareAllKernel<Judge>, dim3(BlocksFor(end - begin, kBlockBoxes), images),
             kSearchThreads, lists, judge, begin, end, batch);
    }
    launch(what, DecideKernel<Judge>, BlocksFor(boxes, kDecideThreads, 2 * multiprocessors),
           kDecideThreads, lists, judge, begin, end, batch);
    begin = end;
  }
}

}  // namespace detops::cuda
