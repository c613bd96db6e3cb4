// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "cuda/kept_grid.cuh"

namespace detops::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void ClearLevelsKernel(KeptGrid grid) {
  BeginKernel();
  for (int l = threadIdx.x; l < KeptGrid::kLevels; l += blockDim.x) {
    grid.levels[l] = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, 0, 0};
  }
}

// Counts the boxes that buckets and levels must have room for. Each block first sums up levels in
// shared memory: there are few levels, and all threads add to them.
__global__ void __launch_bounds__(kThreads)
    CountKernel(KeptGrid grid, const float4* bounds, int64_t count) {
  BeginKernel();
  __shared__ KeptGrid::Level mine[KeptGrid::kLevels];
  for (int l = threadIdx.x; l < KeptGrid::kLevels; l += blockDim.x) {
    mine[l] = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, 0, 0};
  }
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float4 b = bounds[i];
    const KeptGrid::Place place = grid.places[i] = grid.PlaceOf(b);
    if (place.level == KeptGrid::kNowhere) continue;
    atomicAdd(&grid.bucket_begin[place.bucket], 1u);
    KeptGrid::Level& level = mine[place.level];
    atomicAdd(&level.reserved, 1u);
    if (place.level == KeptGrid::kHuge) continue;
    const double per_side = KeptGrid::PerSide(place.level);
    const auto x =
        static_cast<long long>(KeptGrid::OrderedBits(KeptGrid::CellOf(b.x, b.z, per_side)));
    const auto y =
        static_cast<long long>(KeptGrid::OrderedBits(KeptGrid::CellOf(b.y, b.w, per_side)));
    atomicMin(reinterpret_cast<long long*>(&level.x_low), x);
    atomicMax(reinterpret_cast<long long*>(&level.x_high), x);
    atomicMin(reinterpret_cast<long long*>(&level.y_low), y);
    atomicMax(reinterpret_cast<long long*>(&level.y_high), y);
  }
  __syncthreads();
  for (int l = threadIdx.x; l < KeptGrid::kLevels; l += blockDim.x) {
    if (mine[l].reserved == 0) continue;
    KeptGrid::Level& level = grid.levels[l];
    atomicAdd(&level.reserved, mine[l].reserved);
    atomicMin(reinterpret_cast<long long*>(&level.x_low), static_cast<long long>(mine[l].x_low));
    atomicMax(reinterpret_cast<long long*>(&level.x_high), static_cast<long long>(mine[l].x_high));
    atomicMin(reinterpret_cast<long long*>(&level.y_low), static_cast<long long>(mine[l].y_low));
    atomicMax(reinterpret_cast<long long*>(&level.y_high), static_cast<long long>(mine[l].y_high));
  }
}

__global__ void PlaceLevelsKernel(KeptGrid grid) {
  BeginKernel();
  __shared__ uint32_t reserved[KeptGrid::kLevels];
  reserved[threadIdx.x] = grid.levels[threadIdx.x].reserved;
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t begin = 0;
  int used = 0;
  for (int l = 0; l < KeptGrid::kLevels; ++l) {
    if (reserved[l] == 0) continue;
    grid.used_levels[used++] = l;
    grid.levels[l].begin = begin;
    begin += reserved[l];
  }
  grid.used_levels[used] = -1;
}

}  // namespace

KeptGrid::KeptGrid(core::WorkspaceLayout& layout, int64_t boxes)
    : capacity(boxes),
      buckets(static_cast<int64_t>(
          std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(2 * boxes, 64, 1ll << 31))))),
      used_levels(layout.Array<int>(kLevels + 1)),
      levels(layout.Array<Level>(kLevels)),
      places(layout.Array<Place>(boxes)),
      bucket_begin(layout.Array<uint32_t>(buckets)),
      bucket_count(layout.Array<uint32_t>(buckets)),
      slot_bounds(layout.Array<float4>(boxes)),
      slot_box(layout.Array<int32_t>(boxes)),
      level_boxes(layout.Array<int32_t>(boxes)),
      scan_bytes(ScanTemporaryBytes(buckets)) {
  scan_memory = layout.Array<char>(static_cast<int64_t>(scan_bytes));
}

void KeptGrid::Reserve(Launcher& launch, const float4* bounds, int64_t count) {
  const char* what = "making the grid of kept boxes";
  const auto bytes = static_cast<size_t>(buckets) * sizeof(uint32_t);
  Check(cudaMemsetAsync(bucket_begin, 0, bytes, launch.stream()), what);
  Check(cudaMemsetAsync(bucket_count, 0, bytes, launch.stream()), what);
  launch(what, ClearLevelsKernel, 1, kLevels, *this);
  launch(what, CountKernel, BlocksFor(count, kThreads, 8 * launch.multiprocessors()), kThreads,
         *this, bounds, count);
  launch(what, PlaceLevelsKernel, 1, kLevels, *this);
  ExclusiveSum(launch, scan_memory, scan_bytes, bucket_begin, buckets);
}

}  // namespace detops::cuda
