// SPDX-License-Identifier: Apache-2.0
//
// Several images at a time. In each, a sample estimates which scores top-k needs, and a radix sort
// orders them. Then the highest-scoring candidates are decoded in parallel and suppressed by the
// boxes kept so far (cpu/suppression/sparse_nms-inl.h, or cpu/suppression/greedy_nms-inl.h for
// dense clusters), then the next ones, until enough are kept.
#include "cpu/score_sort.h"
#include "cpu/simd.h"
#include "ops/generate_proposals_v2/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/generate_proposals_v2/cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "cpu/collect_best-inl.h"
#include "cpu/suppression/greedy_nms-inl.h"
#include "cpu/suppression/sparse_nms-inl.h"
#include "math/exp.h"
#include "math/proposal.h"
#include "math/quad_filter.h"
#include "math/score_order.h"

#ifndef DETOPS_GENERATE_PROPOSALS_WORKSPACE_
#define DETOPS_GENERATE_PROPOSALS_WORKSPACE_
namespace detops::ops::generate_proposals {

// Images at a time: enough for several threads, without much memory. Threads also share an image.
inline constexpr int64_t kImages = 4;
// The least number of candidates in the first round: about as many as are compared without cells.
inline constexpr int64_t kFirstCandidates = 512;

// The workspace of one image.
struct Workspace {
  uint64_t* keys;        // [anchors]
  uint64_t* other_keys;  // [anchors]
  cpu::Bounds* boxes;    // [anchors] decoded, by score
  cpu::Bounds* bounds;   // [anchors] the same with the pixel offset, where there is one
  float* areas;          // [anchors]
  float* scores;         // [anchors]
  uint32_t* kept_at;     // [anchors] indices of the boxes kept
  cpu::BoxCells cells;
  cpu::Suppressors* suppressors;  // [anchors]

  Workspace(core::WorkspaceLayout& layout, int64_t anchors)
      : keys(layout.Array<uint64_t>(anchors)),
        other_keys(layout.Array<uint64_t>(anchors)),
        boxes(layout.Array<cpu::Bounds>(anchors)),
        bounds(layout.Array<cpu::Bounds>(anchors)),
        areas(layout.Array<float>(anchors)),
        scores(layout.Array<float>(anchors)),
        kept_at(layout.Array<uint32_t>(anchors)),
        cells(layout, anchors),
        suppressors(layout.Array<cpu::Suppressors>(anchors)) {}

  int64_t kept = 0;

  void Move(int64_t from, int64_t to) {
    boxes[to] = boxes[from];
    bounds[to] = bounds[from];
    areas[to] = areas[from];
    scores[to] = scores[from];
  }
  // Makes room for the next candidates.
  void MoveKeptToFront() {
    for (int64_t k = 0; k < kept; ++k) Move(std::exchange(kept_at[k], static_cast<uint32_t>(k)), k);
  }
};

}  // namespace detops::ops::generate_proposals
#endif

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;
using namespace generate_proposals;
using cpu::Bounds;

// The least number of anchors per thread.
constexpr int64_t kGrain = 8192;

// Where boxes may overlap: with a pixel offset, lengths count one more pixel. A small margin makes
// sure that no rounding of the lengths matters.
HWY_INLINE Bounds Reach(const Bounds& b, float offset) {
  return {b.x1, b.y1, b.x2 + (offset + 1e-6f * b.x2), b.y2 + (offset + 1e-6f * b.y2)};
}

HWY_INLINE Box<float> AsBox(const Bounds& b) { return {b.x1, b.y1, b.x2, b.y2}; }

// Judges as in cpu/suppression/kept_boxes-inl.h. Without a pixel offset, boxes are their own
// bounds.
struct BoxJudge {
  static constexpr bool kInVectors = true;
  const Workspace& w;
  float threshold;

  HWY_INLINE Bounds Reach(int64_t i) const { return w.boxes[i]; }
  double LeastArea(int64_t i) const { return math::LeastAreaToSuppress(w.areas[i], threshold); }
  HWY_INLINE auto Suppressing(const FloatBoxes& ahead, const FloatBoxes& box,
                              int64_t behind) const {
    const FloatLane zero = Broadcast(0.0f);
    const FloatLane overlap =
        BoxNmsOverlap(ahead, box, BoxArea(ahead, zero), Broadcast(w.areas[behind]), zero, zero);
    return hn::Gt(overlap.v, Broadcast(threshold).v);
  }
};
struct OffsetBoxJudge {
  static constexpr bool kInVectors = false;
  const Workspace& w;
  float threshold, offset;

