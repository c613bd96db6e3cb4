// SPDX-License-Identifier: Apache-2.0
//
// cpu/suppression/suppress-inl.h decides which boxes are kept; what is left is to put those in
// score order.
#include "cpu/simd.h"
#include "cpu/suppression/box_cells.h"
#include "math/half.h"
#include "math/quad_filter.h"
#include "ops/nms/may_overlap.h"
#include "ops/nms/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nms/cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/suppression/suppress-inl.h"
#include "math/box.h"
#include "math/score_order.h"

#ifndef DETOPS_NMS_WORKSPACE_
#define DETOPS_NMS_WORKSPACE_
namespace detops::ops::nms {

struct Area {
  float value;
};
using Workspace = cpu::SuppressionWorkspace<Area>;

}  // namespace detops::ops::nms
#endif

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;
using cpu::Bounds;
using nms::Area;

constexpr int64_t kGrain = 2048;

HWY_INLINE Box<float> AsBox(const Bounds& b) { return {b.x1, b.y1, b.x2, b.y2}; }

// As cpu/suppression/suppress-inl.h wants them. Half or float: each box is read a few times and
// compared many times, so that asking which costs nothing, where code of its own for each would
// take seconds to compile.
struct UprightBoxes {
  using Prepared = Area;
  const void* boxes;   // [count,4]
  const void* scores;  // [count]
  bool is_half;
  float threshold;

  uint64_t KeyOf(int64_t index) const {
    const float score = is_half ? math::ToFloat(static_cast<const math::Half*>(scores)[index])
                                : static_cast<const float*>(scores)[index];
    return math::ScoreKey(score, static_cast<uint32_t>(index));
  }
  void Prefetch(int64_t index) const {
    const int64_t bytes = is_half ? 2 : 4;
    __builtin_prefetch(static_cast<const char*>(boxes) + 4 * bytes * index);
    __builtin_prefetch(static_cast<const char*>(scores) + bytes * index);
  }
  Bounds ReachOf(int64_t index) const {
    Bounds bounds;
    Prepare(index, bounds);
    return bounds;
  }
  template <class T>
  static Bounds ToBounds(const T* box) {
    return {math::ToFloat(box[0]), math::ToFloat(box[1]), math::ToFloat(box[2]),
            math::ToFloat(box[3])};
  }
  Area Prepare(int64_t index, Bounds& bounds) const {
    bounds = is_half ? ToBounds(static_cast<const math::Half*>(boxes) + 4 * index)
                     : ToBounds(static_cast<const float*>(boxes) + 4 * index);
    const float area = BoxArea(AsBox(bounds), 0.0f);
    if (!nms::MayOverlap(bounds, area)) bounds = {1, 1, 0, 0};  // overlaps nothing
    return {area};
  }
  double LeastArea(Area area) const { return math::LeastAreaToSuppress(area.value, threshold); }
  HWY_INLINE bool Suppresses(Area area_a, const Bounds& a, Area area_b, const Bounds& b,
                             int64_t& pairs) const {
    ++pairs;
    return BoxIoU(AsBox(a), AsBox(b), area_a.value, area_b.value, 0.0f, 0.0f, 0.0f) > threshold;
  }
};

}  // namespace

void Run(const NmsPlan& plan, const NmsArgs& args, void* memory, const runtime::Launch& launch) {
  core::WorkspaceLayout layout(memory);
  nms::Workspace w(layout, plan.count);
  const UprightBoxes boxes = {args.boxes, args.scores, plan.dtype == MLUOP_DTYPE_HALF,
                              plan.iou_threshold};
  const bool below_zero = plan.iou_threshold < 0.0f;
  launch.work = {0, 0};
  if (!below_zero) launch.work = Suppression(boxes, plan.count, w, launch.threads).Run();
  const auto take = [&](int64_t begin, int64_t end, uint64_t* out) {
    for (int64_t i = begin; i < end; ++i) {
      if (below_zero || w.kept[i]) *out++ = boxes.KeyOf(i);
    }
    return out;
  };
  int64_t count = launch.threads.Collect(plan.count, kGrain, w.keys, take);
  const uint64_t* order = cpu::SortByRank(w.keys, w.other_keys, count);
  if (below_zero) {
    count = NmsKeepBelowZero(plan, args.boxes, order, args.output);
    for (int64_t i = 0; i < count; ++i) {
      args.output[i] = static_cast<int32_t>(math::IndexOfKey(order[args.output[i]]));
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      args.output[i] = static_cast<int32_t>(math::IndexOfKey(order[i]));
    }
  }
  *args.result_num = static_cast<int32_t>(count);
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

int64_t NmsCpuWorkspace(const NmsPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  nms::Workspace(layout, plan.count);
  return layout.Bytes();
}

cpu::SimdKernels<Nms> NmsKernels() { return DETOPS_SIMD_KERNELS(Run); }

}  // namespace detops::ops
#endif
