// SPDX-License-Identifier: Apache-2.0
//
// Sort by score, prepare each box once, suppress in chunks (cuda/greedy_nms.cuh), list the kept
// boxes in the order of the input. The suppression finds the pairs whose bounds overlap in the
// coordinates of a math::QuadFrame, chosen on the device where there are many boxes. A pair is
// decided by the cheapest test that can prove its answer: a bound on the IoU from areas and bounds,
// then math::QuadPair in float and in double; pairs that none of them can decide go to
// math::QuadIoUGreater, which is the definition.
#include <cstdint>

#include "cuda/greedy_nms.cuh"
#include "cuda/sort.h"
#include "math/quad_frame.h"
#include "math/quad_pair.h"
#include "math/score_order.h"
#include "ops/poly_nms/plan.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 256;
// Above this many boxes, the grid of kept boxes is faster than comparing with all of them, dense
// clusters are thinned, and a frame is chosen.
constexpr int64_t kGridFrom = 4096;

struct Workspace {
  cuda::SortBuffers sort;  // [count]
  size_t sort_bytes;
  void* sort_memory;
  math::FilterQuad* quads;  // [count] by score
  float4* bounds;           // [count] by score
  float4* reach;            // [count] by score: the bounds in the frame
  float* areas;             // [count] by score: for the comparison with the reach
  math::QuadFrame* frame;   // null: plain
  bool* kept;               // [count] by input index
  size_t select_bytes;
  void* select_memory;
  cuda::NmsLists lists;

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : sort{{layout.Array<uint64_t>(count), layout.Array<uint64_t>(count)},
             {layout.Array<uint32_t>(count), layout.Array<uint32_t>(count)}},
        sort_bytes(cuda::SortTemporaryBytes(count)),
        sort_memory(layout.Array<char>(static_cast<int64_t>(sort_bytes))),
        quads(layout.Array<math::FilterQuad>(count)),
        bounds(layout.Array<float4>(count)),
        reach(bounds),
        areas(layout.Array<float>(count)),
        frame(nullptr),
        kept(layout.Array<bool>(count)),
        select_bytes(cuda::SelectTemporaryBytes(count)),
        select_memory(layout.Array<char>(static_cast<int64_t>(select_bytes))),
        lists(layout, 1, count, count > kGridFrom) {
    if (count <= kGridFrom) return;
    reach = layout.Array<float4>(count);
    frame = layout.Array<math::QuadFrame>(1);
    lists.excluded = layout.Array<bool>(count);
    lists.thinned = layout.Array<int32_t>(1);
  }
};

__device__ math::QuadBounds AsBounds(const float4& b) { return {b.x, b.y, b.z, b.w}; }

// Not inlined, so that its registers don't count towards the common path.
__device__ __noinline__ bool Measure(const float* a, const float* b, float threshold) {
  return math::QuadIoUGreater(a, b, threshold);
}

struct Judge {
  const float* boxes;             // [count,9] the input
  const uint32_t* order;          // [count] of the input by score
  const math::FilterQuad* quads;  // [count] by score
  const float4* bounds;           // [count] by score
  const float4* reach;            // [count] by score
  const float* areas;             // [count] by score; 0 where it can't be compared with the reach
  float threshold;

  static constexpr bool kDoubts = true;
  struct Box {
    float4 reach;
    float area;
  };

  __device__ Box Load(int64_t, int64_t rank) const { return {reach[rank], areas[rank]}; }

  __device__ double LeastArea(const Box& behind) const {
    return math::LeastAreaToSuppress(behind.area, threshold);
  }
  __device__ math::Verdict Quick(const Box& a, const Box& b) const {
    const math::QuadBounds reach_a = AsBounds(a.reach), reach_b = AsBounds(b.reach);
    const bool never = !math::BoundsOverlap(reach_a, reach_b) ||
                       (a.area > 0.0f && b.area > 0.0f &&
                        math::NeverEnough(a.area, b.area, reach_a, reach_b, threshold));
    return never ? math::Verdict::kNo : math::Verdict::kDoubtful;
  }

