// SPDX-License-Identifier: Apache-2.0
//
// Several images at a time: the candidates that top-k keeps are chosen (cuda/best_scores.h), sorted
// and decoded, the best of them go through the suppression (cuda/suppression.cuh), and the others
// where that has not kept enough; the kept boxes are packed over the images. All counts stay on the
// device.
#include <algorithm>
#include <cstdint>

#include "cuda/best_scores.h"
#include "cuda/box_judge.cuh"
#include "cuda/sort.h"
#include "math/proposal.h"
#include "ops/generate_proposals_v2/plan.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

using math::Box;
using Plan = GenerateProposalsV2Plan;
using Args = GenerateProposalsV2Args;

constexpr int kThreads = 256;
constexpr int64_t kImages = 16;  // at a time, at most
// With few candidates, several images share each launch. With many, each image has its own launches
// and a grid. Boxes of all of them have positions of 32 bits.
int64_t GroupOf(const Plan& plan, int64_t candidates) {
  return candidates > cuda::BoxLists::kMostCompared ? 1 : std::min(plan.images, kImages);
}

// For groups of `group` images with up to `candidates` candidates each.
struct Workspace {
  cuda::BestScores best;
  cuda::KeySorter sorter;  // [group][candidates]
  float4* boxes;           // [group][candidates] decoded, by score
  float* areas;            // [group][candidates]
  int32_t* ranks;          // [group][candidates] of those kept
  int32_t* rank_count;     // [group]
  int32_t* totals;         // [groups] results of all images up to the end of a group
  cuda::BoxLists lists;
  cuda::IndexSelector selector;

  Workspace(core::WorkspaceLayout& layout, int64_t images, int64_t group, int64_t candidates)
      : best(layout, group),
        sorter(layout, group, candidates),
        boxes(layout.Array<float4>(group * candidates)),
        areas(layout.Array<float>(group * candidates)),
        ranks(layout.Array<int32_t>(group * candidates)),
        rank_count(layout.Array<int32_t>(group)),
        totals(layout.Array<int32_t>((images + group - 1) / group)),
        lists(layout, group, candidates),
        selector(layout, candidates) {}
};

int64_t WorkspaceBytes(const Plan& plan, const runtime::Device& device) {
  const cuda::DeviceScope scope(device);
  if (plan.images == 0) return 0;
  core::WorkspaceLayout few, many;
  const int64_t most_few = std::min(plan.anchors, cuda::BoxLists::kMostCompared);
  Workspace(few, plan.images, GroupOf(plan, most_few), most_few);
  Workspace(many, plan.images, GroupOf(plan, plan.anchors), plan.anchors);
  return std::max(few.Bytes(), many.Bytes());
}

// With a pixel offset, lengths count one more pixel; a small margin makes sure that no rounding
// matters.
__device__ float4 Reach(const Box<float>& b, float offset) {
  if (offset == 0.0f) return make_float4(b.x1, b.y1, b.x2, b.y2);
  return make_float4(b.x1, b.y1, b.x2 + (offset + 1e-6f * b.x2), b.y2 + (offset + 1e-6f * b.y2));
}

// The anchor of a candidate. The caller's memory may change meanwhile, and with it what was chosen,
// but never what is read here.
__device__ int64_t AnchorOf(const Plan& plan, const uint64_t* order, int64_t position) {
  return min(cuda::IndexOf(order[position]), plan.anchors - 1);
}

// blockIdx.y is the image of the group; args start at the group.
__global__ void __launch_bounds__(kThreads)
    DecodeKernel(Plan plan, Args args, const uint64_t* order, Workspace w) {
  cuda::BeginKernel();
  const int64_t image = blockIdx.y;
  const math::ImageSize size = {args.im_shape[2 * image], args.im_shape[2 * image + 1]};
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < plan.candidates; i += step) {
    const int64_t to = image * plan.candidates + i;
    const int64_t anchor = AnchorOf(plan, order, to);
    const Box<float> box = math::DecodeProposal(
        args.anchors + 4 * anchor, args.bbox_deltas + 4 * (image * plan.anchors + anchor),
        args.variances + 4 * anchor, size, plan.offset);
    w.boxes[to] = make_float4(box.x1, box.y1, box.x2, box.y2);
    w.areas[to] = math::BoxArea(box, plan.offset);
    const float4 reach = Reach(box, plan.offset);
    w.lists.Begin(to, reach, /*overlaps=*/reach.x <= reach.z,
                  /*excluded=*/!math::KeepProposal(box, size, plan.min_size, plan.offset));
  }
}

