// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression in an order that is already fixed: box i is kept if no kept box before it
// suppresses it. By chunks of the order: the boxes of a chunk ask, in parallel, the cells for what
// was kept before the chunk; those left then meet each other in turn. For few boxes, for crowds and
// where the first few boxes kept are enough; else cpu/local_nms-inl.h. Compiled once for each
// Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_GREEDY_NMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_GREEDY_NMS_INL_H_
#undef DETOPS_CPU_GREEDY_NMS_INL_H_
#else
#define DETOPS_CPU_GREEDY_NMS_INL_H_
#endif

#include <algorithm>
#include <atomic>

#include "core/implementation.h"
#include "cpu/box_cells.h"
#include "cpu/kept_boxes-inl.h"
#include "cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// What a chunk has kept so far.
class KeptInChunk {
 public:
  static constexpr int64_t kCapacity = 512;

  void Clear() { count_ = 0; }
  void Add(const Bounds& b, int64_t box) {
    x1_[count_] = b.x1;
    y1_[count_] = b.y1;
    x2_[count_] = b.x2;
    y2_[count_] = b.y2;
    box_[count_++] = static_cast<uint32_t>(box);
  }
  BoxCells::Kept Kept() const { return {x1_, y1_, x2_, y2_, box_, count_}; }

 private:
  uint32_t count_ = 0;
  HWY_ALIGN float x1_[kCapacity] = {}, y1_[kCapacity] = {}, x2_[kCapacity] = {},
                  y2_[kCapacity] = {};
  uint32_t box_[kCapacity];
};

// Of the boxes from `first` on; those before are kept already. suppresses(ahead, behind, pairs) is
// asked only where their bounds overlap, from several threads; it adds to `pairs` what it
// evaluates, and the sum is returned. keep(box) is called in order, until `most` boxes are kept.
template <class Suppresses, class Keep>
core::Work GreedyNms(const Bounds* boxes, int64_t first, int64_t count, int64_t most,
                     BoxCells& cells, Threads& threads, const Suppresses& suppresses,
                     const Keep& keep) {
  constexpr int64_t kChunk = KeptInChunk::kCapacity;
  constexpr int64_t kGrain = 64;
  const bool use_cells = count > kChunk || first > 0;  // else the one chunk is all there is
  const auto keep_in_cell = [&](int64_t i) {
    cells.Keep(cells.CellOf(i), boxes[i], static_cast<uint32_t>(i));
  };
  if (use_cells) {
    cells.Measure(boxes, count, threads);
    cells.Place(boxes, count, threads);
    for (int64_t i = 0; i < first; ++i) {
      if (cells.CellOf(i) != BoxCells::kNoCell) keep_in_cell(i);
    }
  }

  std::atomic<int64_t> pairs = 0, looks = 0;
  int64_t kept = first;
  bool gone[kChunk];
  KeptInChunk in_chunk;
  for (int64_t begin = first; begin < count && kept < most; begin += kChunk) {
    const int64_t end = std::min(begin + kChunk, count);
    std::fill_n(gone, kChunk, false);
    if (kept > 0) {
      threads.For(end - begin, kGrain, [&](int64_t part_begin, int64_t part_end) HWY_ATTR {
        int64_t part = 0, part_looks = 0;
        for (int64_t i = part_begin; i < part_end; ++i) {
          const Bounds& box = boxes[begin + i];
          BoxCells::Walk walk;
          gone[i] = cells.Any(box, walk, [&](uint32_t cell) HWY_ATTR {
            const BoxCells::Kept in_cell = cells.KeptIn(cell);
            part_looks += 1 + in_cell.count;
            return AnyOverlapping(in_cell, box, [&](uint32_t ahead) HWY_ATTR {
              return suppresses(ahead, begin + i, part);
            });
          });
        }
        pairs += part;
        looks += part_looks;
      });
    }
    in_chunk.Clear();
    int64_t part = 0;
    for (int64_t i = begin; i < end && kept < most; ++i) {
      if (gone[i - begin]) continue;
      const bool suppressed =
          AnyOverlapping(in_chunk.Kept(), boxes[i],
                         [&](uint32_t ahead) HWY_ATTR { return suppresses(ahead, i, part); });
      if (suppressed) continue;
      ++kept;
      keep(i);
      if (boxes[i].x1 > boxes[i].x2) continue;
      in_chunk.Add(boxes[i], i);
      if (use_cells) keep_in_cell(i);
    }
    pairs += part;
  }
  return {pairs, looks};
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
