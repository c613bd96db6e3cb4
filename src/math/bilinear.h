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

template <class Index>
struct BilinearSample {
  bool inside;  // else the value is 0 and nothing is read
  Index y_low, x_low, y_high, x_high;
  float w1, w2, w3, w4;  // of (low,low), (low,high), (high,low), (high,high) in (y,x)
};

template <class Index>
DETOPS_HD BilinearSample<Index> SampleAt(float y, float x, Index height, Index width) {
  BilinearSample<Index> s = {};
  // Written so that NaN counts as outside.
  s.inside =
      y >= -1.0f && y <= static_cast<float>(height) && x >= -1.0f && x <= static_cast<float>(width);
  if (!s.inside) return s;
  if (y <= 0.0f) y = 0.0f;
  if (x <= 0.0f) x = 0.0f;
  s.y_low = static_cast<Index>(y);
  s.x_low = static_cast<Index>(x);
  if (s.y_low >= height - 1) {
    s.y_low = s.y_high = height - 1;
    y = static_cast<float>(s.y_low);
  } else {
    s.y_high = s.y_low + 1;
  }
  if (s.x_low >= width - 1) {
    s.x_low = s.x_high = width - 1;
    x = static_cast<float>(s.x_low);
  } else {
    s.x_high = s.x_low + 1;
  }
  const float ly = y - static_cast<float>(s.y_low), lx = x - static_cast<float>(s.x_low);
  const float hy = 1.0f - ly, hx = 1.0f - lx;
  s.w1 = hy * hx;
  s.w2 = hy * lx;
  s.w3 = ly * hx;
  s.w4 = ly * lx;
  return s;
}

template <class F>
DETOPS_HD F Blend(F w1, F w2, F w3, F w4, F v1, F v2, F v3, F v4) {
  return ((w1 * v1 + w2 * v2) + w3 * v3) + w4 * v4;
}

DETOPS_END_PER_TARGET_MATH

#endif