  Bounds Reach(int64_t i) const { return w.bounds[i]; }
  double LeastArea(int64_t i) const { return math::LeastAreaToSuppress(w.areas[i], threshold); }
  HWY_INLINE bool Suppresses(int64_t ahead, int64_t behind, int64_t& pairs) const {
    ++pairs;
    return BoxNmsOverlap(AsBox(w.boxes[ahead]), AsBox(w.boxes[behind]), w.areas[ahead],
                         w.areas[behind], offset, 0.0f) > threshold;
  }
};

// Candidates decoded at a time.
constexpr int64_t kBlock = 16;

// Decodes candidates and packs those that are not dropped after the boxes kept so far; returns how
// many boxes there are.
int64_t Decode(const GenerateProposalsV2Plan& plan, const GenerateProposalsV2Args& args,
               int64_t image, const uint64_t* order, int64_t candidates, Workspace& w,
               runtime::Threads& threads) {
  const float* scores = args.scores + image * plan.anchors;
  const float* deltas = args.bbox_deltas + image * plan.anchors * 4;
  const ImageSize size = {args.im_shape[2 * image], args.im_shape[2 * image + 1]};
  threads.For(candidates, 512, [&](int64_t begin, int64_t end) HWY_ATTR {
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t block_end = std::min(block + kBlock, end);
      float stretched[2 * kBlock] = {};  // along x and y; at first the exponents
      for (int64_t i = block; i < block_end; ++i) {
        if (i + kBlock < end) {  // the anchors are read in no regular order
          const int64_t ahead = 4 * int64_t{math::IndexOfKey(order[i + kBlock])};
          __builtin_prefetch(deltas + ahead);
          __builtin_prefetch(args.anchors + ahead);
          __builtin_prefetch(args.variances + ahead);
        }
        const int64_t at = 4 * int64_t{math::IndexOfKey(order[i])} + 2;
        float* exponents = stretched + 2 * (i - block);
        exponents[0] = StretchExponent(deltas[at], args.variances[at]);
        exponents[1] = StretchExponent(deltas[at + 1], args.variances[at + 1]);
      }
      for (float& x : stretched) x = math::ExpOfClamped(x);
      for (int64_t i = block; i < block_end; ++i) {
        const int64_t anchor = math::IndexOfKey(order[i]), at = w.kept + i;
        const float* stretched_by = stretched + 2 * (i - block);
        const Box<float> box = DecodeProposal(args.anchors + 4 * anchor, deltas + 4 * anchor,
                                              args.variances + 4 * anchor, stretched_by[0],
                                              stretched_by[1], size, plan.offset);
        const bool keep = KeepProposal(box, size, plan.min_size, plan.offset);
        w.boxes[at] = {box.x1, box.y1, box.x2, box.y2};
        if (plan.offset != 0.0f) w.bounds[at] = Reach(w.boxes[at], plan.offset);
        w.scores[at] = scores[anchor];
        w.areas[at] = keep ? BoxArea(box, plan.offset) : -1.0f;  // otherwise at least 1
      }
    }
  });
  int64_t count = w.kept;
  for (int64_t i = w.kept; i < w.kept + candidates; ++i) {
    if (w.areas[i] == -1.0f) continue;
    if (count != i) w.Move(i, count);
    ++count;
  }
  return count;
}

// How many candidates to have examined after the next round, when `examined` so far left `kept`
// boxes: a few more than would be enough if the next ones are kept at the same rate. At least one
// and a half times as many, so that rounds are few, and at most three times as many.
int64_t CandidatesToExamine(int64_t examined, int64_t kept, int64_t wanted) {
  if (examined == 0) return std::max(wanted + wanted / 4, kFirstCandidates);
  const auto so_far = static_cast<double>(examined);
  const double per_box = so_far / static_cast<double>(std::max<int64_t>(kept, 1));
  const double more = 1.25 * per_box * static_cast<double>(wanted - kept);
  return examined + static_cast<int64_t>(std::clamp(more, 0.5 * so_far, 2 * so_far));
}

