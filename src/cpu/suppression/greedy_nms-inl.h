// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression in an order that is already fixed: box i is kept if no kept box before it
// suppresses it. Used for few boxes, for dense clusters, and where the first boxes kept are enough;
// otherwise cpu/suppression/local_nms-inl.h, or cpu/suppression/sparse_nms-inl.h where such boxes
// are sparse. The order is processed in chunks. In parallel, each box of a chunk is compared with
// the boxes kept before the chunk, found through the cells, and with the earlier boxes of the chunk
// that it overlaps. The boxes that remain are then decided one after the other. Compiled once for
// each Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_GREEDY_NMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_GREEDY_NMS_INL_H_
#undef DETOPS_CPU_GREEDY_NMS_INL_H_
#else
#define DETOPS_CPU_GREEDY_NMS_INL_H_
#endif

#include <algorithm>
#include <atomic>
#include <bit>

#include "cpu/suppression/box_cells.h"
#include "cpu/suppression/kept_boxes-inl.h"
#include "runtime/cpu/threads.h"
#include "runtime/implementation.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// The boxes kept so far, where there are few boxes in all.
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
  BoxCells::Boxes Kept() const { return {x1_, y1_, x2_, y2_, box_, count_}; }

 private:
  uint32_t count_ = 0;
  HWY_ALIGN float x1_[kCapacity] = {}, y1_[kCapacity] = {}, x2_[kCapacity] = {},
                  y2_[kCapacity] = {};
  uint32_t box_[kCapacity];
};

// In score order, every box kept before a box has a higher score.
struct AdmitsAll {
  bool operator()(uint32_t) const { return true; }
};

// Not inlined: most cells are empty, and the path for those should stay short.
template <class Judge>
HWY_NOINLINE bool AnyInCell(const BoxCells::Boxes& kept, const FloatBoxes& reach, int64_t behind,
                            const Judge& judge, int64_t& pairs) {
  return AnySuppresses(kept, reach, behind, judge, pairs, AdmitsAll());
}

// Up to FewKept::kCapacity boxes are compared with each other in less time than it takes to find
// their cells. The boxes kept are added to `kept`. The other arguments are as below.
template <class Judge, class Keep>
runtime::Work GreedyNmsOfFew(const Bounds* boxes, int64_t count, int64_t most, const Judge& judge,
                             const Keep& keep, FewKept& kept) {
  runtime::Work work = {0, 0};
  for (int64_t i = 0, keeps = 0; i < count && keeps < most; ++i) {
    if (AnySuppresses(kept.Kept(), BroadcastBox(judge.Reach(i)), i, judge, work.pairs, AdmitsAll()))
      continue;
    ++keeps;
    keep(i);
    if (boxes[i].x1 <= boxes[i].x2) kept.Add(boxes[i], i);
  }
  return work;
}

// A bit matrix of a chunk: which earlier boxes each box overlaps or, where the judge works on
// vectors, which ones would suppress it.
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

  // Returns whether there are any. Called from several threads, each for boxes of its own. The
  // chunk begins at box `begin` of the judge.
  template <class Judge>
  HWY_INLINE bool FindOverlaps(int64_t box, const FloatBoxes& reach, int64_t begin,
                               const Judge& judge, int64_t& pairs) {
    uint64_t any = 0;
    const auto lanes = static_cast<int64_t>(FloatLanes());
    for (int64_t word = 0; word <= box / kBits; ++word) {
      uint64_t bits = 0;
      const int64_t first = word * kBits, end = std::min(first + kBits, box);
      for (int64_t i = first; i < end; i += lanes) {
        bits |= MaskBits(Overlap(At(i), reach)) << (i - first);
      }
      // The last vector also covers the box itself and boxes after it.
      if (box - first < kBits) bits &= (uint64_t{1} << (box - first)) - 1;
      if constexpr (Judge::kInVectors) {
        pairs += std::popcount(bits);
        for (uint64_t rest = bits; rest != 0;) {
          const int64_t vector = std::countr_zero(rest) / lanes * lanes;
          const uint64_t here_bits = LanesFrom(vector);
          const uint64_t suppressing =
              MaskBits(judge.Suppressing(At(first + vector), reach, begin + box));
          bits &= ~here_bits | suppressing << vector;
          rest &= ~here_bits;
        }
      }
      overlaps_[box][word] = bits;
      any |= bits;
    }
    return any != 0;
  }

  void Keep(int64_t box) { kept_[box / kBits] |= uint64_t{1} << (box % kBits); }

  // Whether one of the kept boxes suppresses `box`.
  template <class Judge>
  HWY_INLINE bool AnyKeptSuppresses(int64_t box, int64_t begin, const Judge& judge,
                                    int64_t& pairs) const {
    for (int64_t word = 0; word <= box / kBits; ++word) {
      uint64_t bits = overlaps_[box][word] & kept_[word];
      if constexpr (Judge::kInVectors) {
        if (bits != 0) return true;
      } else {
        for (; bits != 0; bits &= bits - 1) {
          const int64_t ahead = begin + word * kBits + std::countr_zero(bits);
          if (judge.Suppresses(ahead, begin + box, pairs)) return true;
        }
      }
    }
    return false;
  }

 private:
  static constexpr int64_t kBits = 64, kWords = kCapacity / kBits;

  HWY_INLINE FloatBoxes At(int64_t i) const {
    return {LoadLane(x1_ + i), LoadLane(y1_ + i), LoadLane(x2_ + i), LoadLane(y2_ + i)};
  }
  // The bits of a vector's lanes in a word.
  static uint64_t LanesFrom(int64_t vector) {
    return ((uint64_t{1} << FloatLanes()) - 1) << vector;
  }

  HWY_ALIGN float x1_[kCapacity] = {}, y1_[kCapacity] = {}, x2_[kCapacity] = {},
                  y2_[kCapacity] = {};
  uint64_t overlaps_[kCapacity][kWords];  // of each box, up to its own word
  uint64_t kept_[kWords];
};

