// SPDX-License-Identifier: Apache-2.0
//
// Sort by score, prepare each box once, suppress in chunks (cuda/greedy_nms.cuh), list the kept
// boxes in that order.
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
// Above this many boxes, the grid of kept boxes is faster than comparing with all of them, and
// dense clusters are thinned.
constexpr int64_t kGridFrom = 4096;

struct Workspace {
  cuda::SortBuffers sort;  // [count]
  size_t sort_bytes;
  void* sort_memory;
  float4* bounds;  // [count] by score
  float* areas;    // [count] by score
  cuda::NmsLists lists;

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : sort{{layout.Array<uint64_t>(count), layout.Array<uint64_t>(count)},
             {layout.Array<uint32_t>(count), layout.Array<uint32_t>(count)}},
        sort_bytes(cuda::SortTemporaryBytes(count)),
        sort_memory(layout.Array<char>(static_cast<int64_t>(sort_bytes))),
        bounds(layout.Array<float4>(count)),
        areas(layout.Array<float>(count)),
        lists(layout, 1, count, count > kGridFrom) {
    if (count <= kGridFrom) return;
    lists.excluded = layout.Array<bool>(count);
    lists.thinned = layout.Array<int32_t>(1);
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    KeysKernel(int64_t count, const T* scores, uint64_t* keys, uint32_t* values) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    keys[i] = math::ScoreRank(math::ToFloat(scores[i]));
    values[i] = static_cast<uint32_t>(i);
  }
}

// Boxes that can't overlap others get bounds that overlap nothing, unless all boxes are wanted as
// they are.
template <class T>
__global__ void __launch_bounds__(kThreads)
    PrepareKernel(int64_t count, const T* boxes, const uint32_t* order, bool as_they_are,
                  float4* bounds, float* areas) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const T* from = boxes + 4 * int64_t{order[i]};
    const math::Box<float> box = {math::ToFloat(from[0]), math::ToFloat(from[1]),
                                  math::ToFloat(from[2]), math::ToFloat(from[3])};
    areas[i] = math::BoxArea(box, 0.0f);
    const bool whole = as_they_are || nms::MayOverlap(box, areas[i]);
    bounds[i] = whole ? make_float4(box.x1, box.y1, box.x2, box.y2) : make_float4(1, 1, 0, 0);
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
    WriteKernel(const int32_t* ranks, const int32_t* rank_count, const uint32_t* order,
                int32_t* output, int32_t* result_num) {
  cuda::BeginKernel();
  const int32_t count = *rank_count;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (first == 0) *result_num = count;
  for (int64_t i = first; i < count; i += step) {
    output[i] = static_cast<int32_t>(order[ranks[i]]);
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
  launch("nms: keys", KeysKernel<T>, blocks, kThreads, count, static_cast<const T*>(args.scores),
         w.sort.keys[0], w.sort.values[0]);
  const uint32_t* order =
      cuda::SortIndices(launch, w.sort_memory, w.sort_bytes, w.sort, count, /*bits=*/32);
  launch("nms: preparing boxes", PrepareKernel<T>, blocks, kThreads, count,
         static_cast<const T*>(args.boxes), order, below_zero, w.bounds, w.areas);
  if (below_zero) {
    launch("nms: threshold below 0", BelowZeroKernel, 1, 1, count, w.bounds, plan.iou_threshold,
           w.lists.kept, w.lists.kept_count);
  } else {
    w.lists.bounds = w.bounds;
    w.lists.most = count;
    cuda::GreedyNms(launch, w.lists,
                    cuda::BoxJudge{w.bounds, w.areas, count, plan.iou_threshold, 0.0f});
  }
  launch("nms: writing", WriteKernel, blocks, kThreads, w.lists.kept, w.lists.kept_count, order,
         args.output, args.result_num);
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
