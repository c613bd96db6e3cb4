// SPDX-License-Identifier: Apache-2.0
//
// One region proposal: an anchor moved and scaled by its deltas, clipped to the image, and the rule
// that drops it.
#if defined(DETOPS_MATH_PROPOSAL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_MATH_PROPOSAL_H_
#undef DETOPS_MATH_PROPOSAL_H_
#else
#define DETOPS_MATH_PROPOSAL_H_
#endif

#include "math/binary64.h"
#include "math/box.h"
#include "math/exp.h"
#include "math/per_target.h"

DETOPS_BEGIN_PER_TARGET_MATH

struct ImageSize {
  float height, width;  // NaN: no upper bound
};

// The exponential of this, which is clamped for ExpOfClamped, scales a side.
DETOPS_HD float StretchExponent(float stretch, float variance) {
  constexpr float kMost = 4.1351666f;  // log(1000/16): exp stays finite
  return ClampExponent(Min(kMost, stretch * variance));
}

// Along one axis, before clipping.
struct Interval {
  float low, high;
};

DETOPS_HD Interval DecodeInterval(float anchor_low, float anchor_high, float shift,
                                  float shift_variance, float stretched, float off) {
  const float size = (anchor_high - anchor_low) + off;
  const float centre = anchor_low + 0.5f * size;
  const float new_centre = centre + shift * size * shift_variance;
  const float new_size = stretched * size;
  return {new_centre - new_size * 0.5f, (new_centre + new_size * 0.5f) - off};
}

// Min returns its second argument when the bound is NaN; both Min and Max return a NaN value.
DETOPS_HD float ClipTo(float value, float bound) { return Max(0.0f, Min(bound, value)); }

// Takes the exponentials along x and y.
DETOPS_HD Box<float> DecodeProposal(const float* anchor,    // [4] x1 y1 x2 y2
                                    const float* delta,     // [4] dx dy dw dh
                                    const float* variance,  // [4] of the deltas
                                    float stretched_x, float stretched_y, ImageSize image,
                                    float off) {
  const Interval x = DecodeInterval(anchor[0], anchor[2], delta[0], variance[0], stretched_x, off);
  const Interval y = DecodeInterval(anchor[1], anchor[3], delta[1], variance[1], stretched_y, off);
  return {ClipTo(x.low, image.width - off), ClipTo(y.low, image.height - off),
          ClipTo(x.high, image.width - off), ClipTo(y.high, image.height - off)};
}

template <class Wide = Binary64>
DETOPS_HD Box<float> DecodeProposal(const float* anchor, const float* delta, const float* variance,
                                    ImageSize image, float off) {
  return DecodeProposal(anchor, delta, variance,
                        ExpOfClamped<Wide>(StretchExponent(delta[2], variance[2])),
                        ExpOfClamped<Wide>(StretchExponent(delta[3], variance[3])), image, off);
}

// A NaN coordinate makes a length NaN, which is not large enough. So does inf - inf.
DETOPS_HD bool KeepProposal(const Box<float>& p, ImageSize image, float min_size, float off) {
  const float smallest = Max(min_size, 1.0f);
  const float w = p.x2 - p.x1 + off, h = p.y2 - p.y1 + off;
  if (!(w >= smallest && h >= smallest)) return false;
  if (off == 0.0f) return true;
  return !(p.x1 + 0.5f * w > image.width) && !(p.y1 + 0.5f * h > image.height);
}

DETOPS_END_PER_TARGET_MATH

#endif
