// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "math/box3d.h"
#include "ops/points_in_boxes/plan.h"

namespace detops::ops {

void PointsInBoxesReference(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args, void*,
                            const runtime::Launch&) {
  constexpr int32_t kNone = -1;
  for (int64_t b = 0; b < plan.batches; ++b) {
    const float* points = args.points + b * plan.points * 3;
    const float* boxes = args.boxes + b * plan.boxes * 7;
    int32_t* indices = args.points_indices + b * plan.points;
    std::fill_n(indices, plan.points, kNone);
    // Boxes in the outer loop, so that each is prepared once; the first box that contains a point
    // is kept.
    for (int64_t t = 0; t < plan.boxes; ++t) {
      const math::Box3d box = math::PrepareBox3d(boxes + t * 7);
      for (int64_t m = 0; m < plan.points; ++m) {
        if (indices[m] != kNone) continue;
        const float* p = points + m * 3;
        if (math::Holds(box, p[0], p[1], p[2])) indices[m] = static_cast<int32_t>(t);
      }
    }
  }
}

}  // namespace detops::ops
