// SPDX-License-Identifier: Apache-2.0
//
// PolyNmsRun::Suppress chooses how boxes are suppressed: in score order
// (cpu/nms/greedy_nms-inl.h), cell by cell (cpu/nms/local_nms-inl.h), or the best first.
//
// A pair whose bounds overlap is decided by the cheapest test that can prove its answer: a bound on
// the IoU from areas and bounds, then math::QuadPair with all edges in a vector; pairs that neither
// can decide go to math::QuadIoU, whose decision is the definition.
#include "cpu/nms/box_cells.h"
#include "cpu/score_sort.h"
#include "cpu/simd.h"
#include "math/quad_filter.h"
#include "ops/poly_nms/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/poly_nms/cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "cpu/nms/greedy_nms-inl.h"
#include "cpu/nms/local_nms-inl.h"
#include "math/score_order.h"
#include "ops/poly_nms/filter-inl.h"

#ifndef DETOPS_POLY_NMS_WORKSPACE_
#define DETOPS_POLY_NMS_WORKSPACE_
namespace detops::ops::poly_nms {

struct Quad : math::FilterQuad {
  int32_t index;  // in the input
};

// In the order of suppression: by score, or by cell and then by score.
struct Workspace {
  uint64_t* keys;        // [count]
  uint64_t* other_keys;  // [count]
  Quad* quads;           // [count]
  cpu::Bounds* bounds;   // [count]
  bool* kept;            // [count] by input index
  cpu::BoxCells cells;
  cpu::CellProgress* progress;  // [count] of the cells

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : keys(layout.Array<uint64_t>(count)),
        other_keys(layout.Array<uint64_t>(count)),
        quads(layout.Array<Quad>(count)),
        bounds(layout.Array<cpu::Bounds>(count)),
        kept(layout.Array<bool>(count)),
        cells(layout, count),
        progress(layout.Array<cpu::CellProgress>(count)) {}
};

}  // namespace detops::ops::poly_nms
#endif

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace poly_nms;
using namespace poly_nms::HWY_NAMESPACE;
using cpu::Bounds;

constexpr int64_t kGrain = 2048;
// Densities in boxes per cell. Above the first, the highest-scoring boxes may suppress most of the
// others. Above the second, boxes lie in so few cells that threads would wait for each other if
// they suppressed them cell by cell.
constexpr double kDense = 16, kClustered = 256;

// A judge as in cpu/nms/kept_boxes-inl.h.
struct QuadJudge {
  static constexpr bool kInVectors = false;  // each pair may need other tests
  const float* boxes;                        // the input
  const Workspace& w;
  float threshold;

  Bounds Reach(int64_t i) const { return w.bounds[i]; }

  double LeastArea(int64_t i) const {
    return math::LeastAreaToSuppress(w.quads[i].area, threshold);
  }

  HWY_INLINE bool Suppresses(int64_t ahead, int64_t behind, int64_t& clipped) const {
    return Suppresses(ahead, w.quads[behind], w.bounds[behind], clipped);
  }
  HWY_INLINE bool Suppresses(int64_t ahead, const Quad& b, const Bounds& bounds_b,
                             int64_t& clipped) const {
    const Quad& a = w.quads[ahead];
    const Bounds& bounds_a = w.bounds[ahead];
    if (a.area > 0.0f && b.area > 0.0f) {
      if (math::NeverEnough(a.area, b.area, bounds_a, bounds_b, threshold)) return false;
      ++clipped;
      const math::Verdict verdict = Judge(a, b, bounds_a, bounds_b, threshold);
      if (verdict != math::Verdict::kDoubtful) return verdict == math::Verdict::kYes;
    }
    ++clipped;
    return math::QuadIoU(boxes + int64_t{9} * a.index, boxes + int64_t{9} * b.index) > threshold;
  }
};

// Judges one box that has no position in the order yet.
struct NewcomerJudge {
  static constexpr bool kInVectors = false;
  const QuadJudge& judge;
  const Quad& quad;
  const Bounds& bounds;

  HWY_INLINE bool Suppresses(int64_t ahead, int64_t, int64_t& clipped) const {
    return judge.Suppresses(ahead, quad, bounds, clipped);
  }
};

// The state of one call.
class PolyNmsRun {
 public:
  PolyNmsRun(const PolyNmsPlan& plan, const PolyNmsArgs& args, Workspace& workspace,
             runtime::Threads& threads)
      : plan_(plan), boxes_(args.boxes), w_(workspace), threads_(threads) {}