  __device__ bool Decide(int64_t, const cuda::Pair& pair, bool there) const {
    using math::Shape, math::Verdict;
    const bool convex = there && quads[pair.ahead].shape != Shape::kOther &&
                        quads[pair.behind].shape != Shape::kOther;
    Verdict verdict = JudgeIn<float>(pair, convex);
    const bool doubtful = convex && verdict == Verdict::kDoubtful;
    if (__any_sync(cuda::kAllLanes, doubtful)) {
      const Verdict wide = JudgeInDouble(pair, doubtful);
      if (doubtful) verdict = wide;
    }
    if (!there || verdict != Verdict::kDoubtful) return there && verdict == Verdict::kYes;
    return Measure(boxes + 9 * int64_t{order[pair.ahead]}, boxes + 9 * int64_t{order[pair.behind]},
                   threshold);
  }

 private:
  // Judges the pairs of the lanes that are `asking`, four at a time: eight lanes per pair, one edge
  // per lane.
  template <class Real>
  __device__ math::Verdict JudgeIn(const cuda::Pair& mine, bool asking) const {
    constexpr int kLanes = math::kPairEdges;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    math::Verdict verdict = math::Verdict::kDoubtful;
    for (unsigned rest = __ballot_sync(cuda::kAllLanes, asking); rest != 0;) {
      int pair = 0;  // the lane whose pair it is
      for (int group = 0; group < 32 / kLanes; ++group) {
        if (rest != 0 && group <= lane / kLanes) pair = __ffs(static_cast<int>(rest)) - 1;
        rest &= rest - 1;
      }
      const int32_t ahead = __shfl_sync(cuda::kAllLanes, mine.ahead, pair);
      const int32_t behind = __shfl_sync(cuda::kAllLanes, mine.behind, pair);
      const math::QuadPair<Real> quad_pair(quads[ahead], quads[behind], AsBounds(bounds[ahead]),
                                           AsBounds(bounds[behind]));
      math::EdgeSums<Real> sum = quad_pair.SumEdge(lane % kLanes);
      for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        sum.Add({__shfl_xor_sync(cuda::kAllLanes, sum.shared, distance),
                 __shfl_xor_sync(cuda::kAllLanes, sum.area, distance),
                 __shfl_xor_sync(cuda::kAllLanes, sum.error, distance),
                 __shfl_xor_sync(cuda::kAllLanes, sum.nearest, distance)});
      }
      const math::Verdict found = quad_pair.Judge(sum, threshold);
      // Send the verdicts to the lanes that asked.
      for (int group = 0; group < 32 / kLanes; ++group) {
        const int asker = __shfl_sync(cuda::kAllLanes, pair, group * kLanes);
        const auto answer = static_cast<math::Verdict>(
            __shfl_sync(cuda::kAllLanes, static_cast<int>(found), group * kLanes));
        if (lane == asker) verdict = answer;
      }
    }
    return verdict;
  }
  // As above.
  __device__ __noinline__ math::Verdict JudgeInDouble(const cuda::Pair& mine, bool asking) const {
    return JudgeIn<double>(mine, asking);
  }
};

__global__ void __launch_bounds__(kThreads)
    KeysKernel(int64_t count, const float* boxes, uint64_t* keys, uint32_t* values) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    keys[i] = math::ScoreRank(boxes[9 * i + 8]);
    values[i] = static_cast<uint32_t>(i);
  }
}

// Chooses the frame on a sample of the boxes: a block of a thread per frame and box.
constexpr int kFrameThreads = math::kFrames * math::kFrameSample;
__global__ void __launch_bounds__(kFrameThreads)
    FrameKernel(int64_t count, const float* boxes, float threshold, math::QuadFrame* frame) {
  cuda::BeginKernel();
  constexpr int kSample = math::kFrameSample;
  __shared__ math::FilterQuad quads[kSample];
  __shared__ math::QuadBounds plain[kSample], reach[math::kFrames][kSample];
  __shared__ int overlaps[math::kFrames];
  const auto number = static_cast<int>(threadIdx.x) / kSample;
  const auto mine = static_cast<int>(threadIdx.x) % kSample;
  const float* box = boxes + 9 * math::FrameSampleAt(mine, count);
  if (number == 0) quads[mine] = math::PrepareQuad(box, plain[mine]);
  if (mine == 0) overlaps[number] = 0;
  __syncthreads();
  reach[number][mine] =
      math::ReachIn(math::NumberedFrame(number, quads), quads[mine], box, plain[mine], threshold);
  __syncthreads();
  int with_earlier = 0;
  for (int i = 0; i < mine; ++i) {
    with_earlier += math::BoundsOverlap(reach[number][i], reach[number][mine]) ? 1 : 0;
  }
  atomicAdd(&overlaps[number], with_earlier);
  __syncthreads();
  if (threadIdx.x == 0) *frame = math::NumberedFrame(math::BestFrame(overlaps), quads);
}

