// SPDX-License-Identifier: Apache-2.0
//
// Overlaps of many pairs of boxes in NRAM (BANG C).
//
// Well-formed boxes without an offset go a shorter way, which changes no bit of the result: a
// height below 0 needs no limit if its product with the width has one, and the union is never below
// the offset, because inter is at most the smaller area, also after rounding.
//
// An instruction waits for the result of the one before it: where possible, independent ones come
// in between.
#pragma once

#include "mlu/divide.h"
#include "ops/bbox_overlaps/mlu.h"
#include "ops/bbox_overlaps/mlu_boxes.h"

namespace detops::ops::bbox_overlaps {

// Vectors beside the boxes: lengths and scratch, and two of results, one of which is being stored.
struct Work {
  static constexpr int kScratch = 2;  // where the scratch of divisions begins
  static constexpr int kResults = kScratch + (mlu::kDivideScratch > 2 ? mlu::kDivideScratch : 2);
  static constexpr int kVectors = kResults + 2;

  float* memory;
  int length;  // of a vector

  __mlu_func__ float* Vector(int i) const { return memory + i * length; }

  // Halves share the last vector; their quotients are in the one before it.
  __mlu_func__ void* Results(bool half_results, int parity) const {
    if (half_results) return reinterpret_cast<half*>(Vector(kResults + 1)) + parity * length;
    return Vector(kResults + parity);
  }
  __mlu_func__ float* Quotients(bool half_results, void* results) const {
    return half_results ? Vector(kResults) : static_cast<float*>(results);
  }
};

// (area1+area2)-inter, with the sign that divisors have: as areas have it.
constexpr mluFusionOp_t kUnion = mlu::kDivisorSign > 0 ? FUSION_FAS : FUSION_FAA;

// max(base, off) with that sign.
__mlu_func__ void LimitBase(float* base, const float* src, float off, int count) {
  if (mlu::kDivisorSign > 0) {
    __bang_maxequal_scalar(base, src, off, count);
  } else {
    __bang_minequal_scalar(base, src, -off, count);
  }
}

// inter / base. In range: see mlu/divide.h.
__mlu_func__ void StoreOverlaps(const float* inter, const float* base, bool in_range,
                                bool half_results, const Work& work, void* results, int count) {
  float* const quotients = work.Quotients(half_results, results);
  float* const scratch = work.Vector(Work::kScratch);
  if (in_range) {
    mlu::DivideBySigned(quotients, inter, base, scratch, count);
  } else {
    mlu::Divide(quotients, inter, base, scratch, count);
    if (mlu::kDivisorSign < 0) __bang_mul_scalar(quotients, quotients, -1.0f, count);
  }
  if (half_results) __bang_float2half_rn(static_cast<half*>(results), quotients, count);
}

// One box against all others, to `results`. It is the first of each pair, or the second.
template <bool kOneIsFirst>
__mlu_func__ void Overlaps(const OneBox& one, const Boxes& many, const BboxOverlapsMlu& call,
                           bool well_formed, const Work& work, void* results) {
  const int n = many.count;
  const float off = call.offset;
  float* const quotients = work.Quotients(call.half, results);
  float* const w = work.Vector(0);
  float* const left = work.Vector(1);
  float* const h = work.Vector(2);
  float* const top = work.Vector(3);
  // A NaN in `many` stays: it is the first operand.
  __bang_minequal_scalar(w, many.x2, one.x2, n);
  __bang_maxequal_scalar(left, many.x1, one.x1, n);
  __bang_minequal_scalar(h, many.y2, one.y2, n);
  __bang_fusion(FUSION_FSA, w, w, left, off, n, n);
  __bang_maxequal_scalar(top, many.y1, one.y1, n);
  __bang_relu(w, w, n);
  float* const inter = w;
  if (well_formed && off == 0.0f) {
    __bang_fusion(FUSION_FSM, inter, h, top, w, n, n);
    __bang_relu(inter, inter, n);
  } else {
    __bang_fusion(FUSION_FSA, h, h, top, off, n, n);
    __bang_relu(h, h, n);
    __bang_mul(inter, w, h, n);
  }
  float* const base = left;
  if (!call.iof) {
    __bang_fusion(kUnion, base, many.area, one.area, inter, n, n);
    if (!well_formed) LimitBase(base, base, off, n);
  } else if (!kOneIsFirst) {
    LimitBase(base, many.area, off, n);
  } else {
    const float area = mlu::kDivisorSign * one.area;
    const float first = mlu::kDivisorSign * (off > area ? off : area);
    if (well_formed) {
      mlu::DivideBySigned(quotients, inter, first, work.Vector(Work::kScratch), n);
      if (call.half) __bang_float2half_rn(static_cast<half*>(results), quotients, n);
      return;
    }
    __bang_write_value(base, n, first);
  }
  // One in the first box makes the base NaN; so does one in the second, but not for IoF.
  if (!kOneIsFirst && one.HasNan()) __bang_write_value(base, n, one.Nan());
  StoreOverlaps(inter, base, well_formed, call.half, work, results, n);
}

// Pair by pair.
__mlu_func__ void AlignedOverlaps(const Boxes& a, const Boxes& b, const BboxOverlapsMlu& call,
                                  const Work& work, void* results) {
  const int n = a.count;
  const float off = call.offset;
  float* const w = work.Vector(0);
  float* const left = work.Vector(1);
  float* const h = work.Vector(2);
  float* const top = work.Vector(3);
  __bang_minequal(w, b.x2, a.x2, n);
  __bang_maxequal(left, b.x1, a.x1, n);
  __bang_minequal(h, b.y2, a.y2, n);
  __bang_maxequal(top, b.y1, a.y1, n);
  __bang_fusion(FUSION_FSA, w, w, left, off, n, n);
  __bang_fusion(FUSION_FSA, h, h, top, off, n, n);
  __bang_relu(w, w, n);
  __bang_relu(h, h, n);
  float* const inter = w;
  float* const base = left;
  __bang_mul(inter, w, h, n);
  if (call.iof) {
    LimitBase(base, a.area, off, n);
  } else {
    __bang_fusion(kUnion, base, b.area, a.area, inter, n, n);
    LimitBase(base, base, off, n);
  }
  StoreOverlaps(inter, base, false, call.half, work, results, n);
}

}  // namespace detops::ops::bbox_overlaps