  runtime::Work Suppress() {
    std::fill_n(w_.kept, plan_.count, false);
    if (plan_.count <= FewKept::kCapacity) {
      for (int64_t i = 0; i < plan_.count; ++i) w_.keys[i] = KeyOf(i);
      SuppressByScore(plan_.count);
      return work_;
    }
    threads_.For(plan_.count, kGrain, [&](int64_t begin, int64_t end) { FindBounds(begin, end); });
    w_.cells.Measure(w_.bounds, plan_.count, threads_);
    const double density = w_.cells.Density();
    if (density <= kDense) {
      SuppressByCell();
      return work_;
    }
    FewKept best;
    const uint64_t last = SuppressBest(best);
    if (density > kClustered || SuppressMost(best, last)) {
      SuppressByScore(CollectUnsuppressed(1, last, best.Kept()));
    } else {
      FindBounds(0, FewKept::kCapacity);  // overwritten by those of the best, in score order
      SuppressByCell();
    }
    return work_;
  }

 private:
  const float* BoxOf(int64_t index) const { return boxes_ + 9 * index; }
  // Boxes are read in no regular order, so they are prefetched this many iterations ahead.
  static constexpr int64_t kAhead = 16;
  void PrefetchBox(int64_t index) const {
    __builtin_prefetch(BoxOf(index));
    __builtin_prefetch(BoxOf(index) + 8);
  }
  uint64_t KeyOf(int64_t index) const {
    return math::ScoreKey(BoxOf(index)[8], static_cast<uint32_t>(index));
  }

  // Indexed as the input.
  void FindBounds(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) w_.bounds[i] = math::ReachOf(BoxOf(i));
  }

  auto Keep() const {
    return [this](int64_t i) { w_.kept[w_.quads[i].index] = true; };
  }
  QuadJudge MakeJudge() const { return {boxes_, w_, plan_.iou_threshold}; }

  void SuppressByCell() {
    w_.cells.Place(w_.bounds, plan_.count, threads_);
    const cpu::BoxCells& cells = w_.cells;
    threads_.For(plan_.count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        w_.kept[i] = cells.CellOf(i) == cpu::BoxCells::kNoCell;  // overlaps nothing
      }
    });
    threads_.For(cells.used(), kGrain / 8, [&](int64_t begin, int64_t end) {
      const int64_t first_slot = cells.Begin(cells.Used(begin));
      const int64_t end_slot = cells.End(cells.Used(end - 1));
      for (int64_t slot = first_slot; slot < end_slot; ++slot) {
        if (slot + kAhead < end_slot) PrefetchBox(cells.BoxAt(slot + kAhead));
        w_.keys[slot] = KeyOf(cells.BoxAt(slot));
      }
      for (int64_t i = begin; i < end; ++i) {
        const uint32_t cell = cells.Used(i);
        std::sort(w_.keys + cells.Begin(cell), w_.keys + cells.End(cell));
      }
      PrepareInOrder(w_.keys, first_slot, end_slot);
    });
    work_ += LocalNms(w_.cells, w_.bounds, w_.keys, w_.progress, MakeJudge(), Keep()).Run(threads_);
  }

  // Suppression among the highest-scoring boxes, as many as FewKept has room for; returns the key
  // of the last of them.
  uint64_t SuppressBest(FewKept& kept) {
    const uint64_t limit = KeyAmongBest();
    const auto take = [&](int64_t begin, int64_t end, uint64_t* out) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = KeyOf(i);
        if (key <= limit) *out++ = key;
      }
      return out;
    };
    const int64_t found = threads_.Collect(plan_.count, kGrain, w_.keys, take);
    const uint64_t* order = cpu::SortByRank(w_.keys, w_.other_keys, found);
    const int64_t best = std::min(found, FewKept::kCapacity);
    PrepareInOrder(order, 0, best);
    work_ += GreedyNmsOfFew(w_.bounds, best, best, MakeJudge(), Keep(), kept);
    return order[best - 1];
  }

  // The last of the best keys, which are about half as many as FewKept has room for, or more where
  // there are too many boxes for the sample to be precise.
  uint64_t KeyAmongBest() const {
    constexpr int64_t kSamples = 1024, kBest = FewKept::kCapacity / 2;
    std::array<uint64_t, kSamples> keys;
    for (int64_t i = 0; i < kSamples; ++i) keys[i] = KeyOf(i * plan_.count / kSamples);
    const auto last = keys.begin() + kBest * kSamples / plan_.count;
    std::nth_element(keys.begin(), last, keys.end());
    return *last;
  }

  // Whether they suppress seven of eight boxes of a sample. If so, all others are compared with
  // them first, in any order.
  bool SuppressMost(const FewKept& best, uint64_t last) {
    constexpr int64_t kSample = 256;
    return CollectUnsuppressed(plan_.count / kSample, last, best.Kept()) <= kSample / 8;
  }

  // Of every step-th box, collects the keys after `last` of boxes that none of `kept` suppresses;
  // returns how many.
  int64_t CollectUnsuppressed(int64_t step, uint64_t last, const cpu::BoxCells::Boxes& kept) {
    const QuadJudge judge = MakeJudge();
    std::atomic<int64_t> pairs = 0, candidates = 0;
    const auto take = [&](int64_t begin, int64_t end, uint64_t* out) HWY_ATTR {
      int64_t part = 0, part_candidates = 0;
      for (int64_t i = begin * step; i < end * step; i += step) {
        const uint64_t key = KeyOf(i);
        if (key <= last) continue;
        Bounds bounds;
        const Quad quad = {math::PrepareQuad(BoxOf(i), bounds), static_cast<int32_t>(i)};
        const NewcomerJudge newcomer = {judge, quad, bounds};
        part_candidates += 1 + kept.count;
        if (AnySuppresses(kept, BroadcastBox(bounds), i, newcomer, part, AdmitsAll())) continue;
        *out++ = key;
      }
      pairs += part;
      candidates += part_candidates;
      return out;
    };
    const int64_t left = threads_.Collect(plan_.count / step, kGrain / 8, w_.keys, take);
    work_ += {pairs, candidates};
    return left;
  }

  // Decides the boxes whose keys were collected.
  void SuppressByScore(int64_t count) {
    const uint64_t* order = cpu::SortByRank(w_.keys, w_.other_keys, count);
    threads_.For(count, kGrain,
                 [&](int64_t begin, int64_t end) { PrepareInOrder(order, begin, end); });
    if (count <= FewKept::kCapacity) {
      FewKept kept;
      work_ += GreedyNmsOfFew(w_.bounds, count, count, MakeJudge(), Keep(), kept);
      return;
    }
    w_.cells.Measure(w_.bounds, count, threads_);  // they are in another order now
    w_.cells.Place(w_.bounds, count, threads_);
    work_ += GreedyNms(w_.bounds, 0, count, count, w_.cells, threads_, MakeJudge(), Keep());
  }

  // Reads the boxes in no regular order.
  void PrepareInOrder(const uint64_t* order, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end) PrefetchBox(math::IndexOfKey(order[i + kAhead]));
      const uint32_t index = math::IndexOfKey(order[i]);
      w_.quads[i] = {math::PrepareQuad(BoxOf(index), w_.bounds[i]), static_cast<int32_t>(index)};
    }
  }

  const PolyNmsPlan& plan_;
  const float* boxes_;
  Workspace& w_;
  runtime::Threads& threads_;
  runtime::Work work_ = {0, 0};
};

