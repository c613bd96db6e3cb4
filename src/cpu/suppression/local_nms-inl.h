// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression, cell by cell. Whether a box is kept depends only on the higher-scoring boxes
// that overlap it. A cell may therefore decide its highest-scoring undecided box as soon as the
// cells around it have decided all of their higher-scoring boxes; a neighbour that lags behind is
// processed first. So each box is compared with the same kept boxes as in score order, but memory
// is accessed locally, no sort of all boxes is needed, and threads work in different areas.
//
// A thread owns the cells on its stack, each of which waits for the one above it. It waits for
// another thread only while that thread decides a box with a higher score than its own, so no two
// threads wait for each other.
//
// Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_LOCAL_NMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_LOCAL_NMS_INL_H_
#undef DETOPS_CPU_LOCAL_NMS_INL_H_
#else
#define DETOPS_CPU_LOCAL_NMS_INL_H_
#endif

#include <algorithm>
#include <atomic>
#include <thread>

#include "cpu/suppression/box_cells.h"
#include "cpu/suppression/kept_boxes-inl.h"
#include "runtime/cpu/threads.h"
#include "runtime/implementation.h"

#ifndef DETOPS_CPU_LOCAL_NMS_STATE_
#define DETOPS_CPU_LOCAL_NMS_STATE_
namespace detops::cpu {

// How far a cell has got.
struct CellProgress {
  static constexpr uint64_t kSettled = ~uint64_t{0};  // more than any key
  static constexpr uint32_t kFree = ~uint32_t{0};

  uint64_t next = kSettled;  // the key of its first undecided box
  uint32_t box = 0;          // that box
  BoxCells::Walk walk;       // the cells that it has been compared with
  uint32_t below = kFree;    // while a thread owns it: the cell below on the thread's stack
};

}  // namespace detops::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// Boxes and their keys are in the order of cells, and within a cell in the order of keys. The judge
// is as in cpu/suppression/kept_boxes-inl.h and decides pairs one by one; keep(box) is called from
// several threads.
template <class Judge, class Keep>
class LocalNms {
  static_assert(!Judge::kInVectors);  // keys are compared one by one

 public:
  LocalNms(BoxCells& cells, const Bounds* boxes, const uint64_t* keys, CellProgress* progress,
           const Judge& judge, const Keep& keep)
      : cells_(cells),
        boxes_(boxes),
        keys_(keys),
        progress_(progress),
        judge_(judge),
        keep_(keep) {}

  runtime::Work Run(runtime::Threads& threads) const {
    constexpr int64_t kGrain = 64;
    threads.For(cells_.cells(), kGrain * 64, [&](int64_t begin, int64_t end) {
      std::fill(progress_ + begin, progress_ + end, CellProgress());
    });
    threads.For(cells_.used(), kGrain * 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint32_t cell = cells_.Used(i), first = cells_.Begin(cell);
        progress_[cell].next = keys_[first];
        progress_[cell].box = first;
      }
    });
    std::atomic<int64_t> pairs = 0, candidates = 0;
    threads.For(cells_.used(), kGrain, [&](int64_t begin, int64_t end) HWY_ATTR {
      runtime::Work work = {0, 0};
      for (int64_t i = begin; i < end; ++i) Settle(cells_.Used(i), work);
      pairs += work.pairs;
      candidates += work.candidates;
    });
    return {pairs, candidates};
  }

 private:
  static constexpr uint32_t kBottom = CellProgress::kFree - 1;

  // Decides all boxes of the cell, and all boxes that must be decided before them.
  HWY_NOINLINE void Settle(uint32_t cell, runtime::Work& work) const {
    if (!Own(cell, kBottom, CellProgress::kSettled)) return;
    for (uint32_t top = cell; top != kBottom;) top = GoOn(top, work);
  }

  uint64_t Next(uint32_t cell) const {
    return std::atomic_ref(progress_[cell].next).load(std::memory_order_acquire);
  }

  // Pushes a cell on the stack. False when that is no longer needed, because another thread
  // advanced the cell to `limit`.
  HWY_INLINE bool Own(uint32_t cell, uint32_t below, uint64_t limit) const {
    std::atomic_ref owner(progress_[cell].below);
    for (int tries = 1; Next(cell) < limit; ++tries) {
      uint32_t expected = CellProgress::kFree;
      if (owner.compare_exchange_weak(expected, below, std::memory_order_acquire)) return true;
      if (tries % 64 == 0) std::this_thread::yield();
    }
    return false;
  }

  // Decides boxes of the cell at the top of the stack, as far as the one below needs; returns the
  // new top.
  HWY_INLINE uint32_t GoOn(uint32_t top, runtime::Work& work) const {
    CellProgress& cell = progress_[top];
    const uint32_t below = std::atomic_ref(cell.below).load(std::memory_order_relaxed);
    const uint64_t limit = below == kBottom ? CellProgress::kSettled : progress_[below].next;
    while (cell.next < limit) {
      const uint32_t late = Decide(top, cell, work);
      if (late != BoxCells::kNoCell && Own(late, top, cell.next)) return late;
    }
    std::atomic_ref(cell.below).store(CellProgress::kFree, std::memory_order_release);
    return below;
  }

  // Decides the first undecided box of a cell, or returns a cell that must advance first.
  HWY_INLINE uint32_t Decide(uint32_t at, CellProgress& cell, runtime::Work& work) const {
    const Bounds reach = judge_.Reach(cell.box);
    const FloatBoxes each_reach = BroadcastBox(reach);
    uint32_t late = BoxCells::kNoCell;
    const bool stopped =
        cells_.Any(reach, judge_.LeastArea(cell.box), cell.walk, [&](uint32_t other) HWY_ATTR {
          ++work.candidates;
          if (Next(other) < cell.next) {
            late = other;
            return true;
          }
          const BoxCells::Boxes kept = cells_.KeptIn(other);
          work.candidates += kept.count;
          // The other cell may have advanced beyond this box.
          const auto better = [&](uint32_t ahead) { return keys_[ahead] < cell.next; };
          return AnySuppresses(kept, each_reach, cell.box, judge_, work.pairs, better);
        });
    if (late != BoxCells::kNoCell) return late;
    if (!stopped) {
      keep_(cell.box);
      cells_.Keep(at, boxes_[cell.box], cell.box);
    }
    ++cell.box;
    cell.walk = {};
    const uint64_t next = cell.box == cells_.End(at) ? CellProgress::kSettled : keys_[cell.box];
    std::atomic_ref(cell.next).store(next, std::memory_order_release);
    return BoxCells::kNoCell;
  }

  BoxCells& cells_;
  const Bounds* boxes_;
  const uint64_t* keys_;
  CellProgress* progress_;  // [cells]
  const Judge judge_;
  const Keep keep_;
};

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
