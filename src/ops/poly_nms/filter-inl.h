// SPDX-License-Identifier: Apache-2.0
//
// math::QuadPair with four edges per vector, in double, so that hardly any pair is doubtful.
// Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_OPS_POLY_NMS_FILTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_POLY_NMS_FILTER_INL_H_
#undef DETOPS_OPS_POLY_NMS_FILTER_INL_H_
#else
#define DETOPS_OPS_POLY_NMS_FILTER_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "math/quad_filter.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::poly_nms::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using math::FilterQuad;
using math::QuadBounds;
using math::Verdict;

// Corners relative to a local origin, the first repeated at the end.
struct Corners {
  HWY_ALIGN double x[8], y[8];
};

HWY_INLINE void LoadCorners(const FilterQuad& q, double origin_x, double origin_y, Corners& c) {
  for (int i = 0; i < 4; ++i) {
    c.x[i] = q.corner[2 * i] - origin_x;
    c.y[i] = q.corner[2 * i + 1] - origin_y;
  }
  c.x[4] = c.x[0];
  c.y[4] = c.y[0];
}

struct EdgeSums {
  double shared;  // this polygon's contribution to twice the shared area
  double area;    // twice its own area
  bool doubtful;
};

// Green's theorem: the shared area is a sum over the edges of both polygons, each clipped to the
// part inside the other polygon, from t0 to t1. An edge that runs along a line of the other
// polygon, closer than `near`, could be counted twice or not at all, so the pair is doubtful.
HWY_INLINE EdgeSums SumEdges(const Corners& p, const Corners& other, double near) {
  const hn::CappedTag<double, 4> tag;
  using V = hn::Vec<decltype(tag)>;
  const V zero = hn::Zero(tag), one = hn::Set(tag, 1.0), none = hn::Set(tag, -1.0);
  V shared = zero, area = zero;
  bool doubtful = false;
  for (size_t edge = 0; edge < 4; edge += hn::Lanes(tag)) {
    const V ax = hn::Load(tag, p.x + edge), ay = hn::Load(tag, p.y + edge);
    const V bx = hn::LoadU(tag, p.x + edge + 1), by = hn::LoadU(tag, p.y + edge + 1);
    V t0 = zero, t1 = one, nearest = hn::Set(tag, 1e300);
    for (int k = 0; k < 4; ++k) {
      const V cx = hn::Set(tag, other.x[k]), cy = hn::Set(tag, other.y[k]);
      const V nx = hn::Sub(hn::Set(tag, other.x[k + 1]), cx);
      const V ny = hn::Sub(hn::Set(tag, other.y[k + 1]), cy);
      const V side_a = hn::Sub(hn::Mul(nx, hn::Sub(ay, cy)), hn::Mul(ny, hn::Sub(ax, cx)));
      const V side_b = hn::Sub(hn::Mul(nx, hn::Sub(by, cy)), hn::Mul(ny, hn::Sub(bx, cx)));
      nearest = hn::Min(nearest, hn::Max(hn::Abs(side_a), hn::Abs(side_b)));
      const auto a_out = hn::Lt(side_a, zero), b_out = hn::Lt(side_b, zero);
      const V t = hn::Div(side_a, hn::Sub(side_a, side_b));
      t0 = hn::IfThenElse(hn::AndNot(b_out, a_out), hn::Max(t0, t), t0);
      t1 = hn::IfThenElse(hn::AndNot(a_out, b_out), hn::Min(t1, t), t1);
      t1 = hn::IfThenElse(hn::And(a_out, b_out), none, t1);
    }
    const V cross = hn::Sub(hn::Mul(ax, by), hn::Mul(ay, bx));
    shared = hn::Add(shared, hn::Mul(hn::Max(hn::Sub(t1, t0), zero), cross));
    area = hn::Add(area, cross);
    doubtful = doubtful || !hn::AllTrue(tag, hn::Ge(nearest, hn::Set(tag, near)));
  }
  return {hn::GetLane(hn::SumOfLanes(tag, shared)), hn::GetLane(hn::SumOfLanes(tag, area)),
          doubtful};
}

// IoU > threshold, where the answer is certain. With coordinates of at most L relative to the
// origin and scale = L^2, the error of a side_ value is below 1e-14 scale. As edges closer than
// 1e-6 scale are doubtful, the error of t is below 1e-8, and that of the shared area below 1e-7
// scale. QuadIoU's own error is far smaller. docs/numerics.md has the derivation.
HWY_INLINE Verdict Judge(const FilterQuad& a, const FilterQuad& b, const QuadBounds& bounds_a,
                         const QuadBounds& bounds_b, double threshold) {
  const double width =
      static_cast<double>(std::max(bounds_a.x2, bounds_b.x2)) - std::min(bounds_a.x1, bounds_b.x1);
  const double height =
      static_cast<double>(std::max(bounds_a.y2, bounds_b.y2)) - std::min(bounds_a.y1, bounds_b.y1);
  const double scale = width * width + height * height;
  Corners corners_a, corners_b;
  LoadCorners(a, a.corner[0], a.corner[1], corners_a);
  LoadCorners(b, a.corner[0], a.corner[1], corners_b);
  const EdgeSums sum_a = SumEdges(corners_a, corners_b, 1e-6 * scale);
  const EdgeSums sum_b = SumEdges(corners_b, corners_a, 1e-6 * scale);
  if (sum_a.doubtful || sum_b.doubtful) return Verdict::kDoubtful;
  const double excess =
      (sum_a.shared + sum_b.shared) * (1.0 + threshold) - threshold * (sum_a.area + sum_b.area);
  const double error = 2e-7 * scale * (1.0 + threshold);
  if (excess > error) return Verdict::kYes;
  return excess < -error ? Verdict::kNo : Verdict::kDoubtful;
}

}  // namespace detops::ops::poly_nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