// Decides the boxes from `first` on; those before it are kept already. The boxes have been placed
// in the cells. The judge is as in cpu/suppression/kept_boxes-inl.h. keep(box) is called in order,
// until `most` boxes are kept. Returns how many pairs were evaluated and how many candidates were
// examined.
template <class Judge, class Keep>
runtime::Work GreedyNms(const Bounds* boxes, int64_t first, int64_t count, int64_t most,
                        BoxCells& cells, runtime::Threads& threads, const Judge& judge,
                        const Keep& keep) {
  constexpr int64_t kChunk = Chunk::kCapacity;
  const auto keep_in_cell = [&](int64_t i) {
    if (boxes[i].x1 > boxes[i].x2) return;
    cells.Keep(cells.CellOf(i), boxes[i], static_cast<uint32_t>(i));
  };
  for (int64_t i = 0; i < first; ++i) keep_in_cell(i);

  std::atomic<int64_t> pairs = 0, candidates = 0;
  int64_t kept = first;
  // What was found for a box of the chunk: a box kept earlier that suppresses it, no earlier box of
  // the chunk that may, or some of them, to be checked once they are decided.
  enum class Found : uint8_t { kSuppressor, kNone, kSome } found[kChunk];
  Chunk chunk;
  for (int64_t begin = first; begin < count && kept < most; begin += kChunk) {
    const int64_t size = std::min(kChunk, count - begin);
    chunk.Load(boxes + begin, size);
    threads.For(size, kChunk / 16, [&](int64_t i, int64_t end) HWY_ATTR {
      int64_t part = 0, part_candidates = 0;
      for (; i < end; ++i) {
        const int64_t box = begin + i;
        const Bounds reach = judge.Reach(box);
        const FloatBoxes each_reach = BroadcastBox(reach);
        BoxCells::Walk walk;
        const bool gone =
            kept > 0 && cells.Any(reach, judge.LeastArea(box), walk, [&](uint32_t cell) HWY_ATTR {
              const BoxCells::Boxes in_cell = cells.KeptIn(cell);
              part_candidates += 1 + in_cell.count;
              return in_cell.count > 0 && AnyInCell(in_cell, each_reach, box, judge, part);
            });
        found[i] = gone                                                    ? Found::kSuppressor
                   : chunk.FindOverlaps(i, each_reach, begin, judge, part) ? Found::kSome
                                                                           : Found::kNone;
      }
      pairs += part;
      candidates += part_candidates;
    });
    int64_t part = 0;
    for (int64_t i = 0; i < size && kept < most; ++i) {
      if (found[i] == Found::kSuppressor) continue;
      if (found[i] == Found::kSome && chunk.AnyKeptSuppresses(i, begin, judge, part)) continue;
      ++kept;
      keep(begin + i);
      chunk.Keep(i);
      keep_in_cell(begin + i);
    }
    pairs += part;
  }
  return {pairs, candidates};
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
