// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "cuda/box_grid.cuh"

namespace detops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr BoxGrid::Level kNoBoxes = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, 0, 0};

__device__ int LevelOf(const float4& b) { return math::BoxLevelOf(b.x, b.y, b.z, b.w); }
__device__ bool Overlaps(const float4& b) { return b.x <= b.z; }

__global__ void __launch_bounds__(kThreads) ClearKernel(BoxGrid grid) {
  BeginKernel();
  const auto first = static_cast<int64_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (first < BoxGrid::kLevels) grid.levels[first] = kNoBoxes;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = first; i < grid.buckets; i += step) grid.ranges[i] = {0, 0};
}

// Finds the bucket of each box, which is the key to sort by, and what levels have to know. Each
// block first sums up levels in shared memory: there are few levels, and all threads add to them.
__global__ void __launch_bounds__(kThreads)
    CountKernel(BoxGrid grid, const float4* bounds, int64_t count) {
  BeginKernel();
  __shared__ BoxGrid::Level mine[BoxGrid::kLevels];
  for (int l = threadIdx.x; l < BoxGrid::kLevels; l += blockDim.x) mine[l] = kNoBoxes;
  __syncthreads();
  const auto lower = [](int64_t& to, int64_t v) {
    atomicMin(reinterpret_cast<long long*>(&to), static_cast<long long>(v));
  };
  const auto raise = [](int64_t& to, int64_t v) {
    atomicMax(reinterpret_cast<long long*>(&to), static_cast<long long>(v));
  };
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float4 b = bounds[i];
    uint32_t bucket = grid.buckets;  // behind all others
    if (Overlaps(b)) {
      const int l = LevelOf(b);
      BoxGrid::Level& level = mine[l];
      atomicAdd(&level.count, 1u);
      if (l != BoxGrid::kHuge) {
        bucket = grid.BucketOf(l, b);
        const double per_side = math::BoxLevelPerSide(l);
        const int64_t x = BoxGrid::OrderedBits(BoxGrid::CellOf(b.x, b.z, per_side));
        const int64_t y = BoxGrid::OrderedBits(BoxGrid::CellOf(b.y, b.w, per_side));
        lower(level.x_low, x);
        raise(level.x_high, x);
        lower(level.y_low, y);
        raise(level.y_high, y);
      }
    }
    grid.sorter.keys[i] = bucket;
    grid.sorter.values[i] = static_cast<int32_t>(i);
  }
  __syncthreads();
  for (int l = threadIdx.x; l < BoxGrid::kLevels; l += blockDim.x) {
    if (mine[l].count == 0) continue;
    BoxGrid::Level& level = grid.levels[l];
    atomicAdd(&level.count, mine[l].count);
    lower(level.x_low, mine[l].x_low);
    raise(level.x_high, mine[l].x_high);
    lower(level.y_low, mine[l].y_low);
    raise(level.y_high, mine[l].y_high);
  }
}

// One warp.
__global__ void PlaceLevelsKernel(BoxGrid grid) {
  BeginKernel();
  const auto lane = static_cast<int>(threadIdx.x);
  uint32_t begin = 0;
  int used = 0;
  for (int first = 0; first < BoxGrid::kLevels; first += 32) {
    const int l = first + lane;
    const uint32_t count = l < BoxGrid::kLevels ? grid.levels[l].count : 0;
    const unsigned there = __ballot_sync(kAllLanes, count > 0);
    uint32_t end = count;
    for (int distance = 1; distance < 32; distance *= 2) {
      const uint32_t before = __shfl_up_sync(kAllLanes, end, distance);
      if (lane >= distance) end += before;
    }
    if (count > 0) {
      grid.used_levels[used + __popc(there & ((1u << lane) - 1))] = l;
      grid.levels[l].begin = begin + end - count;
    }
    used += __popc(there);
    begin += __shfl_sync(kAllLanes, end, 31);
  }
  if (lane == 0) grid.used_levels[used] = -1;
}

// Of the boxes in the order of buckets: where buckets begin and end, bounds, and lists of levels,
// in which each block takes room once.
constexpr int kFillPerThread = 4;
constexpr int kFillPerBlock = kThreads * kFillPerThread;
__global__ void __launch_bounds__(kThreads)
    FillKernel(BoxGrid grid, const float4* bounds, const uint32_t* keys, int64_t count) {
  BeginKernel();
  __shared__ uint32_t room[BoxGrid::kLevels];  // how many boxes of the block, then where they go
  for (int l = threadIdx.x; l < BoxGrid::kLevels; l += kThreads) room[l] = 0;
  __syncthreads();
  const int64_t begin = int64_t{blockIdx.x} * kFillPerBlock + threadIdx.x;
  int32_t box[kFillPerThread];
  int level[kFillPerThread];
  uint32_t place[kFillPerThread];
#pragma unroll
  for (int k = 0; k < kFillPerThread; ++k) {
    const int64_t i = begin + k * kThreads;
    level[k] = -1;
    if (i >= count) continue;
    box[k] = grid.slot_box[i];
    const float4 b = bounds[box[k]];
    const uint32_t bucket = keys[i];
    if (bucket < grid.buckets) {
      grid.slot_bounds[i] = b;
      if (i == 0 || keys[i - 1] != bucket) grid.ranges[bucket].begin = static_cast<uint32_t>(i);
      if (i + 1 == count || keys[i + 1] != bucket) {
        grid.ranges[bucket].end = static_cast<uint32_t>(i + 1);
      }
    }
    if (!Overlaps(b)) continue;
    level[k] = LevelOf(b);
    place[k] = atomicAdd(&room[level[k]], 1u);
  }
  __syncthreads();
  for (int l = threadIdx.x; l < BoxGrid::kLevels; l += kThreads) {
    if (room[l] == 0) continue;
    room[l] = grid.levels[l].begin + atomicAdd(&grid.levels[l].listed, room[l]);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kFillPerThread; ++k) {
    if (level[k] >= 0) grid.level_boxes[room[level[k]] + place[k]] = box[k];
  }
}

}  // namespace

BoxGrid::BoxGrid(core::WorkspaceLayout& layout, int64_t boxes)
    : capacity(boxes),
      buckets(std::bit_ceil(static_cast<uint32_t>(std::clamp<int64_t>(boxes, 64, 1ll << 30)))),
      used_levels(layout.Array<int>(kLevels + 1)),
      levels(layout.Array<Level>(kLevels)),
      ranges(layout.Array<Range>(buckets)),
      slot_bounds(layout.Array<float4>(boxes)),
      level_boxes(layout.Array<int32_t>(boxes)),
      sorter(layout, boxes) {}

void BoxGrid::Build(Launcher& launch, const float4* bounds, int64_t count) {
  const char* what = "binning boxes";
  launch(what, ClearKernel, BlocksFor(buckets, kThreads), kThreads, *this);
  launch(what, CountKernel, BlocksFor(count, kThreads, 8 * launch.multiprocessors()), kThreads,
         *this, bounds, count);
  launch(what, PlaceLevelsKernel, 1, 32, *this);
  const PairSorter::Result sorted = sorter.Sort(launch, count, std::bit_width(buckets));
  slot_box = sorted.values;
  launch(what, FillKernel, BlocksFor(count, kFillPerBlock, INT32_MAX), kThreads, *this, bounds,
         sorted.keys, count);
}

}  // namespace detops::cuda
