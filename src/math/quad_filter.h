// SPDX-License-Identifier: Apache-2.0
//
// "Is the IoU of these two quadrilaterals above the threshold?" in float, with a bound on the
// error: the answer is yes, no, or doubtful, and only the doubtful pairs need math::QuadIoU. The
// decision is that of QuadIoU, always (docs/numerics.md has the bound).
#pragma once

#include "math/quad.h"

namespace detops::math {

enum class Verdict { kNo, kYes, kDoubtful };

// A quadrilateral as the filter wants it.
struct alignas(16) FilterQuad {
  float corner[8];  // counter-clockwise where regular
  float area;       // negative: not regular (concave, flat, not finite): only QuadIoU may judge it
};

// Where it may overlap others: x1 > x2 where nowhere, having no area or no finite corners.
DETOPS_HD QuadBounds ReachOf(const float* q) {  // [8]
  constexpr QuadBounds kNowhere = {1.0f, 1.0f, -1.0f, -1.0f};
  if (!QuadIsFinite(q)) return kNowhere;
  const QuadBounds b = BoundsOf(q);
  return b.x1 < b.x2 && b.y1 < b.y2 ? b : kNowhere;  // no width or no height: no area
}

// Sets the bounds too, to its reach.
DETOPS_HD FilterQuad PrepareQuad(const float* q, QuadBounds& bounds) {  // [8]
  // A corner's turn and the whole area, relative to the square of the longer side, from which on
  // the filter's reasoning holds.
  constexpr double kLeastTurn = 1e-6, kLeastArea = 1e-4;
  FilterQuad result;
  for (int i = 0; i < 8; ++i) result.corner[i] = q[i];
  result.area = -1.0f;
  const QuadBounds b = bounds = ReachOf(q);
  if (b.x1 > b.x2) return result;

  Point p[4];
  for (int i = 0; i < 4; ++i) {
    p[i] = {static_cast<double>(q[2 * i]) - q[0], static_cast<double>(q[2 * i + 1]) - q[1]};
  }
  const double turn_0 = Cross(p[0], p[1], p[2]), turn_1 = Cross(p[1], p[2], p[3]);
  const double turn_2 = Cross(p[2], p[3], p[0]), turn_3 = Cross(p[3], p[0], p[1]);
  const double width = static_cast<double>(b.x2) - b.x1, height = static_cast<double>(b.y2) - b.y1;
  const double side = width > height ? width : height;
  const double least = kLeastTurn * side * side;
  const bool left = turn_0 > least && turn_1 > least && turn_2 > least && turn_3 > least;
  const bool right = turn_0 < -least && turn_1 < -least && turn_2 < -least && turn_3 < -least;
  const double twice_area = turn_0 + turn_2;
  if (!left && !right) return result;
  if (!((left ? twice_area : -twice_area) > kLeastArea * side * side)) return result;
  if (right) {  // clockwise: turn it round
    for (int i = 0; i < 4; ++i) {
      result.corner[2 * i] = q[2 * (3 - i)];
      result.corner[2 * i + 1] = q[2 * (3 - i) + 1];
    }
  }
  result.area = static_cast<float>(0.5 * (left ? twice_area : -twice_area));
  return result;
}

// Whether no arrangement of two regular quadrilaterals with these areas and bounds overlaps enough:
// they share no more than the smaller area, nor more than their bounds do. The margin hides the
// errors of float; not for tiny thresholds, where it would not.
DETOPS_HD bool NeverEnough(float area_a, float area_b, const QuadBounds& a, const QuadBounds& b,
                           float threshold) {
  const float width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 > b.x1 ? a.x1 : b.x1);
  const float height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 > b.y1 ? a.y1 : b.y1);
  const float smaller = area_a < area_b ? area_a : area_b;
  const float most = smaller < width * height ? smaller : width * height;
  const float both = area_a + area_b;
  if (!(threshold > 0.01f && both > 1e-30f && both < 1e37f)) return false;  // under- or overflow
  return most * (1.0f + threshold) < 0.999f * threshold * both;
}

