// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression in an order that is already fixed: box i is kept if no kept box before it
// suppresses it. For few boxes, for crowds, and where the first boxes kept are enough; else
// cpu/local_nms-inl.h. By chunks of the order: the boxes of a chunk ask, in parallel, the cells for
// what was kept before the chunk, and which boxes of the chunk they overlap; those left then meet
// each other in turn. Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_GREEDY_NMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_GREEDY_NMS_INL_H_
#undef DETOPS_CPU_GREEDY_NMS_INL_H_
#else
#define DETOPS_CPU_GREEDY_NMS_INL_H_
#endif

#include <algorithm>
#include <atomic>
#include <bit>

#include "core/implementation.h"
#include "cpu/box_cells.h"
#include "cpu/kept_boxes-inl.h"
#include "cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// What few boxes have kept so far.
class FewKept {
 public:
  static constexpr int64_t kCapacity = 512;

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

// Few boxes meet each other faster than they find their cells. Arguments as below.
template <class Suppresses, class Keep>
core::Work GreedyNmsOfFew(const Bounds* boxes, int64_t count, int64_t most,
                          const Suppresses& suppresses, const Keep& keep) {
  FewKept kept;
  core::Work work = {0, 0};
  for (int64_t i = 0, keeps = 0; i < count && keeps < most; ++i) {
    const bool suppressed = AnyOverlapping(kept.Kept(), boxes[i], [&](uint32_t ahead) HWY_ATTR {
      return suppresses(ahead, i, work.pairs);
    });
    if (suppressed) continue;
    ++keeps;
    keep(i);
    if (boxes[i].x1 <= boxes[i].x2) kept.Add(boxes[i], i);
  }
  return work;
}

// Which boxes of a chunk overlap which before them, as bits.
class Chunk {
 public:
  static constexpr int64_t kCapacity = 512;

  void Load(const Bounds* boxes, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      x1_[i] = boxes[i].x1;
      y1_[i] = boxes[i].y1;
      x2_[i] = boxes[i].x2;
      y2_[i] = boxes[i].y2;
    }
    std::fill_n(kept_, kWords, 0);
  }

  // Whether there are any. From several threads, each for boxes of its own.
  HWY_INLINE bool FindOverlaps(int64_t box) {
    uint64_t any = 0;
    const FloatTag tag;
    const auto lanes = static_cast<int64_t>(FloatLanes());
    const FloatVec x1 = hn::Set(tag, x1_[box]), y1 = hn::Set(tag, y1_[box]);
    const FloatVec x2 = hn::Set(tag, x2_[box]), y2 = hn::Set(tag, y2_[box]);
    for (int64_t word = 0; word <= box / kBits; ++word) {
      uint64_t bits = 0;
      const int64_t first = word * kBits, end = std::min(first + kBits, box);
      for (int64_t i = first; i < end; i += lanes) {
        const auto overlap_x =
            hn::And(hn::Lt(hn::Load(tag, x1_ + i), x2), hn::Lt(x1, hn::Load(tag, x2_ + i)));
        const auto overlap_y =
            hn::And(hn::Lt(hn::Load(tag, y1_ + i), y2), hn::Lt(y1, hn::Load(tag, y2_ + i)));
        bits |= MaskBits(hn::And(overlap_x, overlap_y)) << (i - first);
      }
      // The last vector goes on to the box itself and those behind it.
      if (box - first < kBits) bits &= (uint64_t{1} << (box - first)) - 1;
      overlaps_[box][word] = bits;
      any |= bits;
    }
    return any != 0;
  }

  void Keep(int64_t box) { kept_[box / kBits] |= uint64_t{1} << (box % kBits); }

  // Calls visit(before) for the kept boxes that overlap `box`, until it returns true; whether it
  // did.
  template <class Visit>
  HWY_INLINE bool AnyKept(int64_t box, const Visit& visit) const {
    for (int64_t word = 0; word <= box / kBits; ++word) {
      for (uint64_t bits = overlaps_[box][word] & kept_[word]; bits != 0; bits &= bits - 1) {
        if (visit(word * kBits + std::countr_zero(bits))) return true;
      }
    }
    return false;
  }

 private:
  static constexpr int64_t kBits = 64, kWords = kCapacity / kBits;
  HWY_ALIGN float x1_[kCapacity] = {}, y1_[kCapacity] = {}, x2_[kCapacity] = {},
                  y2_[kCapacity] = {};
  uint64_t overlaps_[kCapacity][kWords];  // of each box, up to its own word
  uint64_t kept_[kWords];
};

// Of the boxes from `first` on; those before are kept already. suppresses(ahead, behind, pairs) is
// asked only where their bounds overlap, from several threads; it adds to `pairs` what it
// evaluates, and the sum is returned. No box with bounds of less than least_area(box) suppresses
// `box`. keep(box) is called in order, until `most` boxes are kept.
template <class LeastArea, class Suppresses, class Keep>
core::Work GreedyNms(const Bounds* boxes, int64_t first, int64_t count, int64_t most,
                     BoxCells& cells, Threads& threads, const LeastArea& least_area,
                     const Suppresses& suppresses, const Keep& keep) {
  if (first == 0 && count <= FewKept::kCapacity) {
    return GreedyNmsOfFew(boxes, count, most, suppresses, keep);
  }
  constexpr int64_t kChunk = Chunk::kCapacity;
  const auto keep_in_cell = [&](int64_t i) {
    if (boxes[i].x1 > boxes[i].x2) return;
    cells.Keep(cells.CellOf(i), boxes[i], static_cast<uint32_t>(i));
  };
  cells.Measure(boxes, count, threads);
  cells.Place(boxes, count, threads);
  for (int64_t i = 0; i < first; ++i) keep_in_cell(i);

  std::atomic<int64_t> pairs = 0, looks = 0;
  int64_t kept = first;
  // What a box of the chunk has met: a kept one that suppresses it, none of the chunk before it, or
  // some that it must ask in its turn.
  enum class Met : uint8_t { kSuppressor, kNone, kSome } met[kChunk];
  Chunk chunk;
  for (int64_t begin = first; begin < count && kept < most; begin += kChunk) {
    const int64_t size = std::min(kChunk, count - begin);
    const Bounds* const here = boxes + begin;
    chunk.Load(here, size);
    threads.For(size, kChunk / 16, [&](int64_t i, int64_t end) HWY_ATTR {
      int64_t part = 0, part_looks = 0;
      for (; i < end; ++i) {
        BoxCells::Walk walk;
        const bool gone =
            kept > 0 &&
            cells.Any(here[i], least_area(begin + i), walk, [&](uint32_t cell) HWY_ATTR {
              const BoxCells::Kept in_cell = cells.KeptIn(cell);
              part_looks += 1 + in_cell.count;
              return AnyOverlapping(in_cell, here[i], [&](uint32_t ahead) HWY_ATTR {
                return suppresses(ahead, begin + i, part);
              });
            });
        met[i] = gone ? Met::kSuppressor : chunk.FindOverlaps(i) ? Met::kSome : Met::kNone;
      }
      pairs += part;
      looks += part_looks;
    });
    int64_t part = 0;
    for (int64_t i = 0; i < size && kept < most; ++i) {
      if (met[i] == Met::kSuppressor) continue;
      const bool suppressed = met[i] == Met::kSome && chunk.AnyKept(i, [&](int64_t ahead) HWY_ATTR {
        return suppresses(begin + ahead, begin + i, part);
      });
      if (suppressed) continue;
      ++kept;
      keep(begin + i);
      chunk.Keep(i);
      keep_in_cell(begin + i);
    }
    pairs += part;
  }
  return {pairs, looks};
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
