// SPDX-License-Identifier: Apache-2.0
//
// Which of many boxes suppress a box: inter / ((area + area') - inter) > nms_thresh, each step
// rounded. That is nearly inter > s (area + area') with s = nms_thresh / (1 + nms_thresh): the
// roundings change the quotient by less than 2^-21 of it, for the areas of proposals are 1 or more
// and inter is at most each of them. So a factor a little below s finds all that may suppress, one
// a little above those that do, and only for what lies between the quotient has to be known. For
// kernels only.
#pragma once

#include "math/bit_cast.h"
#include "ops/generate_proposals_v2/mlu_team.h"

namespace detops::ops {

// Many boxes in NRAM.
struct BoxArrays {
  float *x1, *y1, *x2, *y2;
  float *least, *most;  // area times call.area_least, .area_most

  __mlu_func__ BoxArrays(mlu::Nram& nram, int capacity)
      : x1(nram.Array<float>(capacity)),
        y1(nram.Array<float>(capacity)),
        x2(nram.Array<float>(capacity)),
        y2(nram.Array<float>(capacity)),
        least(nram.Array<float>(capacity)),
        most(nram.Array<float>(capacity)) {}

  // What follows from the coordinates of `count` boxes from `at` on. `w` and `h` are scratch.
  __mlu_func__ void SetAreas(const Call& call, int at, int count, float* w, float* h) {
    __bang_sub(w, x2 + at, x1 + at, count);
    __bang_sub(h, y2 + at, y1 + at, count);
    __bang_add_scalar(w, w, call.offset, count);
    __bang_add_scalar(h, h, call.offset, count);
    __bang_mul(w, w, h, count);
    __bang_mul_scalar(least + at, w, call.area_least, count);
    // Infinite where the sum of two areas may be: then none is sure.
    __bang_mul_scalar(w, w, 4.0f, count);
    __bang_mul_scalar(most + at, w, call.area_most * 0.25f, count);
  }

  // Moves those among `count` boxes from `from` on that the mask has to the front of them.
  __mlu_func__ int Pack(int from, int count, const float* mask) {
    __bang_filter(x1 + from, x1 + from, mask, count);
    __bang_filter(y1 + from, y1 + from, mask, count);
    __bang_filter(x2 + from, x2 + from, mask, count);
    __bang_filter(y2 + from, y2 + from, mask, count);
    __bang_filter(least + from, least + from, mask, count);
    return static_cast<int>(__bang_filter(most + from, most + from, mask, count));
  }
};

struct OneBox {
  float x1, y1, x2, y2, least, most;

  __mlu_func__ OneBox(const BoxArrays& boxes, int i)
      : x1(boxes.x1[i]),
        y1(boxes.y1[i]),
        x2(boxes.x2[i]),
        y2(boxes.y2[i]),
        least(boxes.least[i]),
        most(boxes.most[i]) {}
};

// significand * 2^(exponent - 150) of a positive number.
struct FloatParts {
  uint64_t significand;
  int exponent;

