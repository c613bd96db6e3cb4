// SPDX-License-Identifier: Apache-2.0
#include "math/box.h"
#include "math/half.h"
#include "ops/bbox_overlaps/plan.h"

namespace detops::ops {
namespace {

template <class T>
math::Box<float> LoadBox(const T* boxes, int64_t i) {  // [.,4]
  return {math::ToFloat(boxes[4 * i]), math::ToFloat(boxes[4 * i + 1]),
          math::ToFloat(boxes[4 * i + 2]), math::ToFloat(boxes[4 * i + 3])};
}

template <class T>
void Run(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious) {
  for (int64_t i = 0; i < plan.rows; ++i) {
    const math::Box<float> a = LoadBox(bbox1, i);
    const float area_a = math::BoxArea(a, plan.offset);
    for (int64_t j = plan.aligned ? i : 0; j < (plan.aligned ? i + 1 : plan.cols); ++j) {
      const math::Box<float> b = LoadBox(bbox2, j);
      const float area_b = math::BoxArea(b, plan.offset);
      const float overlap =
          plan.iof ? math::BoxIoF(a, b, area_a, plan.offset, plan.offset, 0.0f)
                   : math::BoxIoU(a, b, area_a, area_b, plan.offset, plan.offset, 0.0f);
      *ious++ = math::FromFloat<T>(overlap);
    }
  }
}

}  // namespace

void BboxOverlapsReference(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, void*,
                           const runtime::Launch&) {
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    Run(plan, static_cast<const math::Half*>(args.bbox1),
        static_cast<const math::Half*>(args.bbox2), static_cast<math::Half*>(args.ious));
  } else {
    Run(plan, static_cast<const float*>(args.bbox1), static_cast<const float*>(args.bbox2),
        static_cast<float*>(args.ious));
  }
}

}  // namespace detops::ops