__global__ void __launch_bounds__(kThreads)
    PrepareKernel(int64_t count, const float* boxes, const uint32_t* order,
                  const math::QuadFrame* frame, float threshold, math::FilterQuad* quads,
                  float4* bounds, float4* reach, float* areas, bool* kept) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float* box = boxes + 9 * int64_t{order[i]};
    math::QuadBounds b;
    const math::FilterQuad quad = math::PrepareQuad(box, b);
    quads[i] = quad;
    bounds[i] = make_float4(b.x1, b.y1, b.x2, b.y2);
    areas[i] = quad.area;
    if (frame != nullptr) {
      b = math::ReachIn(*frame, quad, box, b, threshold);
      reach[i] = make_float4(b.x1, b.y1, b.x2, b.y2);
      if (frame->kind == math::QuadFrame::Kind::kDirections) areas[i] = 0.0f;
    }
    kept[i] = false;
  }
}

// Marks only the first box, where every pair counts as overlapping, or else the ranks listed.
__global__ void __launch_bounds__(kThreads)
    MarkKernel(bool only_first, const int32_t* ranks, const int32_t* rank_count,
               const uint32_t* order, bool* kept) {
  cuda::BeginKernel();
  const int64_t count = only_first ? 1 : *rank_count;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    kept[order[only_first ? 0 : ranks[i]]] = true;
  }
}

int64_t WorkspaceBytes(const PolyNmsPlan& plan, const runtime::Device& device) {
  const cuda::DeviceScope scope(device);
  core::WorkspaceLayout layout;
  Workspace(layout, plan.count);
  return layout.Bytes();
}

void Run(const PolyNmsPlan& plan, const PolyNmsArgs& args, void* memory,
         const runtime::Launch& call) {
  cuda::Launcher launch(call);
  core::WorkspaceLayout layout(memory);
  Workspace w(layout, plan.count);
  const int64_t count = plan.count;
  const unsigned blocks = cuda::BlocksFor(count, kThreads);
  launch("poly_nms: keys", KeysKernel, blocks, kThreads, count, args.boxes, w.sort.keys[0],
         w.sort.values[0]);
  const uint32_t* order =
      cuda::SortIndices(launch, w.sort_memory, w.sort_bytes, w.sort, count, /*bits=*/32);
  if (w.frame != nullptr) {
    launch("poly_nms: choosing a frame", FrameKernel, 1, kFrameThreads, count, args.boxes,
           plan.iou_threshold, w.frame);
  }
  launch("poly_nms: preparing boxes", PrepareKernel, blocks, kThreads, count, args.boxes, order,
         w.frame, plan.iou_threshold, w.quads, w.bounds, w.reach, w.areas, w.kept);
  const bool only_first = plan.iou_threshold < 0.0f;
  if (!only_first) {
    w.lists.bounds = w.reach;
    w.lists.most = count;
    cuda::GreedyNms(
        launch, w.lists,
        Judge{args.boxes, order, w.quads, w.bounds, w.reach, w.areas, plan.iou_threshold});
  }
  launch("poly_nms: marking", MarkKernel, blocks, kThreads, only_first, w.lists.kept,
         w.lists.kept_count, order, w.kept);
  cuda::SelectIndices(launch, w.select_memory, w.select_bytes, w.kept, count, args.output,
                      args.result_num);
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::PolyNms>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::PolyNms> implementation = {
      "cuda:simt", UsableEverywhere, SupportsAll<ops::PolyNmsPlan>, ops::WorkspaceBytes, ops::Run};
  return implementation;
}
