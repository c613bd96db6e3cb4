// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression of a set of boxes of any kind. Suppression::Run chooses how: in score order
// (greedy_nms-inl.h) or cell by cell (local_nms-inl.h), and for dense boxes compares all with the
// highest-scoring ones first.
//
// An operator says what its boxes are, by index in its input:
//   Prepared                           what pairs are decided on, besides bounds
//   uint64_t KeyOf(index)              math::ScoreKey of its score
//   void Prefetch(index)
//   Bounds ReachOf(index)              its bounds; x1 > x2 overlaps nothing
//   Prepared Prepare(index, bounds)    the same, and writes its bounds
//   double LeastArea(prepared)         boxes whose bounds have less area don't suppress it
//   bool Suppresses(ahead, bounds_ahead, behind, bounds_behind, pairs)
//                                      adds the number of evaluations to `pairs`
//
// Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_SUPPRESS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_SUPPRESS_INL_H_
#undef DETOPS_CPU_SUPPRESS_INL_H_
#else
#define DETOPS_CPU_SUPPRESS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <atomic>

#include "cpu/score_sort.h"
#include "cpu/suppression/box_cells.h"
#include "cpu/suppression/greedy_nms-inl.h"
#include "cpu/suppression/local_nms-inl.h"
#include "math/score_order.h"

#ifndef DETOPS_CPU_SUPPRESSION_WORKSPACE_
#define DETOPS_CPU_SUPPRESSION_WORKSPACE_
namespace detops::cpu {

template <class Prepared>
struct SuppressionWorkspace {
  uint64_t* keys;        // [count]
  uint64_t* other_keys;  // [count]
  // In the order of suppression: by score, or by cell and then by score.
  Prepared* prepared;  // [count]
  Bounds* bounds;      // [count]
  uint32_t* index;     // [count] in the input
  bool* kept;          // [count] by index in the input: the result
  BoxCells cells;
  CellProgress* progress;  // [count] of the cells

  SuppressionWorkspace(core::WorkspaceLayout& layout, int64_t count)
      : keys(layout.Array<uint64_t>(count)),
        other_keys(layout.Array<uint64_t>(count)),
        prepared(layout.Array<Prepared>(count)),
        bounds(layout.Array<Bounds>(count)),
        index(layout.Array<uint32_t>(count)),
        kept(layout.Array<bool>(count)),
        cells(layout, count),
        progress(layout.Array<CellProgress>(count)) {}
};

}  // namespace detops::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

template <class Boxes>
class Suppression {
 public:
  using Prepared = typename Boxes::Prepared;
  using Workspace = SuppressionWorkspace<Prepared>;

  Suppression(const Boxes& boxes, int64_t count, Workspace& workspace, runtime::Threads& threads)
      : boxes_(boxes),
        count_(count),
        w_(workspace),
        threads_(count < kWorthSharing ? this_thread_ : threads) {}

  // Leaves the result in workspace.kept.
  runtime::Work Run() {
    std::fill_n(w_.kept, count_, false);
    if (count_ <= FewKept::kCapacity) {
      for (int64_t i = 0; i < count_; ++i) w_.keys[i] = boxes_.KeyOf(i);
      SuppressByScore(count_);
      return work_;
    }
    threads_.For(count_, kGrain, [&](int64_t begin, int64_t end) { FindBounds(begin, end); });
    w_.cells.Measure(w_.bounds, count_, threads_);
    const double density = w_.cells.Density();
    if (density <= kDense) {
      SuppressByCell();
      return work_;
    }
    // Those of the best, in score order, will overwrite them.
    std::array<Bounds, FewKept::kCapacity> first;
    std::copy_n(w_.bounds, FewKept::kCapacity, first.begin());
    FewKept best;
    const uint64_t last = SuppressBest(best);
    if (density > kClustered || SuppressMost(best, last)) {
      SuppressByScore(CollectUnsuppressed(1, last, best.Kept()));
    } else {
      // The cells were measured with these very bounds; the boxes may have changed since.
      std::copy(first.begin(), first.end(), w_.bounds);
      SuppressByCell();
    }
    return work_;
  }

 private:
  static constexpr int64_t kGrain = 2048;
  // Fewer boxes take at most 150 µs or so, which is about what it costs to wake up another thread
  // and to wait for what it has begun; on busy processors that may be milliseconds.
  static constexpr int64_t kWorthSharing = 1500;
  // Densities in boxes per cell. Above the first, the highest-scoring boxes may suppress most of
  // the others. Above the second, boxes lie in so few cells that threads would wait for each other
  // if they suppressed them cell by cell.
  static constexpr double kDense = 16, kClustered = 256;
  // Boxes are read in no regular order, so they are prefetched this many iterations ahead.
  static constexpr int64_t kAhead = 16;

  // A judge as in kept_boxes-inl.h, of boxes that have a position in the order.
  struct Judge {
    static constexpr bool kInVectors = false;  // each pair may need other tests
    const Boxes& boxes;
    const Workspace& w;

