// SPDX-License-Identifier: Apache-2.0
//
// A box against kept ones, a vector of them at a time. Compiled once for each Highway target, hence
// the unusual guard.
#if defined(DETOPS_CPU_KEPT_BOXES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_KEPT_BOXES_INL_H_
#undef DETOPS_CPU_KEPT_BOXES_INL_H_
#else
#define DETOPS_CPU_KEPT_BOXES_INL_H_
#endif

#include <bit>

#include "cpu/box_cells.h"
#include "cpu/lane-inl.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

// Calls visit(box) for each kept box that overlaps `query`, until it returns true; whether it did.
template <class Visit>
HWY_INLINE bool AnyOverlapping(const BoxCells::Kept& kept, const Bounds& query,
                               const Visit& visit) {
  const FloatTag tag;
  const FloatVec x1 = hn::Set(tag, query.x1), y1 = hn::Set(tag, query.y1);
  const FloatVec x2 = hn::Set(tag, query.x2), y2 = hn::Set(tag, query.y2);
  for (uint32_t i = 0; i < kept.count; i += static_cast<uint32_t>(FloatLanes())) {
    const auto at = [&](const float* p) HWY_ATTR { return hn::LoadU(tag, p + i); };
    const auto overlap_x = hn::And(hn::Lt(at(kept.x1), x2), hn::Lt(x1, at(kept.x2)));
    const auto overlap_y = hn::And(hn::Lt(at(kept.y1), y2), hn::Lt(y1, at(kept.y2)));
    const auto overlaps = hn::And(overlap_x, overlap_y);
    if (HWY_LIKELY(hn::AllFalse(tag, overlaps))) continue;
    auto lanes = static_cast<uint32_t>(MaskBits(overlaps));
    // Behind the last one may be what another thread is writing: those lanes don't count.
    if (kept.count - i < FloatLanes()) lanes &= (uint32_t{1} << (kept.count - i)) - 1;
    for (; lanes != 0; lanes &= lanes - 1) {
      if (visit(kept.box[i + static_cast<uint32_t>(std::countr_zero(lanes))])) return true;
    }
  }
  return false;
}

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
