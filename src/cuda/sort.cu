// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/sort.h"

namespace detops::cuda {
namespace {

// Up to kMostOfSeveral keys take two kernels: each block sorts a tile, then every key counts the
// keys before it in all tiles. A radix sort of so few keys would spend its time on launching its
// many kernels.
constexpr int kTile = 1024;
constexpr int kRankThreads = 256;
constexpr int kSearchers = 8;  // lanes per key
constexpr uint64_t kLast = ~uint64_t{0};

// blockIdx.y is the list.
__global__ void __launch_bounds__(kTile / 2)
    SortTilesKernel(int64_t count, const uint64_t* keys, uint64_t* sorted) {
  BeginKernel();
  __shared__ uint64_t tile[kTile];
  const int64_t begin = blockIdx.y * count, first = int64_t{blockIdx.x} * kTile;
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
    tile[i] = first + i < count ? keys[begin + first + i] : kLast;
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
    sorted[begin + first + i] = tile[i];
  }
}

__global__ void __launch_bounds__(kRankThreads)
    MergeTilesKernel(int64_t count, const uint64_t* tiles, uint64_t* sorted) {
  BeginKernel();
  tiles += blockIdx.y * count;
  sorted += blockIdx.y * count;
  const auto searcher = static_cast<int>(threadIdx.x % kSearchers);
  const int64_t at = (int64_t{blockIdx.x} * kRankThreads + threadIdx.x) / kSearchers;
  const int64_t i = min(at, count - 1);  // keeps whole warps active for the shuffles
  const uint64_t key = tiles[i];
  int rank = 0;
  for (int64_t tile = searcher * kTile; tile < count; tile += kSearchers * kTile) {
    const auto size = static_cast<int>(min(int64_t{kTile}, count - tile));
    int before = 0;  // how many of the tile's keys
#pragma unroll
    for (int step = kTile; step > 0; step /= 2) {
      if (before + step <= size && tiles[tile + before + step - 1] < key) before += step;
    }
    rank += before;
  }
  for (int distance = kSearchers / 2; distance > 0; distance /= 2) {
    rank += __shfl_xor_sync(0xffffffffu, rank, distance);
  }
  if (searcher == 0 && at < count) sorted[rank] = key;
}

constexpr int kSelectThreads = 1024;
constexpr int kSelectWarps = kSelectThreads / 32;

// A block lists the indices of a list, of so few faster than CUB starts: each thread those of a run
// of flags.
__global__ void __launch_bounds__(kSelectThreads)
    SelectKernel(const bool* flags, int count, int32_t* indices, int32_t* selected) {
  BeginKernel();
  __shared__ int ends[kSelectWarps];
  flags += int64_t{blockIdx.x} * count;
  indices += int64_t{blockIdx.x} * count;
  const auto warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  constexpr int kMostPerThread = IndexSelector::kMostOfSeveral / kSelectThreads;
  const int per_thread = (count + kSelectThreads - 1) / kSelectThreads;
  const int begin = static_cast<int>(threadIdx.x) * per_thread;
  unsigned set = 0;
#pragma unroll
  for (int i = 0; i < kMostPerThread; ++i) {
    if (i < per_thread && begin + i < count && flags[begin + i]) set |= 1u << i;
  }
  int end = __popc(set);
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, end, distance);
    if (lane >= distance) end += before;
  }
  if (lane == 31) ends[warp] = end;
  __syncthreads();
  int to = end - __popc(set), all = 0;
  for (int w = 0; w < kSelectWarps; ++w) {
    to += w < warp ? ends[w] : 0;
    all += ends[w];
  }
  for (; set != 0; set &= set - 1) indices[to++] = begin + __ffs(static_cast<int>(set)) - 1;
  if (threadIdx.x == 0) selected[blockIdx.x] = all;
}

size_t KeySortBytes(int64_t count) {
  cub::DoubleBuffer<uint64_t> keys(nullptr, nullptr);
  size_t bytes = 0;
  Check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, count), "sizing a sort");
  return bytes;
}