// Decides the boxes from those kept so far up to `count`; keeps at most `most` in all.
template <class Judge>
runtime::Work Suppress(const Bounds* bounds, int64_t count, int64_t most, const Judge& judge,
                       Workspace& w, runtime::Threads& threads) {
  const auto keep = [&](int64_t i) { w.kept_at[w.kept++] = static_cast<uint32_t>(i); };
  const int64_t first = w.kept;
  if (first == 0 && count <= FewKept::kCapacity) {
    FewKept kept;
    return GreedyNmsOfFew(bounds, count, most, judge, keep, kept);
  }
  w.cells.Measure(bounds, count, threads);
  w.cells.Place(bounds, count, threads);
  return w.cells.Sparse()
             ? SparseNms(bounds, first, count, most, w.cells, w.suppressors, threads, judge, keep)
             : GreedyNms(bounds, first, count, most, w.cells, threads, judge, keep);
}

// Leaves the boxes in the workspace, with the indices of those kept.
runtime::Work ProposeFor(const GenerateProposalsV2Plan& plan, const GenerateProposalsV2Args& args,
                         int64_t image, Workspace& w, runtime::Threads& threads) {
  const auto suppress = [&](int64_t count) {
    return plan.offset == 0.0f
               ? Suppress(w.boxes, count, plan.most_rois, BoxJudge{w, plan.nms_thresh}, w, threads)
               : Suppress(w.bounds, count, plan.most_rois,
                          OffsetBoxJudge{w, plan.nms_thresh, plan.offset}, w, threads);
  };
  runtime::Work all = {0, 0};
  w.kept = 0;
  int64_t end = 0;
  for (int64_t begin = 0; begin < plan.candidates && w.kept < plan.most_rois; begin = end) {
    end = std::min(CandidatesToExamine(begin, w.kept, plan.most_rois), plan.candidates);
    w.MoveKeptToFront();
    const int64_t found = CollectBest(args.scores + image * plan.anchors, plan.anchors, end, w.keys,
                                      reinterpret_cast<uint32_t*>(w.other_keys), threads);
    // Fewer than `end` only where another thread changes the scores: there are no keys behind them.
    const int64_t candidates = std::min(end, found) - begin;
    if (candidates <= 0) break;
    const uint64_t* order = cpu::SortByRank(w.keys, w.other_keys, found);
    const int64_t count = Decode(plan, args, image, order + begin, candidates, w, threads);
    all += suppress(count);
  }
  return all;
}

}  // namespace

void Run(const GenerateProposalsV2Plan& plan, const GenerateProposalsV2Args& args, void* memory,
         const runtime::Launch& launch) {
  core::WorkspaceLayout layout(memory);
  std::array<std::optional<Workspace>, kImages> workspaces;
  for (int64_t i = 0; i < std::min(plan.images, kImages); ++i) {
    workspaces[i].emplace(layout, plan.anchors);
  }
  int64_t total = 0;
  const auto write = [&](const Bounds& box, float score) {
    float* roi = args.rpn_rois + 4 * total;
    roi[0] = box.x1;
    roi[1] = box.y1;
    roi[2] = box.x2;
    roi[3] = box.y2;
    args.rpn_roi_probs[total++] = score;
  };
  std::atomic<int64_t> pairs = 0, candidates = 0;
  for (int64_t first = 0; first < plan.images; first += kImages) {
    const int64_t images = std::min(kImages, plan.images - first);
    launch.threads.For(images, kGrain / plan.anchors + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const runtime::Work work =
            ProposeFor(plan, args, first + i, *workspaces[i], launch.threads);
        pairs += work.pairs;
        candidates += work.candidates;
      }
    });
    // Packed over the images, so written in their order.
    for (int64_t i = 0; i < images; ++i) {
      const Workspace& w = *workspaces[i];
      const int64_t before = total;
      for (int64_t k = 0; k < w.kept; ++k) write(w.boxes[w.kept_at[k]], w.scores[w.kept_at[k]]);
      if (w.kept == 0 && plan.most_rois > 0) write({0, 0, 0, 0}, 0);  // no candidate was left
      args.rpn_rois_num[first + i] = static_cast<int32_t>(total - before);
    }
  }
  *args.rpn_rois_batch_size = static_cast<int32_t>(total);
  launch.work = {pairs, candidates};
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

int64_t GenerateProposalsV2CpuWorkspace(const GenerateProposalsV2Plan& plan,
                                        const runtime::Device&) {
  using namespace generate_proposals;
  core::WorkspaceLayout layout;
  for (int64_t i = 0; i < std::min(plan.images, kImages); ++i) Workspace(layout, plan.anchors);
  return layout.Bytes();
}

cpu::SimdKernels<GenerateProposalsV2> GenerateProposalsV2Kernels() {
  return DETOPS_SIMD_KERNELS(Run);
}

}  // namespace detops::ops
#endif
