// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression of sparse boxes. In parallel, each box finds the higher-scoring boxes that
// would suppress it if they are kept; there are few. What remains to be done sequentially is to
// check whether they were kept. Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_SPARSE_NMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_SPARSE_NMS_INL_H_
#undef DETOPS_CPU_SPARSE_NMS_INL_H_
#else
#define DETOPS_CPU_SPARSE_NMS_INL_H_
#endif

#include <algorithm>
#include <atomic>
#include <bit>

#include "cpu/suppression/box_cells.h"
#include "cpu/suppression/kept_boxes-inl.h"
#include "runtime/cpu/threads.h"
#include "runtime/implementation.h"

#ifndef DETOPS_CPU_SPARSE_NMS_STATE_
#define DETOPS_CPU_SPARSE_NMS_STATE_
namespace detops::cpu {

// The boxes that would suppress a box.
struct Suppressors {
  static constexpr uint32_t kMost = 3;
  static constexpr uint32_t kMany = kMost + 1;  // more than there is room for
  static constexpr uint32_t kKept = kMost + 2;  // none of them was kept, so the box is

  uint32_t count;
  uint32_t box[kMost];
};

}  // namespace detops::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// Calls visit(ahead) for boxes before `behind` that would suppress it, until it returns true;
// returns whether it did. All boxes are in their cells. The judge is as in
// cpu/suppression/kept_boxes-inl.h.
template <class Judge, class Visit>
HWY_INLINE bool AnySuppressor(const BoxCells& cells, int64_t behind, const Judge& judge,
                              runtime::Work& work, const Visit& visit) {
  const Bounds reach = judge.Reach(behind);
  const FloatBoxes each_reach = BroadcastBox(reach);
  const hn::RebindToUnsigned<FloatTag> index_tag;
  const auto each_index = hn::Set(index_tag, static_cast<uint32_t>(behind));
  const auto scan = [&](uint32_t first_cell, uint32_t last_cell) HWY_ATTR {
    const BoxCells::Boxes boxes = cells.AllIn(first_cell, last_cell);
    work.candidates += 1 + boxes.count;
    for (uint32_t i = 0; i < boxes.count; i += static_cast<uint32_t>(FloatLanes())) {
      const FloatBoxes ahead = BoxesAt(boxes, i);
      // Both conditions at once: a branch on the first alone would be mispredicted, as `behind`
      // overlaps itself.
      const auto before = hn::Lt(hn::LoadU(index_tag, boxes.box + i), each_index);
      uint32_t lanes = LanesOf(
          boxes, i, hn::And(Overlap(ahead, each_reach), hn::RebindMask(FloatTag(), before)));
      if (lanes == 0) continue;
      if constexpr (Judge::kInVectors) {
        work.pairs += std::popcount(lanes);
        lanes &= static_cast<uint32_t>(MaskBits(judge.Suppressing(ahead, each_reach, behind)));
      }
      for (; lanes != 0; lanes &= lanes - 1) {
        const uint32_t box = boxes.box[i + static_cast<uint32_t>(std::countr_zero(lanes))];
        if constexpr (!Judge::kInVectors) {
          if (!judge.Suppresses(box, behind, work.pairs)) continue;
        }
        if (visit(box)) return true;
      }
    }
    return false;
  };
  return cells.AnyRun(reach, judge.LeastArea(behind), scan);
}

// Decides the boxes from `first` on; those before it are kept already. The boxes have been placed
// in the cells, which are Sparse(). keep(box) is called in order, until `most` boxes are kept.
// `suppressors` [count] is scratch. Returns how many pairs were evaluated and how many candidates
// were examined.
template <class Judge, class Keep>
runtime::Work SparseNms(const Bounds* boxes, int64_t first, int64_t count, int64_t most,
                        BoxCells& cells, Suppressors* suppressors, runtime::Threads& threads,
                        const Judge& judge, const Keep& keep) {
  constexpr int64_t kGrain = 128;
  cells.InsertAll(boxes, threads);
  std::fill_n(suppressors, first, Suppressors{Suppressors::kKept, {}});
  std::atomic<int64_t> pairs = 0, candidates = 0;
  threads.For(count - first, kGrain, [&](int64_t begin, int64_t end) HWY_ATTR {
    runtime::Work work = {0, 0};
    for (int64_t i = first + begin; i < first + end; ++i) {
      Suppressors& found = suppressors[i];
      found.count = 0;
      AnySuppressor(cells, i, judge, work, [&](uint32_t ahead) {
        if (found.count < Suppressors::kMost) found.box[found.count] = ahead;
        return ++found.count == Suppressors::kMany;
      });
    }
    pairs += work.pairs;
    candidates += work.candidates;
  });
  runtime::Work work = {0, 0};
  const auto is_kept = [&](uint32_t box) { return suppressors[box].count == Suppressors::kKept; };
  int64_t kept = first;
  for (int64_t i = first; i < count && kept < most; ++i) {
    Suppressors& found = suppressors[i];
    if (found.count == Suppressors::kMany
            ? AnySuppressor(cells, i, judge, work, is_kept)
            : std::any_of(found.box, found.box + found.count, is_kept))
      continue;
    found.count = Suppressors::kKept;
    ++kept;
    keep(i);
  }
  return {pairs + work.pairs, candidates + work.candidates};
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