    Bounds Reach(int64_t i) const { return w.bounds[i]; }
    double LeastArea(int64_t i) const { return boxes.LeastArea(w.prepared[i]); }
    HWY_INLINE bool Suppresses(int64_t ahead, int64_t behind, int64_t& pairs) const {
      return boxes.Suppresses(w.prepared[ahead], w.bounds[ahead], w.prepared[behind],
                              w.bounds[behind], pairs);
    }
  };
  // Of one box that has none yet.
  struct NewcomerJudge {
    static constexpr bool kInVectors = false;
    const Boxes& boxes;
    const Workspace& w;
    const Prepared& newcomer;
    const Bounds& bounds;

    HWY_INLINE bool Suppresses(int64_t ahead, int64_t, int64_t& pairs) const {
      return boxes.Suppresses(w.prepared[ahead], w.bounds[ahead], newcomer, bounds, pairs);
    }
  };

  // Indexed as the input.
  void FindBounds(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) w_.bounds[i] = boxes_.ReachOf(i);
  }

  auto Keep() const {
    return [this](int64_t i) { w_.kept[w_.index[i]] = true; };
  }
  Judge MakeJudge() const { return {boxes_, w_}; }

  void SuppressByCell() {
    w_.cells.Place(w_.bounds, count_, threads_);
    const BoxCells& cells = w_.cells;
    threads_.For(count_, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        w_.kept[i] = cells.CellOf(i) == BoxCells::kNoCell;  // overlaps nothing
      }
    });
    threads_.For(cells.used(), kGrain / 8, [&](int64_t begin, int64_t end) {
      const int64_t first_slot = cells.Begin(cells.Used(begin));
      const int64_t end_slot = cells.End(cells.Used(end - 1));
      for (int64_t slot = first_slot; slot < end_slot; ++slot) {
        if (slot + kAhead < end_slot) boxes_.Prefetch(cells.BoxAt(slot + kAhead));
        w_.keys[slot] = boxes_.KeyOf(cells.BoxAt(slot));
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
        const uint64_t key = boxes_.KeyOf(i);
        if (key <= limit) *out++ = key;
      }
      return out;
    };
    const int64_t found = threads_.Collect(count_, kGrain, w_.keys, take);
    const uint64_t* order = SortByRank(w_.keys, w_.other_keys, found);
    const int64_t best = std::min(found, FewKept::kCapacity);
    PrepareInOrder(order, 0, best);
    work_ += GreedyNmsOfFew(w_.bounds, best, best, MakeJudge(), Keep(), kept);
    return best > 0 ? order[best - 1] : limit;  // none only where another thread changes the scores
  }

  // The last of the best keys, which are about half as many as FewKept has room for, or more where
  // there are too many boxes for the sample to be precise.
  uint64_t KeyAmongBest() const {
    constexpr int64_t kSamples = 1024, kBest = FewKept::kCapacity / 2;
    std::array<uint64_t, kSamples> keys;
    for (int64_t i = 0; i < kSamples; ++i) keys[i] = boxes_.KeyOf(i * count_ / kSamples);
    const auto last = keys.begin() + kBest * kSamples / count_;
    std::nth_element(keys.begin(), last, keys.end());
    return *last;
  }

  // Whether they suppress seven of eight boxes of a sample. If so, all others are compared with
  // them first, in any order.
  bool SuppressMost(const FewKept& best, uint64_t last) {
    constexpr int64_t kSample = 256;
    return CollectUnsuppressed(count_ / kSample, last, best.Kept()) <= kSample / 8;
  }

  // Of every step-th box, collects the keys after `last` of boxes that none of `kept` suppresses;
  // returns how many.
  int64_t CollectUnsuppressed(int64_t step, uint64_t last, const BoxCells::Boxes& kept) {
    std::atomic<int64_t> pairs = 0, candidates = 0;
    const auto take = [&](int64_t begin, int64_t end, uint64_t* out) HWY_ATTR {
      int64_t part = 0, part_candidates = 0;
      for (int64_t i = begin * step; i < end * step; i += step) {
        const uint64_t key = boxes_.KeyOf(i);
        if (key <= last) continue;
        Bounds bounds;
        const Prepared prepared = boxes_.Prepare(i, bounds);
        const NewcomerJudge newcomer = {boxes_, w_, prepared, bounds};
        part_candidates += 1 + kept.count;
        if (AnySuppresses(kept, BroadcastBox(bounds), i, newcomer, part, AdmitsAll())) continue;
        *out++ = key;
      }
      pairs += part;
      candidates += part_candidates;
      return out;
    };
    const int64_t left = threads_.Collect(count_ / step, kGrain / 8, w_.keys, take);
    work_ += {pairs, candidates};
    return left;
  }

  // Decides the boxes whose keys were collected.
  void SuppressByScore(int64_t count) {
    const uint64_t* order = SortByRank(w_.keys, w_.other_keys, count);
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
      if (i + kAhead < end) boxes_.Prefetch(math::IndexOfKey(order[i + kAhead]));
      w_.index[i] = math::IndexOfKey(order[i]);
      w_.prepared[i] = boxes_.Prepare(w_.index[i], w_.bounds[i]);
    }
  }

  const Boxes boxes_;
  const int64_t count_;
  Workspace& w_;
  runtime::Threads this_thread_{1};
  runtime::Threads& threads_;
  runtime::Work work_ = {0, 0};
};

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
