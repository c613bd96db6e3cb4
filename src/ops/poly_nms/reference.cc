// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "math/quad.h"
#include "math/score_order.h"
#include "ops/poly_nms/plan.h"

namespace detops::ops {
namespace {

struct Workspace {
  int32_t* order;    // [count] boxes by score
  bool* suppressed;  // [count] by box

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : order(layout.Array<int32_t>(count)), suppressed(layout.Array<bool>(count)) {}
};

}  // namespace

int64_t PolyNmsReferenceWorkspace(const PolyNmsPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  Workspace(layout, plan.count);
  return layout.Bytes();
}

void PolyNmsReference(const PolyNmsPlan& plan, const PolyNmsArgs& args, void* memory,
                      const runtime::Launch&) {
  core::WorkspaceLayout layout(memory);
  const Workspace workspace(layout, plan.count);
  const float* boxes = args.boxes;

  int32_t* const order = workspace.order;
  std::iota(order, order + plan.count, 0);
  // A heap sort: it stays within the array also where another thread changes the scores meanwhile.
  std::partial_sort(order, order + plan.count, order + plan.count, [&](int32_t a, int32_t b) {
    return math::ScoreKey(boxes[int64_t{a} * 9 + 8], static_cast<uint32_t>(a)) <
           math::ScoreKey(boxes[int64_t{b} * 9 + 8], static_cast<uint32_t>(b));
  });

  bool* const suppressed = workspace.suppressed;
  std::fill_n(suppressed, plan.count, false);
  for (int64_t i = 0; i < plan.count; ++i) {
    if (suppressed[order[i]]) continue;
    const float* ahead = boxes + int64_t{order[i]} * 9;
    for (int64_t j = i + 1; j < plan.count; ++j) {
      if (suppressed[order[j]]) continue;
      const float* behind = boxes + int64_t{order[j]} * 9;
      suppressed[order[j]] = math::QuadIoUGreater(ahead, behind, plan.iou_threshold);
    }
  }

  int32_t kept = 0;
  for (int64_t i = 0; i < plan.count; ++i) {
    if (!suppressed[i]) args.output[kept++] = static_cast<int32_t>(i);
  }
  *args.result_num = kept;
}

}  // namespace detops::ops
