// SPDX-License-Identifier: Apache-2.0
//
// Sort by score, prepare each box once, suppress (cuda/suppression.cuh), list the kept boxes in
// that order.
#include <cstdint>

#include "cuda/box_judge.cuh"
#include "cuda/sort.h"
#include "math/half.h"
#include "math/score_order.h"
#include "ops/nms/below_zero.h"
#include "ops/nms/may_overlap.h"
#include "ops/nms/plan.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 256;

struct Workspace {
  cuda::KeySorter sorter;  // [count]
  float4* bounds;          // [count] by score, as they are
  float* areas;            // [count] by score
  int32_t* ranks;          // [count] of those kept
  int32_t* rank_count;     // [1]
  cuda::BoxLists lists;
  cuda::IndexSelector selector;

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : sorter(layout, 1, count),
        bounds(layout.Array<float4>(count)),
        areas(layout.Array<float>(count)),
        ranks(layout.Array<int32_t>(count)),
        rank_count(layout.Array<int32_t>(1)),
        lists(layout, 1, count),
        selector(layout, count) {}
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    KeysKernel(int64_t count, const T* scores, uint64_t* keys) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    keys[i] = cuda::KeyAndIndex(math::ScoreRank(math::ToFloat(scores[i])), i);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    PrepareKernel(int64_t count, const T* boxes, const uint64_t* order, Workspace w) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const T* from = boxes + 4 * cuda::IndexOf(order[i]);
    const math::Box<float> box = {math::ToFloat(from[0]), math::ToFloat(from[1]),
                                  math::ToFloat(from[2]), math::ToFloat(from[3])};
    const float area = w.areas[i] = math::BoxArea(box, 0.0f);
    const float4 bounds = w.bounds[i] = make_float4(box.x1, box.y1, box.x2, box.y2);
    w.lists.Begin(i, bounds, nms::MayOverlap(box, area), /*excluded=*/false);
  }
}

// One thread: the rule is a chain, and the threshold makes no sense for a network.
__global__ void BelowZeroKernel(int64_t count, const float4* boxes, float threshold, int32_t* kept,
                                int32_t* kept_count) {
  cuda::BeginKernel();
  const auto box_at = [&](int64_t rank) -> math::Box<float> {
    const float4 box = boxes[rank];
    return {box.x, box.y, box.z, box.w};
  };
  *kept_count = nms::KeepBelowZero(count, box_at, threshold, kept);
}

__global__ void __launch_bounds__(kThreads)
    WriteKernel(const int32_t* ranks, const int32_t* rank_count, const uint64_t* order,
                int32_t* output, int32_t* result_num) {
  cuda::BeginKernel();
  const int32_t count = *rank_count;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (first == 0) *result_num = count;
  for (int64_t i = first; i < count; i += step) {
    output[i] = static_cast<int32_t>(cuda::IndexOf(order[ranks[i]]));
  }
}

int64_t WorkspaceBytes(const NmsPlan& plan, const runtime::Device& device) {
  const cuda::DeviceScope scope(device);
  core::WorkspaceLayout layout;
  Workspace(layout, plan.count);
  return layout.Bytes();
}

template <class T>
void RunOn(const NmsPlan& plan, const NmsArgs& args, Workspace& w, cuda::Launcher& launch) {
  const int64_t count = plan.count;
  const bool below_zero = plan.iou_threshold < 0.0f;
  const unsigned blocks = cuda::BlocksFor(count, kThreads);
  w.lists.work = launch.CountWork();
  launch("nms: keys", KeysKernel<T>, blocks, kThreads, count, static_cast<const T*>(args.scores),
         w.sorter.keys);
  const uint64_t* order = w.sorter.Sort(launch, 1, count);
  launch("nms: preparing boxes", PrepareKernel<T>, blocks, kThreads, count,
         static_cast<const T*>(args.boxes), order, w);
  if (below_zero) {
    launch("nms: threshold below 0", BelowZeroKernel, 1, 1, count, w.bounds, plan.iou_threshold,
           w.ranks, w.rank_count);
  } else {
    cuda::Suppress(launch, w.lists, cuda::BoxJudge{w.bounds, w.areas, plan.iou_threshold, 0.0f});
    w.selector.Select(launch, w.lists.kept, 1, count, w.ranks, w.rank_count);
  }
  launch("nms: writing", WriteKernel, blocks, kThreads, w.ranks, w.rank_count, order, args.output,
         args.result_num);
}

void Run(const NmsPlan& plan, const NmsArgs& args, void* memory, const runtime::Launch& call) {
  cuda::Launcher launch(call);
  core::WorkspaceLayout layout(memory);
  Workspace w(layout, plan.count);
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    RunOn<math::Half>(plan, args, w, launch);
  } else {
    RunOn<float>(plan, args, w, launch);
  }
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::Nms>& detops::runtime::PluginImplementation() {
  static const Implementation<ops::Nms> implementation = {
      "cuda:simt", UsableEverywhere, SupportsAll<ops::NmsPlan>, ops::WorkspaceBytes, ops::Run};
  return implementation;
}
