// SPDX-License-Identifier: Apache-2.0
//
// A search for the worst score wanted, digit by digit from the highest: each kernel counts how many
// keys that begin with the digits known so far have which next digit. Where several have the worst
// score and not all of them are wanted, another kernel finds the last one by its index.
#include <algorithm>

#include "cuda/best_scores.h"
#include "cuda/sort.h"
#include "math/score_order.h"

namespace detops::cuda {
namespace {

constexpr int kThreads = 256, kTieThreads = 1024;
constexpr int kPerThread = 16;
constexpr int kPerBlock = kThreads * kPerThread;
constexpr int kDigits = BestScores::kDigits;
constexpr int kDigitsPerThread = kDigits / kThreads;
using Search = BestScores::Search;

__device__ uint64_t KeyAt(const float* scores, int64_t i) {
  return KeyAndIndex(math::ScoreRank(scores[i]), i);
}

// The sum of what all threads of lower number have; `all` is that of all threads.
template <int kWarps>
__device__ uint32_t SumBefore(uint32_t mine, uint32_t (&shared)[kWarps], uint32_t& all) {
  const auto warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t end = mine;
  for (int distance = 1; distance < 32; distance *= 2) {
    const uint32_t before = __shfl_up_sync(0xffffffffu, end, distance);
    if (lane >= static_cast<unsigned>(distance)) end += before;
  }
  if (lane == 31) shared[warp] = end;
  __syncthreads();
  uint32_t before = 0;
  all = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    before += w < warp ? shared[w] : 0;
    all += shared[w];
  }
  return before + end - mine;
}

// The digit of `bits` bits from `shift` on. blockIdx.y is the list; the last of its blocks finds
// the digit of the worst key wanted.
__global__ void __launch_bounds__(kThreads)
    CountDigitsKernel(const float* scores, int64_t count, int64_t wanted, int shift, int bits,
                      Search* searches) {
  BeginKernel();
  __shared__ uint32_t mine[kDigits], sums[kThreads / 32];
  __shared__ bool is_last;
  Search& search = searches[blockIdx.y];
  if (search.found != 0) return;
  scores += blockIdx.y * count;
  const bool first = shift + bits == 64;
  const uint64_t prefix = search.prefix;
  for (int d = threadIdx.x; d < kDigits; d += kThreads) mine[d] = 0;
  __syncthreads();
  const int64_t begin = int64_t{blockIdx.x} * kPerBlock;
  const int64_t end = min(begin + kPerBlock, count);
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const uint64_t key = KeyAt(scores, i);
    if (first || (key ^ prefix) >> (shift + bits) == 0) {
      atomicAdd(&mine[key >> shift & ((1u << bits) - 1)], 1u);
    }
  }
  __syncthreads();
  for (int d = threadIdx.x; d < kDigits; d += kThreads) {
    if (mine[d] != 0) atomicAdd(&search.counts[d], mine[d]);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&search.blocks, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (!is_last) return;
  __threadfence();

  uint32_t of_digit[kDigitsPerThread], of_thread = 0, all = 0;
  for (int i = 0; i < kDigitsPerThread; ++i) {
    uint32_t* const from = search.counts + threadIdx.x * kDigitsPerThread + i;
    of_thread += of_digit[i] = __ldcg(from);
    *from = 0;  // for the next digit
  }
  uint32_t before = SumBefore(of_thread, sums, all);
  const int64_t still = first ? wanted : search.wanted;
  __syncthreads();
  for (int i = 0; i < kDigitsPerThread; ++i) {
    if (before < still && still <= int64_t{before} + of_digit[i]) {
      const auto digit = static_cast<uint64_t>(threadIdx.x * kDigitsPerThread + i);
      search.prefix = prefix | digit << shift;
      search.last = search.prefix | ((uint64_t{1} << shift) - 1);
      search.wanted = still - before;
      search.found = search.wanted == of_digit[i] ? 1 : 0;
      search.blocks = 0;
    }
    before += of_digit[i];
  }
}

// A block for each list, where the search goes on among equal scores. These are rare, so it is not
// made to be fast.
__global__ void __launch_bounds__(kTieThreads)
    FindLastTieKernel(const float* scores, int64_t count, Search* searches) {
  BeginKernel();
  __shared__ uint32_t sums[kTieThreads / 32];
  Search& search = searches[blockIdx.x];
  if (search.found != 0) return;
  scores += blockIdx.x * count;
  const auto score = static_cast<uint32_t>(search.prefix >> 32);
  int64_t left = search.wanted;
  for (int64_t begin = 0; begin < count; begin += int64_t{kTieThreads} * kPerThread) {
    const int64_t first = begin + threadIdx.x * kPerThread;
    unsigned equal = 0;
    for (int i = 0; i < kPerThread; ++i) {
      if (first + i < count && math::ScoreRank(scores[first + i]) == score) equal |= 1u << i;
    }
    uint32_t all = 0;
    uint32_t before = SumBefore(__popc(equal), sums, all);
    for (; equal != 0; equal &= equal - 1) {
      if (++before == left) {
        search.last = KeyAndIndex(score, first + __ffs(static_cast<int>(equal)) - 1);
      }
    }
    if (left <= all) return;
    left -= all;
    __syncthreads();  // the sums have been read
  }
}

__global__ void __launch_bounds__(kThreads)
    WriteChosenKernel(const float* scores, int64_t count, int64_t wanted, Search* searches,
                      uint64_t* chosen) {
  BeginKernel();
  __shared__ uint32_t sums[kThreads / 32], written;
  scores += blockIdx.y * count;
  chosen += blockIdx.y * wanted;
  const uint64_t last = searches[blockIdx.y].last;
  const int64_t begin = int64_t{blockIdx.x} * kPerBlock + threadIdx.x;
  uint64_t keys[kPerThread];
  uint32_t mine = 0, all = 0;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int64_t at = begin + i * kThreads;
    keys[i] = at < count ? KeyAt(scores, at) : ~uint64_t{0};
    mine += at < count && keys[i] <= last ? 1 : 0;
  }
  uint32_t to = SumBefore(mine, sums, all);
  if (threadIdx.x == 0) written = atomicAdd(&searches[blockIdx.y].written, all);
  __syncthreads();
  to += written;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    // Scores that another stream changes meanwhile may make more keys qualify than are wanted.
    if (begin + i * kThreads < count && keys[i] <= last && to < wanted) chosen[to++] = keys[i];
  }
}

