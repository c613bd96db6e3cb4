// SPDX-License-Identifier: Apache-2.0
//
// A judge of upright boxes for cuda/suppression.cuh.
#pragma once

#include <cstdint>

#include "cuda/suppression.cuh"
#include "math/box.h"
#include "math/quad_filter.h"

namespace detops::cuda {

struct BoxJudge {
  const float4* boxes;  // by position
  const float* areas;   // by position
  float threshold, offset;

  static constexpr bool kDoubts = false;
  struct Box {
    float4 corners;
    float area;
  };

  __device__ Box Load(int32_t position) const { return {boxes[position], areas[position]}; }
  __device__ double LeastArea(const Box& behind) const {
    return math::LeastAreaToSuppress(behind.area, threshold);
  }
  __device__ math::Verdict Quick(const Box& a, const Box& b) const {
    const math::Box<float> box_a = {a.corners.x, a.corners.y, a.corners.z, a.corners.w};
    const math::Box<float> box_b = {b.corners.x, b.corners.y, b.corners.z, b.corners.w};
    // Far from the threshold a product decides; NaN and tiny or huge numbers are left to the
    // division.
    const float inter = math::BoxIntersection(box_a, box_b, offset, 0.0f);
    if (inter == 0.0f) return math::Verdict::kNo;
    const float limit = threshold * ((a.area + b.area) - inter);
    if (limit > 1e-30f && limit < 1e37f) {
      if (inter > 1.00001f * limit) return math::Verdict::kYes;
      if (inter < 0.99999f * limit) return math::Verdict::kNo;
    }
    const float overlap = math::BoxNmsOverlap(box_a, box_b, a.area, b.area, offset, 0.0f);
    return overlap > threshold ? math::Verdict::kYes : math::Verdict::kNo;
  }
  __device__ bool Decide(const Pair&, bool) const { return false; }
};

}  // namespace detops::cuda