// An image without candidates still has one result: the all-zero box.
__device__ int32_t ResultsOf(const Plan& plan, const Workspace& w, int64_t image) {
  const auto kept = static_cast<int32_t>(min(int64_t{w.rank_count[image]}, plan.most_rois));
  return kept == 0 && plan.most_rois > 0 ? 1 : kept;
}

__global__ void __launch_bounds__(kThreads)
    WriteKernel(Plan plan, Args args, const uint64_t* order, int64_t group, Workspace w) {
  cuda::BeginKernel();
  const int64_t image = blockIdx.y;
  // Not read back from the results: the caller's memory may change, but this is where they go.
  int32_t first = group == 0 ? 0 : w.totals[group - 1];
  for (int64_t i = 0; i < image; ++i) first += ResultsOf(plan, w, i);
  const bool none = w.rank_count[image] == 0;
  const int32_t results = ResultsOf(plan, w, image);
  const auto step = static_cast<int32_t>(gridDim.x * blockDim.x);
  const auto thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int32_t i = thread; i < results; i += step) {
    float4 box = {0.0f, 0.0f, 0.0f, 0.0f};
    float score = 0.0f;
    if (!none) {
      const int64_t position = image * plan.candidates + w.ranks[image * plan.candidates + i];
      box = w.boxes[position];
      score = args.scores[image * plan.anchors + AnchorOf(plan, order, position)];
    }
    const int64_t to = int64_t{first} + i;
    // The caller's memory need not be aligned to more than a float.
    args.rpn_rois[4 * to] = box.x;
    args.rpn_rois[4 * to + 1] = box.y;
    args.rpn_rois[4 * to + 2] = box.z;
    args.rpn_rois[4 * to + 3] = box.w;
    args.rpn_roi_probs[to] = score;
  }
  if (thread != 0) return;
  args.rpn_rois_num[image] = results;
  if (image + 1 == w.lists.images) w.totals[group] = *args.rpn_rois_batch_size = first + results;
}

void RunGroup(const Plan& plan, const Args& all, int64_t first, int64_t images, int64_t group,
              cuda::Launcher& launch, Workspace& w) {
  Args args = all;
  args.scores += first * plan.anchors;
  args.bbox_deltas += first * plan.anchors * 4;
  args.im_shape += first * 2;
  args.rpn_rois_num += first;
  const auto y = static_cast<unsigned>(images);

  w.best.Choose(launch, args.scores, images, plan.anchors, plan.candidates, w.sorter.keys);
  const uint64_t* order = w.sorter.Sort(launch, images, plan.candidates);
  w.lists.images = images;  // the last group may have fewer
  w.lists.most = plan.most_rois;
  w.lists.work = launch.CountWork();
  w.lists.adds_work = group > 0;
  launch("generate_proposals_v2: decoding", DecodeKernel,
         dim3(cuda::BlocksFor(plan.candidates, kThreads), y), kThreads, plan, args, order, w);
  cuda::Suppress(launch, w.lists, cuda::BoxJudge{w.boxes, w.areas, plan.nms_thresh, plan.offset});
  w.selector.Select(launch, w.lists.kept, images, plan.candidates, w.ranks, w.rank_count);
  launch("generate_proposals_v2: writing", WriteKernel,
         dim3(cuda::BlocksFor(std::min(plan.most_rois, plan.candidates), kThreads), y), kThreads,
         plan, args, order, group, w);
}

void Run(const Plan& plan, const Args& args, void* memory, const runtime::Launch& call) {
  cuda::Launcher launch(call);
  core::WorkspaceLayout layout(memory);
  const int64_t group = GroupOf(plan, plan.candidates);
  Workspace w(layout, plan.images, group, plan.candidates);
  for (int64_t first = 0; first < plan.images; first += group) {
    RunGroup(plan, args, first, std::min(group, plan.images - first), first / group, launch, w);
  }
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::GenerateProposalsV2>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::GenerateProposalsV2> implementation = {
      "cuda:simt", UsableEverywhere, ops::SortUnsupported, ops::WorkspaceBytes, ops::Run};
  return implementation;
}
