// SPDX-License-Identifier: Apache-2.0
//
// The coordinates in which quadrilaterals are bounded, so that few pairs remain whose bounds
// overlap. Bounds along x and y say little about long thin boxes that lie askew. Where a sample of
// the boxes shows that, all are bounded along the axes of one of them, or by their directions
// alone: strips that cross at more than a small angle share too little of their area.
// A frame changes which pairs are examined, never what is decided.
#pragma once

#include <cmath>

#include "math/quad_filter.h"

namespace detops::math {

struct QuadFrame {
  enum class Kind : int32_t { kPlain, kAligned, kDirections };
  Kind kind = Kind::kPlain;
  // Where aligned with a strip: the origin, and the vectors whose products with a point are its
  // coordinates. They are at right angles, and the product of their lengths is 1.
  Point<double> origin = {0.0, 0.0}, along = {1.0, 0.0}, across = {0.0, 1.0};
};

// Bounds in an aligned frame. Such a frame leaves areas as they are, so tests by areas and bounds
// hold.
DETOPS_HD QuadBounds AlignedReach(const QuadFrame& frame, const float* q) {  // [8]
  const auto sum = [](double x, double y) { return std::fabs(x) + std::fabs(y); };
  double u1 = 0.0, u2 = 0.0, v1 = 0.0, v2 = 0.0, far = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double dx = q[2 * i] - frame.origin.x, dy = q[2 * i + 1] - frame.origin.y;
    const double u = dx * frame.along.x + dy * frame.along.y;
    const double v = dx * frame.across.x + dy * frame.across.y;
    u1 = i == 0 || u < u1 ? u : u1;
    u2 = i == 0 || u > u2 ? u : u2;
    v1 = i == 0 || v < v1 ? v : v1;
    v2 = i == 0 || v > v2 ? v : v2;
    far = Max(far, sum(dx, dy));
  }
  // Beyond what floats can tell apart, everything overlaps.
  constexpr float kEnd = 1e38f;
  const double most = Max(Max(-u1, u2), Max(-v1, v2));
  if (!(most < 0.1 * kEnd)) return {-kEnd, -kEnd, kEnd, kEnd};
  // More than the errors here and those of rounding to float; also gives both sides a length.
  const double error = 1e-14 * far;
  const double error_u = error * sum(frame.along.x, frame.along.y) + 1e-30;
  const double error_v = error * sum(frame.across.x, frame.across.y) + 1e-30;
  const auto low = [](double x, double margin) {
    return static_cast<float>(x - margin - 1e-7 * std::fabs(x));
  };
  const auto high = [](double x, double margin) {
    return static_cast<float>(x + margin + 1e-7 * std::fabs(x));
  };
  return {low(u1, error_u), low(v1, error_v), high(u2, error_u), high(v2, error_v)};
}

// Squares around points of the unit circle, at twice the angle of the box: the points of two lines
// that cross at an angle p are 2 sin(p) apart. With areas A and B, strips of widths u and v share
// at most u*v/sin(p). That is enough only if sin(p) <= u*v*(1+t)/(t*(A+B)), which is at most
// (u*u/A + v*v/B)*(1+t)/(4*t): one half of the sum for each box.
DETOPS_HD QuadBounds DirectionReach(const FilterQuad& quad, float threshold) {
  constexpr double kAll = 4.0;  // overlaps every other
  constexpr QuadBounds kEverywhere = {-kAll, -kAll, kAll, kAll};
  if (!(quad.strip > 0.0f && LeastAreaToSuppress(quad.area, threshold) > 0.0)) return kEverywhere;
  const double x = static_cast<double>(quad.x[1]) - quad.x[0];
  const double y = static_cast<double>(quad.y[1]) - quad.y[0];
  const double squared_length = x * x + y * y, strip = quad.strip;
  const double t = threshold;
  const double exact = 2.0 * strip * strip / (squared_length * quad.area) * (1.0 + t) / (4.0 * t);
  if (!(exact < 1.0)) return kEverywhere;
  const double half_side = 1.001 * exact + 1e-6;  // more than all rounding errors
  const double cosine = (x * x - y * y) / squared_length, sine = 2.0 * x * y / squared_length;
  return {static_cast<float>(cosine - half_side), static_cast<float>(sine - half_side),
          static_cast<float>(cosine + half_side), static_cast<float>(sine + half_side)};
}

// Only quadrilaterals for which these overlap can have an IoU above the threshold. `plain` is what
// PrepareQuad gave.
DETOPS_HD QuadBounds ReachIn(const QuadFrame& frame, const FilterQuad& quad, const float* q,
                             const QuadBounds& plain, float threshold) {  // [8]
  if (frame.kind == QuadFrame::Kind::kPlain || plain.x1 > plain.x2) return plain;
  return frame.kind == QuadFrame::Kind::kAligned ? AlignedReach(frame, q)
                                                 : DirectionReach(quad, threshold);
}

// How a frame is chosen: some are tried on a sample of the boxes. Where there are few boxes, all
// are compared sooner than that.
constexpr int64_t kLeastFramed = 2048;
constexpr int kFrameSample = 64;
constexpr int kFrames = 10;

// The number of the i-th box of the sample.
DETOPS_HD int64_t FrameSampleAt(int64_t i, int64_t count) { return i * count / kFrameSample; }

// 0: plain; 1: by directions; others: aligned with a box of the sample, if that is elongated.
DETOPS_HD QuadFrame NumberedFrame(int number, const FilterQuad* sample) {  // [kFrameSample]
  constexpr int kAligned = kFrames - 2;
  if (number == 0) return {};
  if (number == 1) return {QuadFrame::Kind::kDirections};
  const FilterQuad& quad = sample[(number - 2) * (kFrameSample / kAligned)];
  if (!(quad.strip > 0.0f)) return {};
  const double x = static_cast<double>(quad.x[1]) - quad.x[0];
  const double y = static_cast<double>(quad.y[1]) - quad.y[0];
  // Squeezed along the strip and stretched across it, so that it becomes about as wide as long:
  // cells are square.
  const double length = std::sqrt(x * x + y * y), width = quad.strip / length;
  const double stretch = std::sqrt(length / width);
  return {QuadFrame::Kind::kAligned,
          {quad.x[0], quad.y[0]},
          {x / length / stretch, y / length / stretch},
          {-y / length * stretch, x / length * stretch}};
}

// Whether so many pairs of the sample overlap that another frame is worth a try.
DETOPS_HD bool TooManyOverlap(int overlaps) {
  constexpr int kPairs = kFrameSample * (kFrameSample - 1) / 2;
  return overlaps > kPairs / 16;
}

// The number of the frame to take, given how many pairs of the sample overlap in each. It has to
// be much better than the plain one, whose pairs are decided a little faster.
DETOPS_HD int BestFrame(const int* overlaps) {  // [kFrames]
  int best = 0;
  for (int i = 1; i < kFrames; ++i) best = overlaps[i] < overlaps[best] ? i : best;
  return TooManyOverlap(overlaps[0]) && 2 * overlaps[best] < overlaps[0] ? best : 0;
}

}  // namespace detops::math
