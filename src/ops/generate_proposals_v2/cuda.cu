// SPDX-License-Identifier: Apache-2.0
//
// Several images at a time: one sort orders the scores of all of them, the candidates that top-k
// keeps are decoded, suppression proceeds in chunks until enough are kept (cuda/greedy_nms.cuh),
// and the kept boxes are packed over the images. All counts stay on the device.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "cuda/box_judge.cuh"
#include "cuda/sort.h"
#include "math/proposal.h"
#include "math/score_order.h"
#include "ops/generate_proposals_v2/plan.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

using math::Box;
using Plan = GenerateProposalsV2Plan;
using Args = GenerateProposalsV2Args;

constexpr int kThreads = 256;
constexpr int64_t kImages = 16;  // at a time, at most
// Above this many boxes, the grid of kept boxes is faster than comparing with all of them.
constexpr int64_t kGridFrom = 16384;

// The sort's values are 32-bit indices into all images of the group.
int64_t ImagesAtATime(int64_t images, int64_t anchors) {
  return std::max<int64_t>(1, std::min({images, kImages, (int64_t{1} << 31) / anchors}));
}

// For `images` images with up to `candidates` candidates each.
struct Workspace {
  cuda::SortBuffers sort;  // [images][anchors]
  size_t sort_bytes;
  void* sort_memory;
  float4* boxes;    // [images][candidates] decoded, by score
  float4* bounds;   // [images][candidates] where they may overlap others
  float* areas;     // [images][candidates]
  bool* excluded;   // [images][candidates] too small, outside or NaN
  int32_t* offset;  // [images] index of the first result
  int32_t* total;   // [1] results of all images so far
  cuda::NmsLists lists;

  Workspace(core::WorkspaceLayout& layout, int64_t images, int64_t anchors, int64_t candidates)
      : Workspace(layout, images, candidates, images * anchors, images * candidates) {}

 private:
  Workspace(core::WorkspaceLayout& layout, int64_t images, int64_t candidates, int64_t all_anchors,
            int64_t all_candidates)
      : sort{{layout.Array<uint64_t>(all_anchors), layout.Array<uint64_t>(all_anchors)},
             {layout.Array<uint32_t>(all_anchors), layout.Array<uint32_t>(all_anchors)}},
        sort_bytes(cuda::SortTemporaryBytes(all_anchors)),
        sort_memory(layout.Array<char>(static_cast<int64_t>(sort_bytes))),
        boxes(layout.Array<float4>(all_candidates)),
        bounds(layout.Array<float4>(all_candidates)),
        areas(layout.Array<float>(all_candidates)),
        excluded(layout.Array<bool>(all_candidates)),
        offset(layout.Array<int32_t>(images)),
        total(layout.Array<int32_t>(1)),
        lists(layout, images, candidates, candidates > kGridFrom) {}
};

// With few candidates, several images share each launch. With many, each image has its own launches
// and a grid.
int64_t GroupOf(const Plan& plan, int64_t candidates) {
  return candidates > kGridFrom ? 1 : ImagesAtATime(plan.images, plan.anchors);
}

int64_t WorkspaceBytes(const Plan& plan, const runtime::Device& device) {
  const cuda::DeviceScope scope(device);
  if (plan.images == 0) return 0;
  core::WorkspaceLayout few, many;
  const int64_t most_few = std::min(plan.anchors, kGridFrom);
  Workspace(few, GroupOf(plan, most_few), plan.anchors, most_few);
  Workspace(many, 1, plan.anchors, plan.anchors);
  return std::max(few.Bytes(), many.Bytes());
}

__global__ void __launch_bounds__(kThreads)
    KeysKernel(int64_t items, int64_t anchors, const float* scores, uint64_t* keys,
               uint32_t* values) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < items; i += step) {
    keys[i] = static_cast<uint64_t>(i / anchors) << 32 | math::ScoreRank(scores[i]);
    values[i] = static_cast<uint32_t>(i);
  }
}

// With a pixel offset, lengths count one more pixel; a small margin makes sure that no rounding
// matters.
__device__ float4 Reach(const Box<float>& b, float offset) {
  if (offset == 0.0f) return make_float4(b.x1, b.y1, b.x2, b.y2);
  return make_float4(b.x1, b.y1, b.x2 + (offset + 1e-6f * b.x2), b.y2 + (offset + 1e-6f * b.y2));
}

