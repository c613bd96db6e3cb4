// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/sort.h"

namespace detops::cuda {
namespace {

// Up to kTiledMost keys of 32 bits take two kernels: each block sorts a tile, then every key counts
// the keys before it in all tiles. A radix sort of so few keys would spend its time on launching
// its many kernels.
constexpr int kTile = 1024;
constexpr int64_t kTiledMost = 100'000;
constexpr int kRankThreads = 256;
constexpr int kSearchers = 8;  // lanes per key

// A key and its index, so that no two are equal.
__global__ void __launch_bounds__(kTile / 2)
    SortTilesKernel(int64_t count, const uint64_t* keys, uint64_t* sorted) {
  BeginKernel();
  __shared__ uint64_t tile[kTile];
  const int64_t first = int64_t{blockIdx.x} * kTile;
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
    const int64_t at = first + i;
    tile[i] = at < count ? keys[at] << 32 | static_cast<uint64_t>(at) : ~uint64_t{0};
  }
  __syncthreads();
  // A bitonic network; in steps of up to 32, each warp exchanges keys within a range of its own.
  for (int size = 2; size <= kTile; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      if (step >= 32) {
        __syncthreads();
      } else {
        __syncwarp();
      }
      const auto pair = static_cast<int>(threadIdx.x);
      const int low = 2 * pair - (pair & (step - 1));
      const uint64_t a = tile[low], b = tile[low + step];
      if ((a > b) == ((low & size) == 0)) {
        tile[low] = b;
        tile[low + step] = a;
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kTile && first + i < count; i += blockDim.x) {
    sorted[first + i] = tile[i];
  }
}

__global__ void __launch_bounds__(kRankThreads)
    RankKernel(int64_t count, const uint64_t* sorted, uint32_t* order) {
  BeginKernel();
  const auto searcher = static_cast<int>(threadIdx.x % kSearchers);
  const int64_t at = (int64_t{blockIdx.x} * kRankThreads + threadIdx.x) / kSearchers;
  const int64_t i = min(at, count - 1);  // keeps whole warps active for the shuffles
  const uint64_t key = sorted[i];
  int rank = 0;
  for (int64_t tile = searcher * kTile; tile < count; tile += kSearchers * kTile) {
    const auto size = static_cast<int>(min(int64_t{kTile}, count - tile));
    int before = 0;  // how many of the tile's keys
#pragma unroll
    for (int step = kTile; step > 0; step /= 2) {
      if (before + step <= size && sorted[tile + before + step - 1] < key) before += step;
    }
    rank += before;
  }
  for (int distance = kSearchers / 2; distance > 0; distance /= 2) {
    rank += __shfl_xor_sync(0xffffffffu, rank, distance);
  }
  if (searcher == 0 && at < count) order[rank] = static_cast<uint32_t>(key);
}

}  // namespace

size_t SortTemporaryBytes(int64_t count) {
  cub::DoubleBuffer<uint64_t> keys(nullptr, nullptr);
  cub::DoubleBuffer<uint32_t> values(nullptr, nullptr);
  size_t bytes = 0;
  Check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count), "sizing a sort");
  return bytes;
}

const uint32_t* SortIndices(Launcher& launch, void* temporary, size_t temporary_bytes,
                            const SortBuffers& buffers, int64_t count, int bits) {
  if (count <= kTiledMost && bits == 32) {
    launch("sorting tiles", SortTilesKernel, BlocksFor(count, kTile), kTile / 2, count,
           buffers.keys[0], buffers.keys[1]);
    launch("ranking", RankKernel, BlocksFor(count, kRankThreads / kSearchers), kRankThreads, count,
           buffers.keys[1], buffers.values[1]);
    return buffers.values[1];
  }
  cub::DoubleBuffer<uint64_t> keys(buffers.keys[0], buffers.keys[1]);
  cub::DoubleBuffer<uint32_t> values(buffers.values[0], buffers.values[1]);
  Check(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys, values, count, 0, bits,
                                        launch.stream()),
        "sorting");
  return values.Current();
}

size_t SelectTemporaryBytes(int64_t count) {
  size_t bytes = 0;
  Check(
      cub::DeviceSelect::Flagged(nullptr, bytes, thrust::counting_iterator<int32_t>(0),
                                 static_cast<const bool*>(nullptr), static_cast<int32_t*>(nullptr),
                                 static_cast<int32_t*>(nullptr), count),
      "sizing a selection");
  return bytes;
}

void SelectIndices(const Launcher& launch, void* temporary, size_t temporary_bytes,
                   const bool* flags, int64_t count, int32_t* indices, int32_t* selected) {
  Check(
      cub::DeviceSelect::Flagged(temporary, temporary_bytes, thrust::counting_iterator<int32_t>(0),
                                 flags, indices, selected, count, launch.stream()),
      "selecting");
}

size_t ScanTemporaryBytes(int64_t count) {
  size_t bytes = 0;
  Check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<uint32_t*>(nullptr), count),
        "sizing a scan");
  return bytes;
}

void ExclusiveSum(const Launcher& launch, void* temporary, size_t temporary_bytes, uint32_t* values,
                  int64_t count) {
  Check(cub::DeviceScan::ExclusiveSum(temporary, temporary_bytes, values, count, launch.stream()),
        "scanning");
}

}  // namespace detops::cuda
