// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "math/box.h"
#include "math/half.h"
#include "math/score_order.h"
#include "ops/nms/plan.h"

namespace detops::ops {
namespace {

struct Workspace {
  int32_t* order;    // [count] boxes by score
  bool* suppressed;  // [count] by box

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : order(layout.Array<int32_t>(count)), suppressed(layout.Array<bool>(count)) {}
};

template <class T>
math::Box<float> LoadBox(const T* boxes, int64_t i) {  // [.,4]
  return {math::ToFloat(boxes[4 * i]), math::ToFloat(boxes[4 * i + 1]),
          math::ToFloat(boxes[4 * i + 2]), math::ToFloat(boxes[4 * i + 3])};
}

template <class T>
void Run(const NmsPlan& plan, const T* boxes, const T* scores, int32_t* output, int32_t* result_num,
         const Workspace& workspace) {
  int32_t* const order = workspace.order;
  std::iota(order, order + plan.count, 0);
  const auto key = [&](int32_t i) {
    return math::ScoreKey(math::ToFloat(scores[i]), static_cast<uint32_t>(i));
  };
  // A heap sort: it stays within the array also where another thread changes the scores meanwhile.
  std::partial_sort(order, order + plan.count, order + plan.count,
                    [&](int32_t a, int32_t b) { return key(a) < key(b); });

  bool* const suppressed = workspace.suppressed;
  std::fill_n(suppressed, plan.count, false);
  int32_t kept = 0;
  for (int64_t i = 0; i < plan.count; ++i) {
    if (suppressed[order[i]]) continue;
    output[kept++] = order[i];
    const math::Box<float> ahead = LoadBox(boxes, order[i]);
    const float area_ahead = math::BoxArea(ahead, 0.0f);
    for (int64_t j = i + 1; j < plan.count; ++j) {
      if (suppressed[order[j]]) continue;
      const math::Box<float> behind = LoadBox(boxes, order[j]);
      const float iou =
          math::BoxIoU(ahead, behind, area_ahead, math::BoxArea(behind, 0.0f), 0.0f, 0.0f, 0.0f);
      suppressed[order[j]] = iou > plan.iou_threshold;
    }
  }
  *result_num = kept;
}

}  // namespace

int64_t NmsReferenceWorkspace(const NmsPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  Workspace(layout, plan.count);
  return layout.Bytes();
}

void NmsReference(const NmsPlan& plan, const NmsArgs& args, void* memory, const runtime::Launch&) {
  core::WorkspaceLayout layout(memory);
  const Workspace workspace(layout, plan.count);
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    Run(plan, static_cast<const math::Half*>(args.boxes),
        static_cast<const math::Half*>(args.scores), args.output, args.result_num, workspace);
  } else {
    Run(plan, static_cast<const float*>(args.boxes), static_cast<const float*>(args.scores),
        args.output, args.result_num, workspace);
  }
}

}  // namespace detops::ops