size_t PairSortBytes(int64_t count) {
  cub::DoubleBuffer<uint32_t> keys(nullptr, nullptr);
  cub::DoubleBuffer<int32_t> values(nullptr, nullptr);
  size_t bytes = 0;
  Check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count), "sizing a sort");
  return bytes;
}

size_t SelectBytes(int64_t count) {
  size_t bytes = 0;
  Check(
      cub::DeviceSelect::Flagged(nullptr, bytes, thrust::counting_iterator<int32_t>(0),
                                 static_cast<const bool*>(nullptr), static_cast<int32_t*>(nullptr),
                                 static_cast<int32_t*>(nullptr), count),
      "sizing a selection");
  return bytes;
}

}  // namespace

KeySorter::KeySorter(core::WorkspaceLayout& layout, int64_t lists, int64_t count)
    : keys(layout.Array<uint64_t>(core::CheckedMul(lists, count, "workspace"))),
      other_(layout.Array<uint64_t>(core::CheckedMul(lists, count, "workspace"))),
      temporary_bytes_(count <= kMostOfSeveral ? 0 : KeySortBytes(count)) {
  temporary_ = layout.Array<char>(static_cast<int64_t>(temporary_bytes_));
}

const uint64_t* KeySorter::Sort(Launcher& launch, int64_t lists, int64_t count) const {
  if (count <= kMostOfSeveral) {
    const auto y = static_cast<unsigned>(lists);
    launch("sorting tiles", SortTilesKernel, dim3(BlocksFor(count, kTile), y), kTile / 2, count,
           keys, other_);
    if (count <= kTile) return other_;
    launch("merging tiles", MergeTilesKernel, dim3(BlocksFor(count, kRankThreads / kSearchers), y),
           kRankThreads, count, other_, keys);
    return keys;
  }
  cub::DoubleBuffer<uint64_t> buffers(keys, other_);
  size_t bytes = temporary_bytes_;
  // The sort is stable, so indices need not be compared.
  Check(cub::DeviceRadixSort::SortKeys(temporary_, bytes, buffers, count, 32, 64, launch.stream()),
        "sorting");
  return buffers.Current();
}

PairSorter::PairSorter(core::WorkspaceLayout& layout, int64_t count)
    : keys(layout.Array<uint32_t>(count)),
      values(layout.Array<int32_t>(count)),
      other_keys_(layout.Array<uint32_t>(count)),
      other_values_(layout.Array<int32_t>(count)),
      temporary_bytes_(PairSortBytes(count)) {
  temporary_ = layout.Array<char>(static_cast<int64_t>(temporary_bytes_));
}

PairSorter::Result PairSorter::Sort(Launcher& launch, int64_t count, int bits) const {
  cub::DoubleBuffer<uint32_t> key_buffers(keys, other_keys_);
  cub::DoubleBuffer<int32_t> value_buffers(values, other_values_);
  size_t bytes = temporary_bytes_;
  Check(cub::DeviceRadixSort::SortPairs(temporary_, bytes, key_buffers, value_buffers, count, 0,
                                        bits, launch.stream()),
        "sorting");
  return {key_buffers.Current(), value_buffers.Current()};
}

IndexSelector::IndexSelector(core::WorkspaceLayout& layout, int64_t count)
    : temporary_bytes_(count <= kMostOfSeveral ? 0 : SelectBytes(count)) {
  temporary_ = layout.Array<char>(static_cast<int64_t>(temporary_bytes_));
}

void IndexSelector::Select(Launcher& launch, const bool* flags, int64_t lists, int64_t count,
                           int32_t* indices, int32_t* selected) const {
  if (count <= kMostOfSeveral) {
    launch("selecting", SelectKernel, static_cast<unsigned>(lists), kSelectThreads, flags,
           static_cast<int>(count), indices, selected);
    return;
  }
  size_t bytes = temporary_bytes_;
  Check(cub::DeviceSelect::Flagged(temporary_, bytes, thrust::counting_iterator<int32_t>(0), flags,
                                   indices, selected, count, launch.stream()),
        "selecting");
}

}  // namespace detops::cuda