namespace quad_filter_internal {

template <class Real>
struct Corners {
  Real x[4], y[4];  // about a local origin
};

template <class Real>
DETOPS_HD Corners<Real> About(const float* q, Real origin_x, Real origin_y) {
  Corners<Real> c;
  for (int i = 0; i < 4; ++i) {
    c.x[i] = q[2 * i] - origin_x;
    c.y[i] = q[2 * i + 1] - origin_y;
  }
  return c;
}

template <class Real>
struct EdgeSums {
  Real shared;   // this polygon's part of twice the shared area
  Real area;     // twice its own area
  Real error;    // bound on that of `shared`, from where edges are cut
  Real nearest;  // to 0, of the values whose signs decide
};

// Two units in the last place are enough here.
DETOPS_HD float Reciprocal(float v) {
#ifdef __CUDA_ARCH__
  return __fdividef(1.0f, v);
#else
  return 1.0f / v;
#endif
}
DETOPS_HD double Reciprocal(double v) { return 1.0 / v; }

// The next corner becomes the first.
template <class Real>
DETOPS_HD void Rotate(Corners<Real>& c) {
  const Real x = c.x[0], y = c.y[0];
  for (int i = 0; i < 3; ++i) {
    c.x[i] = c.x[i + 1];
    c.y[i] = c.y[i + 1];
  }
  c.x[3] = x;
  c.y[3] = y;
}

// Green's theorem: the shared area is a sum over the edges of both polygons, each with the part of
// it inside the other polygon, from t0 to t1. `side_error` bounds the error of a side value.
template <class Real>
DETOPS_HD EdgeSums<Real> SumEdges(const Corners<Real>& p, Corners<Real> other, Real side_error) {
  Real t0[4] = {0, 0, 0, 0}, t1[4] = {1, 1, 1, 1}, spread[4] = {0, 0, 0, 0};
  Real nearest = Real(3.0e38);
  // Turned, not unrolled: on a GPU this runs once in a while, and short code is there sooner.
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int k = 0; k < 4; ++k) {
    const Real cx = other.x[0], cy = other.y[0];
    const Real nx = other.x[1] - cx, ny = other.y[1] - cy;
    Real side[4];
    for (int i = 0; i < 4; ++i) {
      side[i] = nx * (p.y[i] - cy) - ny * (p.x[i] - cx);
      const Real distance = side[i] < 0 ? -side[i] : side[i];
      nearest = distance < nearest ? distance : nearest;
    }
    for (int e = 0; e < 4; ++e) {
      const Real a = side[e], b = side[(e + 1) % 4];
      const bool a_out = a < 0, b_out = b < 0;
      const Real inverse = Reciprocal(a - b);
      const Real t = a * inverse;
      spread[e] += a_out != b_out ? side_error * (inverse < 0 ? -inverse : inverse) : 0;
      t0[e] = a_out && !b_out && t > t0[e] ? t : t0[e];
      t1[e] = b_out && !a_out && t < t1[e] ? t : t1[e];
      t1[e] = a_out && b_out ? -1 : t1[e];  // outside, and no error can bring it in
    }
    Rotate(other);
  }
  EdgeSums<Real> sums = {0, 0, 0, nearest};
  for (int e = 0; e < 4; ++e) {
    const int next = (e + 1) % 4;
    const Real cross = p.x[e] * p.y[next] - p.y[e] * p.x[next];
    const bool inside = t1[e] >= 0;
    sums.area += cross;
    sums.shared += inside && t1[e] > t0[e] ? (t1[e] - t0[e]) * cross : 0;
    sums.error += inside ? spread[e] * (cross < 0 ? -cross : cross) : 0;
  }
  return sums;
}

}  // namespace quad_filter_internal

// IoU > threshold, where the answer is certain. Both must be regular.
template <class Real>
DETOPS_HD Verdict JudgeQuads(const FilterQuad& a, const FilterQuad& b, const QuadBounds& bounds_a,
                             const QuadBounds& bounds_b, float threshold) {
  using namespace quad_filter_internal;
  const Real width = static_cast<Real>(bounds_a.x2 > bounds_b.x2 ? bounds_a.x2 : bounds_b.x2) -
                     (bounds_a.x1 < bounds_b.x1 ? bounds_a.x1 : bounds_b.x1);
  const Real height = static_cast<Real>(bounds_a.y2 > bounds_b.y2 ? bounds_a.y2 : bounds_b.y2) -
                      (bounds_a.y1 < bounds_b.y1 ? bounds_a.y1 : bounds_b.y1);
  const Real scale = width * width + height * height;
  if (!(scale > Real(1e-25) && scale < Real(1e30)))
    return Verdict::kDoubtful;  // no under-, overflow
  // A side value is wrong by less than 8 * 2^-24 scale in float; this is twice that. In double it
  // also hides the errors of QuadIoU, which has the same kinds.
  const Real side_error = (sizeof(Real) == sizeof(float) ? Real(1e-6) : Real(1e-12)) * scale;
  const Real origin_x = a.corner[0], origin_y = a.corner[1];
  Corners<Real> corners_a = About(a.corner, origin_x, origin_y);
  Corners<Real> corners_b = About(b.corner, origin_x, origin_y);
  EdgeSums<Real> sum = {0, 0, 0, Real(3.0e38)};
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int side = 0; side < 2; ++side) {
    const EdgeSums<Real> part = SumEdges(corners_a, corners_b, side_error);
    sum.shared += part.shared;
    sum.area += part.area;
    sum.error += part.error;
    sum.nearest = part.nearest < sum.nearest ? part.nearest : sum.nearest;
    const Corners<Real> swap = corners_a;
    corners_a = corners_b;
    corners_b = swap;
  }
  // From here on every sign that decided is the true one.
  if (!(sum.nearest > 2 * side_error)) return Verdict::kDoubtful;
  const Real limit = threshold;
  const Real excess = sum.shared * (1 + limit) - limit * sum.area;
  // The cuts are wrong by less than 2.5 of the spreads; products, sums and divisions by less than
  // 6 side errors.
  const Real error = (Real(2.5) * sum.error + 10 * side_error) * (1 + limit);
  if (excess > error) return Verdict::kYes;
  return excess < -error ? Verdict::kNo : Verdict::kDoubtful;
}

}  // namespace detops::math
