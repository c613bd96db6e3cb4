// SPDX-License-Identifier: Apache-2.0
#include "ops/nms/below_zero.h"

#include "math/half.h"
#include "math/score_order.h"
#include "ops/nms/plan.h"

namespace detops::ops {
namespace {

template <class T>
int32_t Keep(const NmsPlan& plan, const T* boxes, const uint64_t* order, int32_t* kept) {
  const auto box_at = [&](int64_t rank) -> math::Box<float> {
    const T* box = boxes + 4 * int64_t{math::IndexOfKey(order[rank])};
    return {math::ToFloat(box[0]), math::ToFloat(box[1]), math::ToFloat(box[2]),
            math::ToFloat(box[3])};
  };
  return nms::KeepBelowZero(plan.count, box_at, plan.iou_threshold, kept);
}

}  // namespace

int32_t NmsKeepBelowZero(const NmsPlan& plan, const void* boxes, const uint64_t* order,
                         int32_t* kept) {
  return plan.dtype == MLUOP_DTYPE_HALF
             ? Keep(plan, static_cast<const math::Half*>(boxes), order, kept)
             : Keep(plan, static_cast<const float*>(boxes), order, kept);
}

}  // namespace detops::ops
