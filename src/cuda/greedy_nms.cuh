// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression on the device, in an order that is already fixed: box i is kept if no kept box
// before it suppresses it. By chunks of the order, two kernels each:
// - PairsKernel, many blocks: which boxes of the chunk are gone because of what was kept before,
//   and which pairs inside the chunk suppress, as a bit matrix;
// - ResolveKernel, one block a list: the greedy choice within the chunk. A box is kept once all
// that
//   suppress it are known to be gone, and gone once one of them is kept; every round decides the
//   first open one at least.
// The number of launches depends on the size alone, so nothing waits for the host.
//
// A Judge says when one box suppresses another:
//   struct Box                            what a lane holds of a box
//   Box Load(image, rank)
//   Verdict Quick(ahead, behind)          cheap; kDoubtful only with kDoubts
//   bool Decide(image, ahead, behind)     for doubtful pairs, by ranks; a warp at a time
#pragma once

#include <cstdint>

#include "cuda/kept_grid.cuh"
#include "cuda/launch.h"
#include "math/quad_filter.h"

namespace detops::cuda {

constexpr int kChunk = 1024;
constexpr int kChunkWords = kChunk / 32;
constexpr int kPairThreads = 256;
constexpr int kPairWarps = kPairThreads / 32;
constexpr unsigned kAllLanes = 0xffffffffu;
// Longer lists ask the grid; shorter ones are compared with all that is kept, which is faster.
constexpr int64_t kGridFrom = 32768;

// Lists of boxes in the order of scores, one an image.
struct NmsLists {
  int64_t images = 0, count = 0;   // boxes of an image
  int64_t most = 0;                // to keep of an image
  const float4* bounds = nullptr;  // [images][count]; x1 > x2 overlaps nothing
  const bool* excluded = nullptr;  // [images][count] or null: neither kept nor suppressing
  int32_t* kept = nullptr;         // [images][count] ranks, ascending
  int32_t* kept_count = nullptr;   // [images]
  uint32_t* masks = nullptr;       // [images][kChunkWords][kChunk] who suppresses whom
  uint8_t* gone = nullptr;         // [images][kChunk] because of earlier chunks
  KeptGrid grid;                   // for one image, with more than kGridFrom boxes

  NmsLists() = default;
  NmsLists(core::WorkspaceLayout& layout, int64_t lists, int64_t boxes)
      : images(lists),
        count(boxes),
        kept(layout.Array<int32_t>(core::CheckedMul(lists, boxes, "workspace"))),
        kept_count(layout.Array<int32_t>(lists)),
        masks(layout.Array<uint32_t>(core::CheckedMul(lists, kChunkWords * kChunk, "workspace"))),
        gone(layout.Array<uint8_t>(core::CheckedMul(lists, kChunk, "workspace"))) {
    if (boxes > kGridFrom) grid = KeptGrid(layout, boxes);
  }
};

__device__ inline unsigned WarpOr(unsigned bits) {
  for (int distance = 16; distance > 0; distance /= 2) {
    bits |= __shfl_xor_sync(kAllLanes, bits, distance);
  }
  return bits;
}

// Where the verdicts on pairs inside the chunk go. Called by all lanes together, like AgainstKept.
struct InChunk {
  uint32_t* masks;  // [kChunkWords][kChunk]
  int32_t chunk_begin;

  __device__ bool Wants(int32_t) const { return true; }
  __device__ void Set(bool suppresses, int32_t ahead, int32_t behind) const {
    const int32_t a = ahead - chunk_begin;
    if (suppresses) {
      atomicOr(&masks[a / 32 * kChunk + (behind - chunk_begin)], 1u << (a % 32));
    }
  }
};

// Where those against kept boxes go.
struct AgainstKept {
  int32_t first;  // of 32 boxes
  uint32_t gone;  // a bit each; the same in all lanes

  __device__ bool Wants(int32_t behind) const { return (gone >> (behind - first) & 1) == 0; }
  __device__ void Set(bool suppresses, int32_t, int32_t behind) {
    gone |= WarpOr(suppresses ? 1u << (behind - first) : 0u);
  }
};

struct Pair {
  int32_t ahead, behind;
};

// The pairs that a warp found doubtful: decided 32 at a time, so that all lanes have work.
template <class Judge, class Result>
class DoubtfulPairs {
 public:
  static constexpr int kCapacity = 64;

  __device__ DoubtfulPairs(const Judge& judge, int64_t image, Pair* storage, Result& result)
      : judge_(judge), image_(image), pairs_(storage), result_(result) {}

  // By all lanes together.
  __device__ void Add(bool doubtful, int32_t ahead, int32_t behind) {
    const unsigned who = __ballot_sync(kAllLanes, doubtful);
    if (who == 0) return;
    const unsigned before = who & ((1u << lane_) - 1);
    if (doubtful) pairs_[count_ + __popc(before)] = {ahead, behind};
    count_ += __popc(who);
    __syncwarp();
    if (count_ >= 32) DecideLast(32);
  }
  __device__ void Finish() {
    if (count_ > 0) DecideLast(count_);
  }

