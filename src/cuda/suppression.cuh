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
// A Judge decides when one box suppresses another. Boxes are given by their positions: those of list
// i are from i * count on.
//   struct Box                          what a lane holds of a box
//   Box Load(position)
//   double LeastArea(behind)            least area of the bounds of boxes that may suppress it
//   Verdict Quick(ahead, behind)        cheap; kDoubtful only with kDoubts
//   bool Decide(pair, there)            a doubtful pair per lane, or none; called by a whole warp
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/box_grid.cuh"
#include "cuda/doubtful_pairs.cuh"
#include "math/quad_filter.h"
#include "runtime/cuda/launch.h"

namespace detops::cuda {

// ---- by comparing all boxes ---------------------------------------------------------------------

constexpr int kSearchThreads = 256;
constexpr int kSearchWarps = kSearchThreads / 32;
constexpr int kGroup = 8;  // boxes that a warp compares with those ahead of them at once
constexpr int kBlockBoxes = kGroup * kSearchWarps;
constexpr int kSegment = 1024;  // boxes ahead that a block goes through

// Boxes `begin` to `end` of each list. A task compares kBlockBoxes of them with a segment of all
// boxes ahead; those with the best segments come first, as what they find saves work to the others.
template <class Judge>
__global__ void __launch_bounds__(kSearchThreads, 2)
    CompareAllKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end) {
  BeginKernel();
  __shared__ PairQueues<kSearchWarps> queues;
  DoubtfulPairs<Judge, kSearchWarps> doubtful(judge, lists, queues);
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const auto groups = static_cast<int>((end - begin + kBlockBoxes - 1) / kBlockBoxes);
  const auto segments = static_cast<int>((end + kSegment - 1) / kSegment);
  const int64_t tasks = lists.images * groups * segments;
  for (int64_t task = blockIdx.x; task < tasks; task += gridDim.x) {
    const int64_t image = task / groups % lists.images;
    const int64_t segment = task / groups / lists.images * kSegment;
    const int64_t first = begin + task % groups * kBlockBoxes + warp * kGroup;
    const int64_t last = min(min(segment + kSegment, first + kGroup), end);
    if (segment >= last || lists.HasEnough(image, begin)) continue;
    const auto base = static_cast<int32_t>(image * lists.count);
    const auto at = static_cast<int32_t>(base + first);
    float4 behind[kGroup];
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      behind[k] = first + k < end ? lists.bounds[at + k] : BoxLists::Nowhere();
    }
    // Of box `lane`: boxes from here on need not be compared with it; and the same of all.
    int32_t limit = 0, limit_of_all = 0;
    const auto update_limits = [&] {
      limit = lane < kGroup && first + lane < end ? lists.Limit(at + lane) : 0;
      limit_of_all = limit;
      for (int distance = kGroup / 2; distance > 0; distance /= 2) {
        limit_of_all = max(limit_of_all, __shfl_xor_sync(kAllLanes, limit_of_all, distance));
      }
      limit_of_all = __shfl_sync(kAllLanes, limit_of_all, 0);
    };
    update_limits();
    float4 next = segment + lane < last ? lists.bounds[base + segment + lane] : BoxLists::Nowhere();
    for (int64_t word = segment; word < last && base + word < limit_of_all; word += 32) {
      const float4 box = next;
      const int64_t rank = word + lane;
      if (rank + 32 < last) next = lists.bounds[base + rank + 32];
      unsigned near = 0;
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const bool overlap = box.x < behind[k].z && behind[k].x < box.z && box.y < behind[k].w &&
                             behind[k].y < box.w;
        near |= overlap ? 1u << k : 0u;
      }
      if (rank >= last) near = 0;
      if (!__any_sync(kAllLanes, near != 0)) continue;
      const auto ahead = static_cast<int32_t>(base + rank);
      bool found = false;
      for (int k = 0; k < kGroup; ++k) {
        const bool there =
            ahead < __shfl_sync(kAllLanes, limit, k) && (near >> k & 1) != 0 && lists.Open(ahead);
        found |= doubtful.Compare(there, ahead, at + k);
      }
      if (found) update_limits();
    }
  }
  doubtful.FinishTogether();
}

// ---- in the grid --------------------------------------------------------------------------------

