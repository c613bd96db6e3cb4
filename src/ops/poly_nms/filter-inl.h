// SPDX-License-Identifier: Apache-2.0
//
// math::QuadPair with the edges of both quadrilaterals in a vector.
// Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_OPS_POLY_NMS_FILTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_POLY_NMS_FILTER_INL_H_
#undef DETOPS_OPS_POLY_NMS_FILTER_INL_H_
#else
#define DETOPS_OPS_POLY_NMS_FILTER_INL_H_
#endif

#include "cpu/lane-inl.h"
#include "math/quad_pair.h"

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::poly_nms::HWY_NAMESPACE {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;
using math::FilterQuad;
using math::QuadBounds;

// Blocks of four lanes have the edges of `a` and of `b` in turn; the only block of a short vector
// has those of `a`.
HWY_INLINE EdgeSums<FloatLane> SumInVector(const FilterQuad& a, const FilterQuad& b,
                                           const QuadPair<float>& pair) {
  const FloatTag tag;
  const FloatLane origin_x = Broadcast(pair.origin_x), origin_y = Broadcast(pair.origin_y);
  const FloatVec ax = (FloatLane{hn::LoadDup128(tag, a.x)} - origin_x).v;
  const FloatVec ay = (FloatLane{hn::LoadDup128(tag, a.y)} - origin_y).v;
  const FloatVec bx = (FloatLane{hn::LoadDup128(tag, b.x)} - origin_x).v;
  const FloatVec by = (FloatLane{hn::LoadDup128(tag, b.y)} - origin_y).v;
  const FloatVec x = hn::OddEvenBlocks(bx, ax), y = hn::OddEvenBlocks(by, ay);
  const FloatVec other_x = hn::OddEvenBlocks(ax, bx), other_y = hn::OddEvenBlocks(ay, by);
  const math::Point<FloatLane> other[4] = {
      {{hn::Broadcast<0>(other_x)}, {hn::Broadcast<0>(other_y)}},
      {{hn::Broadcast<1>(other_x)}, {hn::Broadcast<1>(other_y)}},
      {{hn::Broadcast<2>(other_x)}, {hn::Broadcast<2>(other_y)}},
      {{hn::Broadcast<3>(other_x)}, {hn::Broadcast<3>(other_y)}}};
  return SumClipped({{x}, {y}}, {{hn::Shuffle0321(x)}, {hn::Shuffle0321(y)}}, other,
                    Broadcast(pair.side_error), Broadcast(0.0f), Broadcast(1.0f));
}

// IoU > threshold, where the answer is certain.
HWY_INLINE math::Verdict Judge(const FilterQuad& a, const FilterQuad& b, const QuadBounds& bounds_a,
                               const QuadBounds& bounds_b, float threshold) {
  const FloatTag tag;
  const QuadPair<float> pair(a, b, bounds_a, bounds_b);
  EdgeSums<FloatLane> sums = SumInVector(a, b, pair);
  if (FloatLanes() == 4) sums.Add(SumInVector(b, a, pair));
  // Wide vectors have every edge more than once.
  const float share =
      FloatLanes() <= kPairEdges ? 1.0f : kPairEdges / static_cast<float>(FloatLanes());
  const auto sum = [&](FloatLane x) HWY_ATTR {
    const FloatVec v = x.v;
    return share * hn::GetLane(hn::SumOfLanes(tag, v));
  };
  const FloatVec nearest = sums.nearest.v;
  return pair.Judge({sum(sums.shared), sum(sums.area), sum(sums.error),
                     hn::GetLane(hn::MinOfLanes(tag, nearest))},
                    threshold);
}

}  // namespace detops::ops::poly_nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