// blockIdx.y is the image of the group; args start at the group.
__global__ void __launch_bounds__(kThreads)
    DecodeKernel(Plan plan, Args args, const uint32_t* order, Workspace w) {
  cuda::BeginKernel();
  const int64_t image = blockIdx.y;
  const math::ImageSize size = {args.im_shape[2 * image], args.im_shape[2 * image + 1]};
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < plan.candidates; i += step) {
    const int64_t at = order[image * plan.anchors + i];
    const int64_t anchor = at - image * plan.anchors;
    const Box<float> box =
        math::DecodeProposal(args.anchors + 4 * anchor, args.bbox_deltas + 4 * at,
                             args.variances + 4 * anchor, size, plan.offset);
    const int64_t to = image * plan.candidates + i;
    w.boxes[to] = make_float4(box.x1, box.y1, box.x2, box.y2);
    w.bounds[to] = Reach(box, plan.offset);
    w.areas[to] = math::BoxArea(box, plan.offset);
    w.excluded[to] = !math::KeepProposal(box, size, plan.min_size, plan.offset);
  }
}

// An image without candidates still has one result: the all-zero box.
__device__ int32_t ResultsOf(const Plan& plan, const cuda::NmsLists& lists, int64_t image) {
  const int32_t kept = lists.kept_count[image];
  return kept == 0 && plan.most_rois > 0 ? 1 : kept;
}

__global__ void OffsetsKernel(Plan plan, Args args, bool first_group, Workspace w) {
  cuda::BeginKernel();
  int32_t total = first_group ? 0 : *w.total;
  for (int64_t image = 0; image < w.lists.images; ++image) {
    w.offset[image] = total;
    // Not read back: the caller's memory may change, but this is where results are written.
    const int32_t results = ResultsOf(plan, w.lists, image);
    args.rpn_rois_num[image] = results;
    total += results;
  }
  *w.total = total;
  *args.rpn_rois_batch_size = total;
}

__global__ void __launch_bounds__(kThreads)
    WriteKernel(Plan plan, Args args, const uint32_t* order, Workspace w) {
  cuda::BeginKernel();
  const int64_t image = blockIdx.y;
  const bool none = w.lists.kept_count[image] == 0;
  const int32_t results = ResultsOf(plan, w.lists, image);
  const auto step = static_cast<int32_t>(gridDim.x * blockDim.x);
  for (auto i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x); i < results;
       i += step) {
    float4 box = {0.0f, 0.0f, 0.0f, 0.0f};
    float score = 0.0f;
    if (!none) {
      const int32_t rank = w.lists.kept[image * plan.candidates + i];
      box = w.boxes[image * plan.candidates + rank];
      score = args.scores[order[image * plan.anchors + rank]];
    }
    const int64_t to = w.offset[image] + i;
    // The caller's memory need not be aligned to more than a float.
    args.rpn_rois[4 * to] = box.x;
    args.rpn_rois[4 * to + 1] = box.y;
    args.rpn_rois[4 * to + 2] = box.z;
    args.rpn_rois[4 * to + 3] = box.w;
    args.rpn_roi_probs[to] = score;
  }
}

void RunGroup(const Plan& plan, const Args& all, int64_t first, int64_t images,
              cuda::Launcher& launch, Workspace& w) {
  Args args = all;
  args.scores += first * plan.anchors;
  args.bbox_deltas += first * plan.anchors * 4;
  args.im_shape += first * 2;
  args.rpn_rois_num += first;
  const int64_t items = images * plan.anchors;
  const auto y = static_cast<unsigned>(images);

  launch("generate_proposals_v2: keys", KeysKernel, cuda::BlocksFor(items, kThreads), kThreads,
         items, plan.anchors, args.scores, w.sort.keys[0], w.sort.values[0]);
  const int image_bits = std::bit_width(static_cast<uint64_t>(images - 1));
  const uint32_t* order =
      cuda::SortIndices(launch, w.sort_memory, w.sort_bytes, w.sort, items, 32 + image_bits);
  launch("generate_proposals_v2: decoding", DecodeKernel,
         dim3(cuda::BlocksFor(plan.candidates, kThreads), y), kThreads, plan, args, order, w);

  w.lists.images = images;  // the last group may have fewer
  w.lists.bounds = w.bounds;
  w.lists.excluded = w.excluded;
  w.lists.most = plan.most_rois;
  cuda::GreedyNms(launch, w.lists,
                  cuda::BoxJudge{w.boxes, w.areas, plan.candidates, plan.nms_thresh, plan.offset});
  launch("generate_proposals_v2: counting", OffsetsKernel, 1, 1, plan, args, first == 0, w);
  launch("generate_proposals_v2: writing", WriteKernel,
         dim3(cuda::BlocksFor(std::min(plan.most_rois, plan.candidates), kThreads), y), kThreads,
         plan, args, order, w);
}

void Run(const Plan& plan, const Args& args, void* memory, const runtime::Launch& call) {
  cuda::Launcher launch(call);
  core::WorkspaceLayout layout(memory);
  const int64_t group = GroupOf(plan, plan.candidates);
  Workspace w(layout, group, plan.anchors, plan.candidates);
  for (int64_t first = 0; first < plan.images; first += group) {
    RunGroup(plan, args, first, std::min(group, plan.images - first), launch, w);
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