 private:
  __device__ void DecideLast(int n) {
    count_ -= n;
    const Pair pair = lane_ < n ? pairs_[count_ + lane_] : pairs_[count_];
    const bool suppresses =
        lane_ < n && result_.Wants(pair.behind) && judge_.Decide(image_, pair.ahead, pair.behind);
    __syncwarp();
    result_.Set(suppresses, pair.ahead, pair.behind);
  }

  const Judge& judge_;
  int64_t image_;
  Pair* pairs_;
  Result& result_;
  int count_ = 0;
  int lane_ = static_cast<int>(threadIdx.x % 32);
};

// blockIdx: x 32 boxes of the chunk, z the image; y 0 compares them with the chunk, the others
// share the kept boxes.
template <class Judge, bool kGrid>
__global__ void __launch_bounds__(kPairThreads)
    PairsKernel(NmsLists lists, Judge judge, int64_t chunk_begin) {
  using Box = typename Judge::Box;
  using math::Verdict;
  __shared__ Box behind[32];
  __shared__ uint32_t gone_in_block;  // a bit for each of the 32
  __shared__ Pair queues[kPairWarps][DoubtfulPairs<Judge, InChunk>::kCapacity];
  const int64_t image = blockIdx.z;
  const int64_t first = chunk_begin + int64_t{blockIdx.x} * 32;
  const int32_t kept = lists.kept_count[image];
  if (first >= lists.count || kept >= lists.most) return;
  if (blockIdx.y > 0 && kept == 0) return;

  const auto n = static_cast<int>(min(int64_t{32}, lists.count - first));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool* excluded = lists.excluded == nullptr ? nullptr : lists.excluded + image * lists.count;
  if (warp == 0) {
    if (lane < n) behind[lane] = judge.Load(image, first + lane);
    const bool out = lane >= n || (excluded != nullptr && excluded[first + lane]);
    const unsigned bits = __ballot_sync(kAllLanes, out);
    if (lane == 0) gone_in_block = bits;
  }
  __syncthreads();
  const uint32_t out = gone_in_block;

  if (blockIdx.y == 0) {
    InChunk result = {lists.masks + image * kChunkWords * kChunk,
                      static_cast<int32_t>(chunk_begin)};
    DoubtfulPairs<Judge, InChunk> doubtful(judge, image, queues[warp], result);
    for (int word = warp; word <= blockIdx.x; word += kPairWarps) {
      const int64_t ahead = chunk_begin + word * 32 + lane;
      const bool there = ahead < lists.count && !(excluded != nullptr && excluded[ahead]);
      const Box box = judge.Load(image, there ? ahead : first);
      for (int b = 0; b < n; ++b) {
        if ((out >> b & 1) != 0) continue;
        const bool meets = there && ahead < first + b;
        const Verdict verdict = meets ? judge.Quick(box, behind[b]) : Verdict::kNo;
        const unsigned yes = __ballot_sync(kAllLanes, verdict == Verdict::kYes);
        if (yes != 0 && lane == 0) {
          atomicOr(&result.masks[word * kChunk + blockIdx.x * 32 + b], yes);
        }
        if constexpr (Judge::kDoubts) {
          doubtful.Add(verdict == Verdict::kDoubtful, static_cast<int32_t>(ahead),
                       static_cast<int32_t>(first + b));
        }
      }
    }
    doubtful.Finish();
    return;
  }

  __syncthreads();  // all have read gone_in_block
  AgainstKept result = {static_cast<int32_t>(first), out};
  DoubtfulPairs<Judge, AgainstKept> doubtful(judge, image, queues[warp], result);
  const auto meet = [&](bool there, int32_t ahead, const Box& box, int b) {
    const Verdict verdict = there ? judge.Quick(box, behind[b]) : Verdict::kNo;
    if (__any_sync(kAllLanes, verdict == Verdict::kYes)) result.gone |= 1u << b;
    if constexpr (Judge::kDoubts) {
      doubtful.Add(verdict == Verdict::kDoubtful, ahead, static_cast<int32_t>(first + b));
    }
    return (result.gone >> b & 1) != 0;
  };
  if constexpr (kGrid) {
    const int warps = static_cast<int>(gridDim.y - 1) * kPairWarps;
    for (int b = static_cast<int>(blockIdx.y - 1) * kPairWarps + warp; b < n; b += warps) {
      const float4 query = lists.bounds[image * lists.count + first + b];
      if ((result.gone >> b & 1) != 0 || !(query.x <= query.z)) continue;
      lists.grid.Any(query, lists.bounds + image * lists.count,
                     [&](int32_t ahead, const float4& bounds) {
                       const bool near = ahead >= 0 && bounds.x < query.z && query.x < bounds.z &&
                                         bounds.y < query.w && query.y < bounds.w;
                       return meet(near, ahead, near ? judge.Load(image, ahead) : Box{}, b);
                     });
    }
  } else {
    const int32_t* kept_boxes = lists.kept + image * lists.count;
    const auto step = static_cast<int32_t>((gridDim.y - 1) * kPairThreads);
    for (auto at = static_cast<int32_t>((blockIdx.y - 1) * kPairThreads + warp * 32); at < kept;
         at += step) {
      const bool there = at + lane < kept;
      const int32_t ahead = kept_boxes[there ? at + lane : 0];
      const Box box = judge.Load(image, ahead);
      for (int b = 0; b < n; ++b) {
        if ((result.gone >> b & 1) == 0) meet(there, ahead, box, b);
      }
    }
  }
  doubtful.Finish();
  if (lane == 0) atomicOr(&gone_in_block, result.gone);
  __syncthreads();
  if (threadIdx.x < n && (gone_in_block >> threadIdx.x & 1) != 0) {
    lists.gone[image * kChunk + (first - chunk_begin) + threadIdx.x] = 1;
  }
}

// blockIdx.x is the image. Leaves masks and gone cleared for the next chunk.
static __global__ void __launch_bounds__(kChunk, 1)
    ResolveKernel(NmsLists lists, int64_t chunk_begin) {
  __shared__ uint32_t kept_bits[kChunkWords], open_bits[kChunkWords];
  const int64_t image = blockIdx.x;
  const int32_t kept_before = lists.kept_count[image];
  if (kept_before >= lists.most) return;
  const auto r = static_cast<int>(threadIdx.x);
  const int warp = r / 32, lane = r % 32;
  const int64_t i = chunk_begin + r;

  uint32_t row[kChunkWords];  // of the boxes that suppress this one
  uint32_t* masks = lists.masks + image * kChunkWords * kChunk + r;
#pragma unroll
  for (int w = 0; w < kChunkWords; ++w) {
    row[w] = w <= warp ? masks[w * kChunk] : 0;
    if (row[w] != 0) masks[w * kChunk] = 0;
  }
  uint8_t& gone = lists.gone[image * kChunk + r];
  bool open = i < lists.count && gone == 0;
  if (open && lists.excluded != nullptr) open = !lists.excluded[image * lists.count + i];
  gone = 0;
  bool kept = false;

  const unsigned open_now = __ballot_sync(kAllLanes, open);
  if (lane == 0) {
    open_bits[warp] = open_now;
    kept_bits[warp] = 0;
  }
  while (__syncthreads_or(open)) {
    if (open) {
      uint32_t by_kept = 0, by_open = 0;
#pragma unroll
      for (int w = 0; w < kChunkWords; ++w) {
        by_kept |= row[w] & kept_bits[w];
        by_open |= row[w] & open_bits[w];
      }
      kept = by_kept == 0 && by_open == 0;
      open = by_kept == 0 && by_open != 0;
    }
    __syncthreads();
    const unsigned open_after = __ballot_sync(kAllLanes, open);
    const unsigned kept_after = __ballot_sync(kAllLanes, kept);
    if (lane == 0) {
      open_bits[warp] = open_after;
      kept_bits[warp] = kept_after;
    }
  }

  int before = kept_before, total = kept_before;
  for (int w = 0; w < kChunkWords; ++w) {
    const int in_word = __popc(kept_bits[w]);
    before += w < warp ? in_word : 0;
    total += in_word;
  }
  before += __popc(kept_bits[warp] & ((1u << lane) - 1));
  if (kept && before < lists.most) {
    lists.kept[image * lists.count + before] = static_cast<int32_t>(i);
    if (lists.grid.capacity > 0) {
      const float4 bounds = lists.bounds[image * lists.count + i];
      if (bounds.x <= bounds.z) lists.grid.Insert(bounds, static_cast<int32_t>(i));
    }
  }
  if (r == 0) {
    lists.kept_count[image] = static_cast<int32_t>(min(int64_t{total}, lists.most));
  }
}

// Leaves the ranks kept in lists.kept and lists.kept_count.
template <class Judge>
void GreedyNms(Launcher& launch, NmsLists& lists, const Judge& judge) {
  const char* what = "suppression";
  const auto images = static_cast<unsigned>(lists.images);
  Check(cudaMemsetAsync(lists.kept_count, 0, images * sizeof(int32_t), launch.stream()), what);
  Check(cudaMemsetAsync(lists.masks, 0, images * sizeof(uint32_t) * kChunkWords * kChunk,
                        launch.stream()),
        what);
  Check(cudaMemsetAsync(lists.gone, 0, size_t{images} * kChunk, launch.stream()), what);
  const bool use_grid = lists.grid.capacity > 0;
  if (use_grid) lists.grid.Reserve(launch, lists.bounds, lists.count);
  for (int64_t begin = 0; begin < lists.count; begin += kChunk) {
    const int64_t boxes = std::min<int64_t>(kChunk, lists.count - begin);
    const auto groups = static_cast<unsigned>((boxes + 31) / 32);
    const unsigned shares = begin == 0 ? 1
                            : use_grid ? 5
                                       : 8;  // the first chunk has none before it
    launch(what, use_grid ? PairsKernel<Judge, true> : PairsKernel<Judge, false>,
           dim3(groups, shares, images), kPairThreads, lists, judge, begin);
    launch(what, ResolveKernel, images, kChunk, lists, begin);
  }
}

}  // namespace detops::cuda
