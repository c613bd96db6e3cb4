// SPDX-License-Identifier: Apache-2.0
//
// A pair whose bounds overlap is decided by the cheapest test that can prove its answer: a bound on
// the IoU from areas and bounds, for elongated boxes one from the strips in which they lie, then
// math::QuadPair with all edges in a vector; pairs that none of them can decide go to
// math::QuadIoUGreater, which is the definition. cpu/suppression/suppress-inl.h finds the pairs, in
// the coordinates of a math::QuadFrame.
#include "cpu/simd.h"
#include "cpu/suppression/box_cells.h"
#include "math/quad_frame.h"
#include "ops/poly_nms/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/poly_nms/cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/suppression/suppress-inl.h"
#include "math/score_order.h"
#include "ops/poly_nms/filter-inl.h"

#ifndef DETOPS_POLY_NMS_WORKSPACE_
#define DETOPS_POLY_NMS_WORKSPACE_
namespace detops::ops::poly_nms {

struct Quad : math::FilterQuad {
  int32_t index;  // in the input
};
using Workspace = cpu::SuppressionWorkspace<Quad>;

math::QuadFrame ChooseFrame(const float* boxes, int64_t count, float threshold);

}  // namespace detops::ops::poly_nms
#endif

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace poly_nms;
using namespace poly_nms::HWY_NAMESPACE;
using cpu::Bounds;

// As cpu/suppression/suppress-inl.h wants them.
struct Quads {
  using Prepared = Quad;
  const float* boxes;  // [count,9] the input
  float threshold;
  math::QuadFrame frame;  // of the bounds that the suppression gets and gives

  const float* At(int64_t index) const { return boxes + 9 * index; }
  bool Plain() const { return frame.kind == math::QuadFrame::Kind::kPlain; }
  uint64_t KeyOf(int64_t index) const {
    return math::ScoreKey(At(index)[8], static_cast<uint32_t>(index));
  }
  void Prefetch(int64_t index) const {
    __builtin_prefetch(At(index));
    __builtin_prefetch(At(index) + 8);
  }
  Bounds ReachOf(int64_t index) const {
    if (Plain()) return math::ReachOf(At(index));
    Bounds bounds;
    Prepare(index, bounds);
    return bounds;
  }
  Quad Prepare(int64_t index, Bounds& bounds) const {
    const Quad quad = {math::PrepareQuad(At(index), bounds), static_cast<int32_t>(index)};
    bounds = math::ReachIn(frame, quad, At(index), bounds, threshold);
    return quad;
  }
  double LeastArea(const Quad& quad) const {
    return frame.kind == math::QuadFrame::Kind::kDirections
               ? 0.0
               : math::LeastAreaToSuppress(quad.area, threshold);
  }
  HWY_INLINE bool Suppresses(const Quad& a, const Bounds& bounds_a, const Quad& b,
                             const Bounds& bounds_b, int64_t& clipped) const {
    return HWY_LIKELY(Plain()) ? Decide(a, bounds_a, b, bounds_b, clipped)
                               : SuppressesInFrame(a, b, clipped);
  }