__global__ void __launch_bounds__(kThreads)
    WriteAllKernel(const float* scores, int64_t count, uint64_t* keys) {
  BeginKernel();
  const int64_t begin = blockIdx.y * count, step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    keys[begin + i] = KeyAt(scores + begin, i);
  }
}

}  // namespace

BestScores::BestScores(core::WorkspaceLayout& layout, int64_t lists)
    : searches_(layout.Array<Search>(lists)) {}

void BestScores::Choose(Launcher& launch, const float* scores, int64_t lists, int64_t count,
                        int64_t wanted, uint64_t* chosen) const {
  const char* what = "choosing the best scores";
  const auto y = static_cast<unsigned>(lists);
  if (wanted == count) {
    launch(what, WriteAllKernel, dim3(BlocksFor(count, kThreads), y), kThreads, scores, count,
           chosen);
    return;
  }
  Check(cudaMemsetAsync(searches_, 0, lists * sizeof(Search), launch.stream()), what);
  const dim3 grid(BlocksFor(count, kPerBlock, INT32_MAX), y);
  for (int end = 64; end > 32;) {
    const int bits = std::min(kDigitBits, end - 32);
    end -= bits;
    launch(what, CountDigitsKernel, grid, kThreads, scores, count, wanted, end, bits, searches_);
  }
  launch(what, FindLastTieKernel, y, kTieThreads, scores, count, searches_);
  launch(what, WriteChosenKernel, grid, kThreads, scores, count, wanted, searches_, chosen);
}

}  // namespace detops::cuda
