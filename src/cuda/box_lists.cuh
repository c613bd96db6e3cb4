// SPDX-License-Identifier: Apache-2.0
//
// Lists of boxes in the order of scores, one per image, and what suppression (suppression.cuh)
// knows of each box. Box `rank` of list `image` is at position image * count + rank; positions fit
// into int32.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/workspace.h"
#include "cuda/box_grid.cuh"

namespace detops::cuda {

struct BoxLists {
  enum State : uint8_t { kUndecided, kKept, kSuppressed };
  static constexpr int kNoted = 8;  // suppressors of a box
  static constexpr int32_t kNone = INT32_MAX;
  // In a list of more boxes than this, those near each other are found in a grid.
  static constexpr int64_t kMostCompared = 12288;

  static constexpr int kMostBatches = 3;

  int64_t images = 0, count = 0;   // boxes per image
  int64_t most = 0;                // boxes wanted per image: what comes later may stay undecided
  float4* bounds = nullptr;        // [images][count]
  uint8_t* state = nullptr;        // [images][count]
  int32_t* suppressors = nullptr;  // [images][count][kNoted] positions, ascending; kNone fills up
  int32_t* kept_count = nullptr;   // [kMostBatches][images] kept in each batch
  uint32_t* tickets = nullptr;     // [kMostBatches] that blocks draw
  bool* kept = nullptr;            // [images][count], as kept_at says; false at first
  const uint64_t* kept_at = nullptr;   // null: by position; else, by IndexOf of these
  unsigned long long* work = nullptr;  // [2] pairs judged, boxes examined to find them
  bool adds_work = false;              // to what earlier lists of the call took
  BoxGrid grid;                        // for one list of many boxes
  int32_t* wide = nullptr;             // [count] with a grid: boxes with much to search
  uint32_t* wide_count = nullptr;      // [1]

  BoxLists() = default;
  // Several lists have at most kMostCompared boxes each.
  BoxLists(core::WorkspaceLayout& layout, int64_t lists, int64_t boxes)
      : images(lists), count(boxes), most(boxes) {
    const int64_t all = core::CheckedMul(lists, boxes, "workspace");
    bounds = layout.Array<float4>(all);
    state = layout.Array<uint8_t>(all);
    suppressors = layout.Array<int32_t>(core::CheckedMul(all, kNoted, "workspace"));
    kept_count = layout.Array<int32_t>(kMostBatches * lists);
    tickets = layout.Array<uint32_t>(kMostBatches);
    kept = layout.Array<bool>(all);
    if (boxes <= kMostCompared) return;
    grid = BoxGrid(layout, boxes);
    wide = layout.Array<int32_t>(boxes);
    wide_count = layout.Array<uint32_t>(1);
  }

  // Boxes are decided in batches, each of which begins at a rank: the best first, as those often
  // suppress most of the others, then probably as many as are wanted. Returns where the batch ends.
  int64_t BatchEnd(int64_t begin) const {
    constexpr int64_t kFew = 2048, kBest = 512, kBestOfMany = 4096;
    if (count <= kFew) return count;
    if (begin == 0) return kBest;
    const int64_t probably = most < count        ? std::min(2 * most, kMostCompared)
                             : grid.capacity > 0 ? kBestOfMany
                                                 : count;
    return begin == kBest && probably > kBest ? std::min(probably, count) : count;
  }

  __device__ static float4 Nowhere() {
    constexpr float kInfinity = __builtin_inff();
    return make_float4(kInfinity, kInfinity, -kInfinity, -kInfinity);
  }

  // Once for each box, by a kernel before the suppression. Excluded boxes are not kept, and
  // suppress nothing.
  __device__ void Begin(int64_t position, const float4& box, bool overlaps, bool excluded) const {
    bounds[position] = overlaps && !excluded ? box : Nowhere();
    state[position] = excluded ? kSuppressed : kUndecided;
    kept[position] = false;
    auto* const noted = reinterpret_cast<int4*>(suppressors + position * kNoted);
    for (int i = 0; i < kNoted / 4; ++i) noted[i] = make_int4(kNone, kNone, kNone, kNone);
    // There is more than one batch only of many boxes.
    if (position < kMostBatches * images) kept_count[position] = 0;
    if (position < kMostBatches) tickets[position] = 0;
    if (position != 0) return;
    if (wide_count != nullptr) *wide_count = 0;
    if (!adds_work) work[0] = work[1] = 0;
  }

  // Notes a suppressor, of which the state is known. Of all that are noted, in whatever order, the
  // best kNoted stay. A box that a kept one suppresses is suppressed.
  __device__ void Note(int32_t ahead, int32_t behind, uint8_t ahead_state) const {
    int32_t* const noted = suppressors + int64_t{behind} * kNoted;
    if (ahead_state == kKept) SetState(behind, kSuppressed);
    for (int i = 0; i < kNoted && ahead != kNone; ++i) {
      const int32_t before = atomicMin(noted + i, ahead);
      if (before == ahead) return;  // it has been noted twice
      ahead = max(ahead, before);
    }
  }
  // Only boxes before this one matter to a box any more: itself, the last one noted where the list
  // is full, or none once it is suppressed.
  __device__ int32_t Limit(int32_t behind, bool may_be_suppressed) const {
    if (may_be_suppressed && StateNow(behind) == kSuppressed) return 0;
    return min(behind, __ldcg(suppressors + int64_t{behind} * kNoted + kNoted - 1));
  }

  __device__ uint8_t StateNow(int32_t box) const {
    return *static_cast<volatile const uint8_t*>(state + box);
  }
  __device__ void SetState(int32_t box, uint8_t now) const {
    *static_cast<volatile uint8_t*>(state + box) = now;
  }
  __device__ void MarkKept(int32_t box) const {
    kept[kept_at == nullptr ? box : IndexOf(kept_at[box])] = true;
  }

  // Whether the batches before this one have kept all that are wanted.
  __device__ bool HasEnough(int64_t image, int batch) const {
    if (most >= count) return false;
    int32_t kept_before = 0;
    for (int i = 0; i < batch; ++i) kept_before += kept_count[i * images + image];
    return kept_before >= most;
  }
};

}  // namespace detops::cuda