 private:
  HWY_INLINE bool Decide(const Quad& a, const Bounds& bounds_a, const Quad& b,
                         const Bounds& bounds_b, int64_t& clipped) const {
    using math::Shape;
    if (a.area > 0.0f && b.area > 0.0f &&
        math::NeverEnough(a.area, b.area, bounds_a, bounds_b, threshold)) {
      return false;
    }
    if (a.shape == Shape::kUpright && b.shape == Shape::kUpright) {
      ++clipped;
      return math::UprightIoUGreater(bounds_a, bounds_b, threshold);
    }
    if (a.strip > 0.0f && b.strip > 0.0f && StripsNeverEnough(a, b, bounds_a, bounds_b)) {
      return false;
    }
    ++clipped;
    if (a.shape != Shape::kOther && b.shape != Shape::kOther) {
      const math::Verdict verdict = Judge(a, b, bounds_a, bounds_b, threshold);
      if (verdict != math::Verdict::kDoubtful) return verdict == math::Verdict::kYes;
      ++clipped;
    }
    return math::QuadIoUGreater(At(a.index), At(b.index), threshold);
  }
  // Not inlined, as few boxes are elongated.
  HWY_NOINLINE bool StripsNeverEnough(const Quad& a, const Quad& b, const Bounds& bounds_a,
                                      const Bounds& bounds_b) const {
    return math::StripsNeverEnough(a, b, threshold, math::CommonBoundsArea(bounds_a, bounds_b));
  }
  // All tests of a pair are in plain coordinates.
  HWY_NOINLINE bool SuppressesInFrame(const Quad& a, const Quad& b, int64_t& clipped) const {
    const Bounds bounds_a = math::BoundsOf(At(a.index)), bounds_b = math::BoundsOf(At(b.index));
    return math::BoundsOverlap(bounds_a, bounds_b) && Decide(a, bounds_a, b, bounds_b, clipped);
  }
};

// With a negative threshold every pair counts as overlapping.
int32_t Best(const float* boxes, int64_t count) {
  uint64_t best = ~uint64_t{0};
  for (int64_t i = 0; i < count; ++i) {
    best = std::min(best, math::ScoreKey(boxes[9 * i + 8], static_cast<uint32_t>(i)));
  }
  return static_cast<int32_t>(math::IndexOfKey(best));
}

}  // namespace

void Run(const PolyNmsPlan& plan, const PolyNmsArgs& args, void* memory,
         const runtime::Launch& launch) {
  if (plan.iou_threshold < 0.0f) {
    args.output[0] = Best(args.boxes, plan.count);
    *args.result_num = 1;
    launch.work = {0, 0};
    return;
  }
  core::WorkspaceLayout layout(memory);
  Workspace workspace(layout, plan.count);
  const Quads quads = {args.boxes, plan.iou_threshold,
                       ChooseFrame(args.boxes, plan.count, plan.iou_threshold)};
  launch.work = Suppression(quads, plan.count, workspace, launch.threads).Run();
  // Only up to the last box kept, so that nothing is written after the results.
  const bool* kept = workspace.kept;
  const bool* end = kept + plan.count;
  while (!end[-1]) --end;  // the best is always kept
  int32_t count = 0;
  for (int64_t i = 0; i < end - kept; ++i) {
    args.output[count] = static_cast<int32_t>(i);  // no branch to mispredict
    count += kept[i] ? 1 : 0;
  }
  *args.result_num = count;
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {
namespace poly_nms {

math::QuadFrame ChooseFrame(const float* boxes, int64_t count, float threshold) {
  constexpr int kSample = math::kFrameSample;
  if (count < math::kLeastFramed) return {};
  const auto box = [&](int i) { return boxes + 9 * math::FrameSampleAt(i, count); };
  math::FilterQuad quads[kSample];
  math::QuadBounds plain[kSample], reach[kSample];
  for (int i = 0; i < kSample; ++i) quads[i] = math::PrepareQuad(box(i), plain[i]);
  int overlaps[math::kFrames] = {};
  for (int number = 0; number < math::kFrames; ++number) {
    const math::QuadFrame frame = math::NumberedFrame(number, quads);
    for (int i = 0; i < kSample; ++i) {
      reach[i] = math::ReachIn(frame, quads[i], box(i), plain[i], threshold);
      for (int j = 0; j < i; ++j) overlaps[number] += math::BoundsOverlap(reach[i], reach[j]);
    }
    if (number == 0 && !math::TooManyOverlap(overlaps[0])) break;
  }
  return math::NumberedFrame(math::BestFrame(overlaps), quads);
}

}  // namespace poly_nms

int64_t PolyNmsCpuWorkspace(const PolyNmsPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  poly_nms::Workspace(layout, plan.count);
  return layout.Bytes();
}

cpu::SimdKernels<PolyNms> PolyNmsKernels() { return DETOPS_SIMD_KERNELS(Run); }

}  // namespace detops::ops
#endif
