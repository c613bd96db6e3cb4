// SPDX-License-Identifier: Apache-2.0
//
// Sort by score, prepare each box once, suppress (cuda/suppression.cuh), list the kept boxes in the
// order of the input. The suppression finds the pairs whose bounds overlap in the
// coordinates of a math::QuadFrame, chosen on the device where there are many boxes. A pair is
// decided by the cheapest test that can prove its answer: a bound on the IoU from areas and bounds,
// then math::QuadPair in float and in double; pairs that none of them can decide go to
// math::QuadIoUGreater, which is the definition.
#include <cstdint>

#include "cuda/sort.h"
#include "cuda/suppression.cuh"
#include "math/quad_frame.h"
#include "math/quad_pair.h"
#include "math/score_order.h"
#include "ops/poly_nms/plan.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 256;
// Above this many boxes, a frame is chosen.
constexpr int64_t kFrameFrom = 4096;

struct Workspace {
  cuda::KeySorter sorter;   // [count]
  math::FilterQuad* quads;  // [count] by score
  float4* bounds;           // [count] by score
  float* areas;             // [count] by score: for the comparison with the bounds in the frame
  math::QuadFrame* frame;   // null: plain
  cuda::BoxLists lists;     // with the bounds in the frame
  cuda::IndexSelector selector;

  Workspace(core::WorkspaceLayout& layout, int64_t count)
      : sorter(layout, 1, count),
        quads(layout.Array<math::FilterQuad>(count)),
        bounds(layout.Array<float4>(count)),
        areas(layout.Array<float>(count)),
        frame(layout.Array<math::QuadFrame>(count > kFrameFrom ? 1 : 0)),
        lists(layout, 1, count),
        selector(layout, count) {}
};

__device__ math::QuadBounds AsBounds(const float4& b) { return {b.x, b.y, b.z, b.w}; }

// Not inlined, so that its registers don't count towards the common path.
__device__ __noinline__ bool Measure(const float* a, const float* b, float threshold) {
  return math::QuadIoUGreater(a, b, threshold);
}

struct Judge {
  const float* boxes;             // [count,9] the input
  const uint64_t* order;          // [count] of the input by score
  const math::FilterQuad* quads;  // [count] by score
  const float4* bounds;           // [count] by score
  const float4* reach;            // [count] by score: the bounds in the frame
  const float* areas;             // [count] by score; 0 where it can't be compared with the reach
  float threshold;

  static constexpr bool kDoubts = true;
  struct Box {
    float4 reach;
    float area;
  };

  __device__ Box Load(int32_t rank) const { return {reach[rank], areas[rank]}; }

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

  __device__ bool Decide(const cuda::Pair& pair, bool there) const {
    using math::Shape, math::Verdict;
    // Lanes judge each other's pairs in turn, which then are near.
    if (there) {
      Prefetch(quads + pair.ahead);
      Prefetch(quads + pair.behind);
    }
    const bool convex = there && quads[pair.ahead].shape != Shape::kOther &&
                        quads[pair.behind].shape != Shape::kOther;
    Verdict verdict = JudgeIn<float>(pair, convex);
    const bool doubtful = convex && verdict == Verdict::kDoubtful;
    if (__any_sync(cuda::kAllLanes, doubtful)) {
      const Verdict wide = JudgeInDouble(pair, doubtful);
      if (doubtful) verdict = wide;
    }
    if (!there || verdict != Verdict::kDoubtful) return there && verdict == Verdict::kYes;
    return Measure(boxes + 9 * cuda::IndexOf(order[pair.ahead]),
                   boxes + 9 * cuda::IndexOf(order[pair.behind]), threshold);
  }

 private:
  __device__ static void Prefetch(const void* memory) {
    asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(memory)));
  }

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
    KeysKernel(int64_t count, const float* boxes, uint64_t* keys) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    keys[i] = cuda::KeyAndIndex(math::ScoreRank(boxes[9 * i + 8]), i);
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
    PrepareKernel(int64_t count, const float* boxes, const uint64_t* order, float threshold,
                  Workspace w) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float* box = boxes + 9 * cuda::IndexOf(order[i]);
    math::QuadBounds b;
    const math::FilterQuad quad = math::PrepareQuad(box, b);
    w.quads[i] = quad;
    w.bounds[i] = make_float4(b.x1, b.y1, b.x2, b.y2);
    w.areas[i] = quad.area;
    if (w.frame != nullptr) {
      b = math::ReachIn(*w.frame, quad, box, b, threshold);
      if (w.frame->kind == math::QuadFrame::Kind::kDirections) w.areas[i] = 0.0f;
    }
    w.lists.Begin(i, make_float4(b.x1, b.y1, b.x2, b.y2), /*overlaps=*/b.x1 <= b.x2,
                  /*excluded=*/false);
  }
}

// Where every pair counts as overlapping.
__global__ void KeepFirstKernel(const uint64_t* order, bool* kept) {
  cuda::BeginKernel();
  kept[cuda::IndexOf(order[0])] = true;
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
  w.lists.work = launch.CountWork();
  launch("poly_nms: keys", KeysKernel, blocks, kThreads, count, args.boxes, w.sorter.keys);
  const uint64_t* order = w.sorter.Sort(launch, 1, count);
  if (w.frame != nullptr) {
    launch("poly_nms: choosing a frame", FrameKernel, 1, kFrameThreads, count, args.boxes,
           plan.iou_threshold, w.frame);
  }
  launch("poly_nms: preparing boxes", PrepareKernel, blocks, kThreads, count, args.boxes, order,
         plan.iou_threshold, w);
  if (plan.iou_threshold < 0.0f) {
    launch("poly_nms: keeping the first", KeepFirstKernel, 1, 1, order, w.lists.kept);
  } else {
    w.lists.kept_at = order;
    cuda::Suppress(
        launch, w.lists,
        Judge{args.boxes, order, w.quads, w.bounds, w.lists.bounds, w.areas, plan.iou_threshold});
  }
  w.selector.Select(launch, w.lists.kept, 1, count, args.output, args.result_num);
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