// Notes the best suppressors of the box at `behind` that come later than `after`; some may be left
// in the queue. Called by a whole warp.
template <class Judge, int kWarps>
__device__ void FindSuppressors(const BoxLists& lists, int64_t image, int32_t behind, int32_t after,
                                const Judge& judge, DoubtfulPairs<Judge, kWarps>& doubtful) {
  const float4 query = lists.bounds[behind];
  if (!(query.x <= query.z)) return;
  // The same in all lanes.
  const auto limit_now = [&] { return __shfl_sync(kAllLanes, lists.Limit(behind), 0); };
  int32_t limit = limit_now();
  const auto visit = [&](int32_t ahead, const float4& bounds) {
    const bool there = ahead >= 0 && bounds.x < query.z && query.x < bounds.z &&
                       bounds.y < query.w && query.y < bounds.w && lists.Open(ahead);
    if (doubtful.Compare(there, ahead, behind)) limit = limit_now();
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

// Boxes `begin` to `end` of one list, one per warp.
template <class Judge>
__global__ void __launch_bounds__(kSearchThreads, 2)
    SearchGridKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end) {
  BeginKernel();
  __shared__ PairQueues<kSearchWarps> queues;
  DoubtfulPairs<Judge, kSearchWarps> doubtful(judge, lists, queues);
  if (lists.HasEnough(0, begin)) return;
  const auto warps = static_cast<int64_t>(gridDim.x * kSearchWarps);
  for (int64_t b = begin + blockIdx.x * kSearchWarps + threadIdx.x / 32; b < end; b += warps) {
    FindSuppressors(lists, 0, static_cast<int32_t>(b), -1, judge, doubtful);
  }
  doubtful.FinishTogether();
}

// ---- decisions ----------------------------------------------------------------------------------

constexpr int kDecideThreads = 512;
constexpr int kDecideWarps = kDecideThreads / 32;

// What DecideKernel does rarely; not inlined, so that its registers don't count towards the common
// path.
template <class Judge>
__device__ __noinline__ void FindNextSuppressors(const BoxLists& lists, int64_t image,
                                                 int32_t behind, const Judge& judge,
                                                 PairQueues<kDecideWarps>& queues) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  int32_t* const noted = lists.suppressors + int64_t{behind} * BoxLists::kNoted;
  const int32_t after = __ldcg(noted + BoxLists::kNoted - 1);
  __syncwarp();
  if (lane < BoxLists::kNoted) __stcg(noted + lane, BoxLists::kNone);
  __syncwarp();
  DoubtfulPairs<Judge, kDecideWarps> doubtful(judge, lists, queues);
  FindSuppressors(lists, image, behind, after, judge, doubtful);
  doubtful.Finish();
  __syncwarp();
}

// Blocks take boxes in order, kDecideThreads at a time, one per thread, by drawing numbers: so they
// wait for blocks alone that have begun before them, and none waits for ever.
template <class Judge>
__global__ void __launch_bounds__(kDecideThreads, 1)
    DecideKernel(BoxLists lists, Judge judge, int64_t begin, int64_t end) {
  BeginKernel();
  __shared__ PairQueues<kDecideWarps> queues;
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
      const auto* const noted = reinterpret_cast<const int4*>(
          lists.suppressors + int64_t{box} * BoxLists::kNoted);
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
          lists.Decide(box, state);
          open = false;
        }
      }
      const bool wants = open && wait_for[0] == BoxLists::kNone;
      for (unsigned who = __ballot_sync(kAllLanes, wants); who != 0; who &= who - 1) {
        const int asker = __ffs(static_cast<int>(who)) - 1;
        FindNextSuppressors(lists, image, first + 32 * warp + asker, judge, queues);
        if (lane == asker) load();
      }
      __syncwarp();
    }
    const unsigned kept = __ballot_sync(kAllLanes, there && state == BoxLists::kKept);
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
  const bool use_grid = lists.grid.capacity > 0;
  if (use_grid) lists.grid.Build(launch, lists.bounds, lists.count);
  const auto most = static_cast<unsigned>(2 * launch.multiprocessors());
  const auto decide = [&](int64_t begin, int64_t end) {
    const int64_t boxes = end - begin;
    if (use_grid) {
      launch(what, SearchGridKernel<Judge>, BlocksFor(boxes, kSearchWarps, 2 * most), kSearchThreads,
             lists, judge, begin, end);
    } else {
      const int64_t groups = (boxes + kBlockBoxes - 1) / kBlockBoxes;
      const int64_t segments = (end + kSegment - 1) / kSegment;
      launch(what, CompareAllKernel<Judge>, BlocksFor(groups * segments * lists.images, 1, 2 * most),
             kSearchThreads, lists, judge, begin, end);
    }
    launch(what, DecideKernel<Judge>, BlocksFor(boxes * lists.images, kDecideThreads, most),
           kDecideThreads, lists, judge, begin, end);
  };
  const int64_t first = lists.FirstBatch();
  decide(0, first);
  if (first < lists.count) decide(first, lists.count);
}

}  // namespace detops::cuda
