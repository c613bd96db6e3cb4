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

  int64_t images = 0, count = 0;   // boxes per image
  int64_t most = 0;                // boxes wanted per image: what comes later may stay undecided
  float4* bounds = nullptr;        // [images][count]
  uint8_t* state = nullptr;        // [images][count]
  int32_t* suppressors = nullptr;  // [images][count][kNoted] positions, ascending; kNone fills up
  // In two batches: how many are kept of each image, and what blocks draw.
  int32_t* kept_count = nullptr;       // [2][images]
  uint32_t* tickets = nullptr;         // [2]
  bool* kept = nullptr;                // [images][count], as kept_at says; false at first
  const uint64_t* kept_at = nullptr;   // null: by position; else, by IndexOf of these
  unsigned long long* work = nullptr;  // [2] pairs judged, boxes examined to find them
  bool adds_work = false;              // to what earlier lists of the call took
  BoxGrid grid;                        // for one list of many boxes

  BoxLists() = default;
  // Several lists have at most kMostCompared boxes each.
  BoxLists(core::WorkspaceLayout& layout, int64_t lists, int64_t boxes)
      : images(lists), count(boxes), most(boxes) {
    const int64_t all = core::CheckedMul(lists, boxes, "workspace");
    bounds = layout.Array<float4>(all);
    state = layout.Array<uint8_t>(all);
    suppressors = layout.Array<int32_t>(core::CheckedMul(all, kNoted, "workspace"));
    kept_count = layout.Array<int32_t>(2 * lists);
    tickets = layout.Array<uint32_t>(2);
    kept = layout.Array<bool>(all);
    if (boxes > kMostCompared) grid = BoxGrid(layout, boxes);
  }

  // How many boxes of each image to decide first: where not all are wanted, probably enough. Of
  // many, the best, as those often suppress most of the others.
  int64_t FirstBatch() const {
    constexpr int64_t kLeast = 1024, kBestOfMany = 2048;
    if (most < count) return std::min(count, std::max(2 * most, kLeast));
    return grid.capacity > 0 ? kBestOfMany : count;
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
    if (position < 2 * images) kept_count[position] = 0;
    if (position < 2) tickets[position] = 0;
    if (position == 0 && !adds_work) work[0] = work[1] = 0;
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

  // Of the batch that begins at this rank.
  __device__ uint32_t* Ticket(int64_t begin) const { return tickets + (begin == 0 ? 0 : 1); }
  __device__ int32_t* KeptCount(int64_t image, int64_t begin) const {
    return kept_count + (begin == 0 ? 0 : images) + image;
  }
  // Whether the batch before has kept all that are wanted.
  __device__ bool HasEnough(int64_t image, int64_t begin) const {
    return begin > 0 && kept_count[image] >= most;
  }
};

}  // namespace detops::cuda
