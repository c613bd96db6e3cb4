// SPDX-License-Identifier: Apache-2.0
//
// Compares a box with the kept boxes, a vector of them at a time. Compiled once for each Highway
// target, hence the unusual guard.
//
// A judge decides which box suppresses which:
//   Bounds Reach(int64_t box)        only boxes whose bounds overlap this may suppress the box
//   double LeastArea(int64_t box)    boxes whose bounds have less area don't suppress it
//   kInVectors                       whether it decides a vector of pairs at once, by their bounds:
//     Suppressing(FloatBoxes ahead, FloatBoxes reach, int64_t behind)
//                                    a mask; each lane of `reach` is that of `behind`
//   or one pair after the other:
//     bool Suppresses(int64_t ahead, int64_t behind, int64_t& pairs)
//                                    adds the number of evaluations to `pairs`
// It is called from several threads.
#if defined(DETOPS_CPU_KEPT_BOXES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_KEPT_BOXES_INL_H_
#undef DETOPS_CPU_KEPT_BOXES_INL_H_
#else
#define DETOPS_CPU_KEPT_BOXES_INL_H_
#endif

#include <bit>

#include "cpu/lane-inl.h"
#include "cpu/suppression/box_cells.h"
#include "math/box.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

using FloatBoxes = math::HWY_NAMESPACE::Box<FloatLane>;

HWY_INLINE FloatBoxes BroadcastBox(const Bounds& b) {
  return {Broadcast(b.x1), Broadcast(b.y1), Broadcast(b.x2), Broadcast(b.y2)};
}

HWY_INLINE auto Overlap(const FloatBoxes& a, const FloatBoxes& b) {
  return hn::And(hn::And(hn::Lt(a.x1.v, b.x2.v), hn::Lt(b.x1.v, a.x2.v)),
                 hn::And(hn::Lt(a.y1.v, b.y2.v), hn::Lt(b.y1.v, a.y2.v)));
}

// The vector of boxes that starts at i.
HWY_INLINE FloatBoxes BoxesAt(const BoxCells::Boxes& boxes, uint32_t i) {
  return {LoadLane(boxes.x1 + i), LoadLane(boxes.y1 + i), LoadLane(boxes.x2 + i),
          LoadLane(boxes.y2 + i)};
}

// The lanes of that vector that are set in a mask, as bits. Lanes after the last box are cleared:
// another thread may be writing there.
template <class FloatMask>
HWY_INLINE uint32_t LanesOf(const BoxCells::Boxes& boxes, uint32_t i, FloatMask mask) {
  if (HWY_LIKELY(hn::AllFalse(FloatTag(), mask))) return 0;
  const auto lanes = static_cast<uint32_t>(MaskBits(mask));
  return boxes.count - i < FloatLanes() ? lanes & ((uint32_t{1} << (boxes.count - i)) - 1) : lanes;
}

// Whether one of the kept boxes suppresses `behind`; each lane of `reach` holds its reach. Where
// the judge decides pairs one by one, boxes for which admits(ahead) is false are skipped.
template <class Judge, class Admits>
HWY_INLINE bool AnySuppresses(const BoxCells::Boxes& kept, const FloatBoxes& reach, int64_t behind,
                              const Judge& judge, int64_t& pairs, const Admits& admits) {
  for (uint32_t i = 0; i < kept.count; i += static_cast<uint32_t>(FloatLanes())) {
    const FloatBoxes ahead = BoxesAt(kept, i);
    uint32_t lanes = LanesOf(kept, i, Overlap(ahead, reach));
    if (lanes == 0) continue;
    if constexpr (Judge::kInVectors) {
      pairs += std::popcount(lanes);
      if ((lanes & MaskBits(judge.Suppressing(ahead, reach, behind))) != 0) return true;
    } else {
      for (; lanes != 0; lanes &= lanes - 1) {
        const uint32_t box = kept.box[i + static_cast<uint32_t>(std::countr_zero(lanes))];
        if (admits(box) && judge.Suppresses(box, behind, pairs)) return true;
      }
    }
  }
  return false;
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
