// SPDX-License-Identifier: Apache-2.0
//
// Bilinear interpolation on a feature map: finding where to read and with which weights is separate
// from the blending, which is repeated for every channel of a sample.
#if defined(DETOPS_MATH_BILINEAR_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_MATH_BILINEAR_H_
#undef DETOPS_MATH_BILINEAR_H_
#else
#define DETOPS_MATH_BILINEAR_H_
#endif

#include <cstdint>

#include "math/host_device.h"
#include "math/per_target.h"

DETOPS_BEGIN_PER_TARGET_MATH

// Where a sample has a value, along one axis. Written so that NaN is outside.
template <class Index>
DETOPS_HD bool IsInside(float at, Index size) {
  return at >= -1.0f && at <= static_cast<float>(size);
}

// Two neighbouring pixels along one axis.
template <class Index>
struct AxisSample {
  Index low, high;
  float high_weight;  // low has the rest of 1
};

// For positions inside.
template <class Index>
DETOPS_HD AxisSample<Index> AxisAt(float at, Index size) {
  if (at <= 0.0f) at = 0.0f;
  AxisSample<Index> s;
  s.low = static_cast<Index>(at);
  if (s.low >= size - 1) {
    s.low = s.high = size - 1;
    at = static_cast<float>(s.low);
  } else {
    s.high = s.low + 1;
  }
  s.high_weight = at - static_cast<float>(s.low);
  return s;
}

template <class Index>
struct BilinearSample {
  bool inside;  // else the value is 0 and nothing is read
  Index y_low, x_low, y_high, x_high;
  float w1, w2, w3, w4;  // of (low,low), (low,high), (high,low), (high,high) in (y,x)
};

// Of two positions inside.
template <class Index>
DETOPS_HD BilinearSample<Index> SampleAt(const AxisSample<Index>& y, const AxisSample<Index>& x) {
  const float ly = y.high_weight, lx = x.high_weight;
  const float hy = 1.0f - ly, hx = 1.0f - lx;
  return {true, y.low, x.low, y.high, x.high, hy * hx, hy * lx, ly * hx, ly * lx};
}

template <class Index>
DETOPS_HD BilinearSample<Index> SampleAt(float y, float x, Index height, Index width) {
  if (!(IsInside(y, height) && IsInside(x, width))) return {};
  return SampleAt(AxisAt(y, height), AxisAt(x, width));
}

template <class F>
DETOPS_HD F Blend(F w1, F w2, F w3, F w4, F v1, F v2, F v3, F v4) {
  return ((w1 * v1 + w2 * v2) + w3 * v3) + w4 * v4;
}

DETOPS_END_PER_TARGET_MATH

#endif