  __mlu_func__ explicit FloatParts(float value) {
    const uint32_t bits = math::BitCast<uint32_t>(value);
    exponent = static_cast<int>(bits >> 23);
    significand = bits & 0x7fffffu;
    if (exponent == 0) {
      exponent = 1;
    } else {
      significand |= 0x800000u;
    }
  }
};

// a / b > t, the quotient rounded to a float; t > 0. That is a / b beyond the middle between t and
// the next float, or there if t is the odd one of the two: exactly, in integers.
__mlu_func__ bool QuotientExceeds(float a, float b, float t) {
  constexpr float kInfinity = math::BitCast<float>(0x7f800000u);
  if (!(a > 0.0f && b >= 0.0f) || t == kInfinity) return false;
  if (a == kInfinity || b == kInfinity) return a < b ? false : b < kInfinity;
  if (b == 0.0f) return true;
  const FloatParts x(a), y(b), z(t);
  const uint64_t right = (2 * z.significand + 1) * y.significand;  // below 2^49
  const int shift = x.exponent + 151 - z.exponent - y.exponent;
  // left * 2^shift against right: whole numbers first, for they don't overflow.
  uint64_t left = x.significand, scaled = right;
  if (shift >= 0) {
    const uint64_t whole = shift < 64 ? right >> shift : 0;
    if (left != whole) return left > whole;
    left <<= shift < 64 ? shift : 0;
  } else {
    const uint64_t whole = shift > -64 ? left >> -shift : 0;
    if (right != whole) return right < whole;
    scaled <<= shift > -64 ? -shift : 0;
  }
  return left > scaled || (left == scaled && (z.significand & 1) != 0);
}

// Whether one box suppresses the other, as math::BoxNmsOverlap has it.
__mlu_func__ bool Suppresses(const Call& call, const OneBox& a, const OneBox& b) {
  const float off = call.offset;
  const auto area = [&](const OneBox& box) {
    return (box.x2 - box.x1 + off) * (box.y2 - box.y1 + off);
  };
  float w = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 > b.x1 ? a.x1 : b.x1) + off;
  float h = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 > b.y1 ? a.y1 : b.y1) + off;
  w = w > 0.0f ? w : 0.0f;
  h = h > 0.0f ? h : 0.0f;
  const float inter = w * h;
  return QuotientExceeds(inter, (area(a) + area(b)) - inter, call.nms_thresh);
}

// Compares one box with many.
class Overlaps {
 public:
  float* hits;  // after Find: 1 for those that suppress the box

  __mlu_func__ Overlaps(const Call& call, mlu::Nram& nram, int capacity)
      : call_(call),
        w_(nram.Array<float>(capacity)),
        h_(nram.Array<float>(capacity)),
        x_(nram.Array<float>(capacity)),
        y_(nram.Array<float>(capacity)),
        greatest_(nram.Array<float>(32)) {
    hits = x_;
  }

  // Whether any of the first `count` boxes suppresses `box`.
  __mlu_func__ bool Find(const BoxArrays& boxes, int count, const OneBox& box) {
    if (count == 0) return false;
    __bang_maxequal_scalar(w_, boxes.x1, box.x1, count);
    __bang_maxequal_scalar(h_, boxes.y1, box.y1, count);
    __bang_minequal_scalar(x_, boxes.x2, box.x2, count);
    __bang_minequal_scalar(y_, boxes.y2, box.y2, count);
    __bang_sub(w_, x_, w_, count);
    __bang_sub(h_, y_, h_, count);
    if (call_.offset != 0.0f) {
      __bang_add_scalar(w_, w_, call_.offset, count);
      __bang_add_scalar(h_, h_, call_.offset, count);
    }
    // One factor suffices: the product is then not positive where they don't overlap.
    __bang_maxequal_scalar(w_, w_, 0.0f, count);
    __bang_fusion(FUSION_FMS, y_, w_, h_, boxes.least, count);
    __bang_max(greatest_, y_, count);
    if (!(greatest_[0] > box.least)) return false;
    __bang_fusion(FUSION_FMS, x_, w_, h_, boxes.most, count);
    __bang_gt_scalar(y_, y_, box.least, count);
    __bang_gt_scalar(x_, x_, box.most, count);
    const unsigned possible = __bang_count(y_, count), sure = __bang_count(x_, count);
    if (sure < possible) Decide(boxes, count, box);
    return sure > 0 || __bang_count(x_, count) > 0;
  }

 private:
  // Those that are possible (y_) but not sure (x_).
  __mlu_func__ void Decide(const BoxArrays& boxes, int count, const OneBox& box) {
    __bang_sub(y_, y_, x_, count);
    __bang_incseq(h_, count);
    const int doubtful = static_cast<int>(__bang_filter(h_, h_, y_, count));
    for (int i = 0; i < doubtful; ++i) {
      const int at = static_cast<int>(h_[i]);
      if (Suppresses(call_, OneBox(boxes, at), box)) x_[at] = 1.0f;
    }
  }

  const Call& call_;
  float *w_, *h_, *x_, *y_, *greatest_;
};

}  // namespace detops::ops
