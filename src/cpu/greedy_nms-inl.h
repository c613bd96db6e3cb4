// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression in an order that is already fixed: box i is kept if no kept box before it
// suppresses it. By chunks of the order: the boxes of a chunk ask, in parallel, the grid of what
// was kept before the chunk; those left then meet each other in turn. Compiled once for each
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
#include "cpu/kept_grid.h"
#include "cpu/lane-inl.h"
#include "cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// What a chunk has kept so far, as arrays to compare with in vectors.
class KeptInChunk {
 public:
  static constexpr int64_t kCapacity = 512;

  void Clear() { count_ = 0; }
  void Add(const Bounds& b, int64_t box) {
    x1_[count_] = b.x1;
    y1_[count_] = b.y1;
    x2_[count_] = b.x2;
    y2_[count_] = b.y2;
    box_[count_++] = box;
  }

  template <class Visit>
  HWY_INLINE bool Any(const Bounds& q, const Visit& visit) const {
    const FloatTag tag;
    const auto lanes = static_cast<int64_t>(FloatLanes());
    const FloatVec qx1 = hn::Set(tag, q.x1), qy1 = hn::Set(tag, q.y1);
    const FloatVec qx2 = hn::Set(tag, q.x2), qy2 = hn::Set(tag, q.y2);
    for (int64_t i = 0; i < count_; i += lanes) {
      const auto overlaps = hn::And(
          hn::And(hn::Lt(hn::Load(tag, x1_ + i), qx2), hn::Lt(qx1, hn::Load(tag, x2_ + i))),
          hn::And(hn::Lt(hn::Load(tag, y1_ + i), qy2), hn::Lt(qy1, hn::Load(tag, y2_ + i))));
      if (HWY_LIKELY(hn::AllFalse(tag, overlaps))) continue;
      uint8_t bits[8] = {};
      hn::StoreMaskBits(tag, overlaps, bits);
      for (int64_t lane = 0; lane < std::min(lanes, count_ - i); ++lane) {
        if ((bits[lane / 8] >> (lane % 8) & 1) != 0 && visit(box_[i + lane])) return true;
      }
    }
    return false;
  }

 private:
  int64_t count_ = 0;
  HWY_ALIGN float x1_[kCapacity] = {}, y1_[kCapacity] = {}, x2_[kCapacity] = {},
                  y2_[kCapacity] = {};
  int64_t box_[kCapacity];
};

// suppresses(ahead, behind, pairs) is pairs only where their bounds overlap, from several threads;
// it adds to `pairs` what it evaluates, and the sum is returned. keep(box) is called in order, for
// at most `most` boxes.
template <class Suppresses, class Keep>
core::Work GreedyNms(const Bounds* boxes, int64_t count, int64_t most, KeptGrid& grid,
                     Threads& threads, const Suppresses& suppresses, const Keep& keep) {
  constexpr int64_t kChunk = KeptInChunk::kCapacity;
  constexpr int64_t kGrain = 64;
  const bool use_grid = count > kChunk;  // else the one chunk is all there is
  if (use_grid) grid.Reserve(boxes, count);

  std::atomic<int64_t> pairs = 0, looks = 0;
  int64_t kept = 0;
  bool gone[kChunk];
  KeptInChunk in_chunk;
  for (int64_t begin = 0; begin < count && kept < most; begin += kChunk) {
    const int64_t end = std::min(begin + kChunk, count);
    std::fill_n(gone, kChunk, false);
    if (begin > 0) {
      threads.For(end - begin, kGrain, [&](int64_t first, int64_t last) {
        int64_t part = 0, part_looks = 0;
        for (int64_t i = first; i < last; ++i) {
          gone[i] = grid.Any(boxes[begin + i], part_looks,
                             [&](int64_t ahead) { return suppresses(ahead, begin + i, part); });
        }
        pairs += part;
        looks += part_looks;
      });
    }
    in_chunk.Clear();
    int64_t part = 0;
    for (int64_t i = begin; i < end && kept < most; ++i) {
      if (gone[i - begin]) continue;
      const bool suppressed = in_chunk.Any(
          boxes[i], [&](int64_t ahead) HWY_ATTR { return suppresses(ahead, i, part); });
      if (suppressed) continue;
      ++kept;
      keep(i);
      if (boxes[i].x1 > boxes[i].x2) continue;
      in_chunk.Add(boxes[i], i);
      if (use_grid) grid.Insert(i);
    }
    pairs += part;
  }
  return {pairs, looks};
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