// With a negative threshold every pair counts as overlapping.
int32_t Best(const float* boxes, int64_t count) {
  uint64_t best = ~uint64_t{0};
  for (int64_t i = 0; i < count; ++i) {
    best = std::min(best, math::ScoreKey(boxes[9 * i + 8], static_cast<uint32_t>(i)));
  }
  return static_cast<int32_t>(math::IndexOfKey(best));
}

}  // namespace

void Run(const PolyNmsPlan& plan, const PolyNmsArgs& args, void* memory,
         const runtime::Launch& launch) {
  if (plan.iou_threshold < 0.0f) {
    args.output[0] = Best(args.boxes, plan.count);
    *args.result_num = 1;
    launch.work = {0, 0};
    return;
  }
  core::WorkspaceLayout layout(memory);
  Workspace workspace(layout, plan.count);
  launch.work = PolyNmsRun(plan, args, workspace, launch.threads).Suppress();
  // Only up to the last box kept, so that nothing is written after the results.
  const bool* kept = workspace.kept;
  const bool* end = kept + plan.count;
  while (!end[-1]) --end;  // the best is always kept
  int32_t count = 0;
  for (int64_t i = 0; i < end - kept; ++i) {
    args.output[count] = static_cast<int32_t>(i);  // no branch to mispredict
    count += kept[i] ? 1 : 0;
  }
  *args.result_num = count;
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

int64_t PolyNmsCpuWorkspace(const PolyNmsPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  poly_nms::Workspace(layout, plan.count);
  return layout.Bytes();
}

cpu::SimdKernels<PolyNms> PolyNmsKernels() { return DETOPS_SIMD_KERNELS(Run); }

}  // namespace detops::ops
#endif
