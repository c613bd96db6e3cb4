// SPDX-License-Identifier: Apache-2.0
//
// Boxes in NRAM, one array per coordinate (BANG C).
#pragma once

#include <stdint.h>

#include "mlu/divide.h"

namespace detops::ops::bbox_overlaps {

// Areas have the sign that divisors are to have (mlu/divide.h).
struct OneBox {
  float x1, y1, x2, y2, area;

  __mlu_func__ bool HasNan() const { return x1 != x1 || y1 != y1 || x2 != x2 || y2 != y2; }
  __mlu_func__ float Nan() const { return x1 + y1 + x2 + y2; }  // where it has one
};

struct Boxes {
  static constexpr int kVectors = 5;  // of `count` each

  float *x1, *y1, *x2, *y2, *area;
  int count;

  __mlu_func__ Boxes(float* memory, int boxes)
      : x1(memory),
        y1(x1 + boxes),
        x2(y1 + boxes),
        y2(x2 + boxes),
        area(y2 + boxes),
        count(boxes) {}

  __mlu_func__ OneBox At(int i) const { return {x1[i], y1[i], x2[i], y2[i], area[i]}; }

  // From `loaded`, boxes as they lie in memory, in `packed`: room for 4 floats per box, of which
  // halves take the last part.
  __mlu_func__ void Unpack(float* packed, const float* loaded, bool half_boxes, float offset) {
    if (half_boxes) {
      half* const halves = reinterpret_cast<half*>(packed);
      __bang_transpose(halves, reinterpret_cast<const half*>(loaded), count, 4);
      __bang_half2float(x1, halves, 4 * count);
    } else {
      __bang_transpose(x1, loaded, count, 4);
    }
    // (x2-x1+off) * (y2-y1+off), the lengths in `packed`.
    __bang_fusion(FUSION_FSA, packed, x2, x1, offset, 2 * count, 2 * count);
    __bang_mul(area, packed, packed + count, count);
    if (mlu::kDivisorSign < 0) __bang_mul_scalar(area, area, -1.0f, count);
  }

  // Whether no box is inverted, and all coordinates are such that products and areas are finite
  // and, where there is no instruction for division, quotients in the range of mlu/divide.h: at
  // most kMost in size and, for the latter, 0 or at least kLeast. Lengths are then 0 or at least
  // 2^-42, products of them 2^-84, and sums of areas at most 2^40. `scratch` has 8 vectors.
  __mlu_func__ bool WellFormed(float* scratch) const {
    constexpr float kMost = DETOPS_MLU_HAS_DIVISION ? 0x1p60f : 0x1p18f;
    constexpr float kLeast = 0x1p-19f;
    const uint32_t twice = 2 * count;
    __bang_ge(scratch, x2, x1, twice);  // and y; false where one is NaN
    if (__bang_count(scratch, twice) != twice) return false;
    __bang_min(scratch, x1, twice);
    if (!(scratch[0] >= -kMost)) return false;
    __bang_max(scratch, x2, twice);
    if (!(scratch[0] <= kMost)) return false;
    if (DETOPS_MLU_HAS_DIVISION) return true;
    float* const sizes = scratch;
    float* const large = scratch + 2 * twice;
    __bang_abs(sizes, x1, 2 * twice);
    __bang_ge_scalar(large, sizes, kLeast, 2 * twice);
    __bang_not(sizes, sizes, 2 * twice);
    __bang_or(large, large, sizes, 2 * twice);
    return __bang_count(large, 2 * twice) == 2 * twice;
  }
};

}  // namespace detops::ops::bbox_overlaps
