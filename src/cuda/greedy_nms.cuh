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
constexpr int64_t kGridFrom = 16384;

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

// Half a group of boxes meets 32 boxes ahead of them.
constexpr int kGroup = 16;
constexpr int kGroups = kChunk / kGroup;

// One warp's tile of pairs: a lane holds a box ahead, and all go through the boxes behind together.
// meets(ahead, behind) leaves pairs out.
template <class Judge, class Result, class Meets>
__device__ void CompareTile(const Judge& judge, int64_t image, bool there, int32_t ahead,
                            int32_t first, uint32_t behind_bits, typename Judge::Box* behind,
                            Pair* queue, Result& result, const Meets& meets) {
  using math::Verdict;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  __syncwarp();
  if (lane < kGroup && (behind_bits >> lane & 1) != 0) {
    behind[lane] = judge.Load(image, first + lane);
  }
  const typename Judge::Box box = judge.Load(image, there ? ahead : first);
  __syncwarp();
  DoubtfulPairs<Judge, Result> doubtful(judge, image, queue, result);
  for (; behind_bits != 0; behind_bits &= behind_bits - 1) {
    const int b = __ffs(static_cast<int>(behind_bits)) - 1;
    if (!result.Wants(first + b)) continue;
    const Verdict verdict = there && meets(first + b) ? judge.Quick(box, behind[b]) : Verdict::kNo;
    if (__any_sync(kAllLanes, verdict == Verdict::kYes)) {
      result.Set(verdict == Verdict::kYes, ahead, first + b);
    }
    if constexpr (Judge::kDoubts) {
      doubtful.Add(verdict == Verdict::kDoubtful, ahead, first + b);
    }
  }
  doubtful.Finish();
}

// blockIdx.y is the image. Warps share out, first, the pairs inside the chunk, a tile each; then
// the boxes kept before, a tile each too, or a box of the chunk each that asks the grid.
template <class Judge, bool kGrid>
__global__ void __launch_bounds__(kPairThreads)
    PairsKernel(NmsLists lists, Judge judge, int64_t chunk_begin) {
  using Box = typename Judge::Box;
  __shared__ Box behind_of[kPairWarps][kGroup];
  __shared__ Pair queue_of[kPairWarps][64];
  const int64_t image = blockIdx.y;
  const int32_t kept = lists.kept_count[image];
  if (kept >= lists.most) return;
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  Box* behind = behind_of[warp];
  Pair* queue = queue_of[warp];
  const bool* excluded = lists.excluded == nullptr ? nullptr : lists.excluded + image * lists.count;
  const auto begin = static_cast<int32_t>(chunk_begin);
  const auto size = static_cast<int32_t>(min(int64_t{kChunk}, lists.count - chunk_begin));
  const int32_t groups = (size + kGroup - 1) / kGroup;
  uint8_t* gone = lists.gone + image * kChunk;

  // The boxes of a group that still matter, a bit each.
  const auto bits_of = [&](int32_t group, bool look_at_gone) {
    const int32_t at = group * kGroup + lane;
    bool in = lane < kGroup && at < size;
    if (in && excluded != nullptr) in = !excluded[begin + at];
    if (in && look_at_gone) in = *static_cast<volatile uint8_t*>(gone + at) == 0;
    return __ballot_sync(kAllLanes, in);
  };

  // Word w of 32 boxes ahead matters to the groups from 2w on: tiles of w before those of w + 1.
  const int32_t words = (size + 31) / 32;
  const int32_t inside = words * groups - words * (words - 1);
  const int32_t kept_words = (kept + 31) / 32;
  const int32_t tiles = inside + (kGrid ? (kept > 0 ? size : 0) : kept_words * groups);
  const auto warps = static_cast<int32_t>(gridDim.x * kPairWarps);
  for (auto tile = static_cast<int32_t>(blockIdx.x * kPairWarps + warp); tile < tiles;
       tile += warps) {
    if (tile < inside) {
      int32_t word = 0, at = tile;
      while (at >= groups - 2 * word) at -= groups - 2 * word++;
      const int32_t group = 2 * word + at;
      const int32_t ahead = begin + word * 32 + lane;
      const bool there = word * 32 + lane < size && !(excluded != nullptr && excluded[ahead]);
      InChunk result = {lists.masks + image * kChunkWords * kChunk, begin};
      CompareTile(judge, image, there, ahead, begin + group * kGroup, bits_of(group, false), behind,
                  queue, result, [&](int32_t b) { return ahead < b; });
    } else if constexpr (kGrid) {
      const int32_t b = tile - inside;
      const float4 query = lists.bounds[image * lists.count + begin + b];
      if ((excluded != nullptr && excluded[begin + b]) || !(query.x <= query.z)) continue;
      AgainstKept result = {begin + b, 0};
      DoubtfulPairs<Judge, AgainstKept> doubtful(judge, image, queue, result);
      const Box box = judge.Load(image, begin + b);
      lists.grid.Any(query, lists.bounds + image * lists.count,
                     [&](int32_t ahead, const float4& bounds) {
                       const bool near = ahead >= 0 && bounds.x < query.z && query.x < bounds.z &&
                                         bounds.y < query.w && query.y < bounds.w;
                       const math::Verdict verdict =
                           near ? judge.Quick(judge.Load(image, ahead), box) : math::Verdict::kNo;
                       if (__any_sync(kAllLanes, verdict == math::Verdict::kYes)) result.gone = 1;
                       if constexpr (Judge::kDoubts) {
                         doubtful.Add(verdict == math::Verdict::kDoubtful, ahead, begin + b);
                       }
                       return result.gone != 0;
                     });
      doubtful.Finish();
      if (lane == 0 && result.gone != 0) gone[b] = 1;
    } else {
      const int32_t group = (tile - inside) % groups, word = (tile - inside) / groups;
      const bool there = word * 32 + lane < kept;
      const int32_t ahead = lists.kept[image * lists.count + (there ? word * 32 + lane : 0)];
      AgainstKept result = {begin + group * kGroup, 0};
      CompareTile(judge, image, there, ahead, begin + group * kGroup, bits_of(group, true), behind,
                  queue, result, [](int32_t) { return true; });
      if (lane < kGroup && (result.gone >> lane & 1) != 0) gone[group * kGroup + lane] = 1;
    }
  }
}

// blockIdx.x is the image. Leaves masks and gone cleared for the next chunk.
//
// Thread r is box r of the chunk, and knows as bits which boxes suppress it. Warp after warp
// decides its 32 boxes, when all before them are decided, and tells the others.
static __global__ void __launch_bounds__(kChunk, 1)
    ResolveKernel(NmsLists lists, int64_t chunk_begin) {
  __shared__ uint32_t kept_bits[kChunkWords];
  const int64_t image = blockIdx.x;
  const int32_t kept_before = lists.kept_count[image];
  if (kept_before >= lists.most) return;
  const auto r = static_cast<int>(threadIdx.x);
  const int warp = r / 32, lane = r % 32;
  const int64_t i = chunk_begin + r;

  uint32_t row[kChunkWords];  // of the boxes that suppress this one
  uint32_t* masks = lists.masks + image * kChunkWords * kChunk + r;
#pragma unroll
  for (int w = 0; w < kChunkWords; ++w) row[w] = w <= warp ? masks[w * kChunk] : 0;
  uint8_t& gone = lists.gone[image * kChunk + r];
  bool open = i < lists.count && gone == 0;
  if (open && lists.excluded != nullptr) open = !lists.excluded[image * lists.count + i];
  gone = 0;
#pragma unroll
  for (int w = 0; w < kChunkWords; ++w) {
    if (row[w] != 0) masks[w * kChunk] = 0;
  }

  uint32_t kept = 0;  // of this warp
#pragma unroll
  for (int w = 0; w < kChunkWords; ++w) {
    if (warp == w) {
      // A box is kept once all that suppress it are known to be gone, and gone once one of them is
      // kept; every round decides the first open one at least.
      unsigned open_bits = __ballot_sync(kAllLanes, open);
      while (open_bits != 0) {
        const bool free = open && (row[w] & open_bits) == 0;
        kept |= __ballot_sync(kAllLanes, free);
        open = open && !free && (row[w] & kept) == 0;
        open_bits = __ballot_sync(kAllLanes, open);
      }
      if (lane == 0) kept_bits[w] = kept;
    }
    __syncthreads();
    if (warp > w) open = open && (row[w] & kept_bits[w]) == 0;
  }

  int before = kept_before, total = kept_before;
  for (int w = 0; w < kChunkWords; ++w) {
    const int in_word = __popc(kept_bits[w]);
    before += w < warp ? in_word : 0;
    total += in_word;
  }
  before += __popc(kept & ((1u << lane) - 1));
  if ((kept >> lane & 1) != 0 && before < lists.most) {
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
    // A warp for every tile of a chunk; then four times as many, for what was kept before.
    const int64_t boxes = std::min<int64_t>(kChunk, lists.count - begin);
    const int64_t tiles = (boxes + 31) / 32 * ((boxes + kGroup - 1) / kGroup) / 2 + kGroups / 2;
    const auto blocks = begin == 0 ? BlocksFor(tiles, kPairWarps)
                                   : static_cast<unsigned>(4 * launch.multiprocessors());
    launch(what, use_grid ? PairsKernel<Judge, true> : PairsKernel<Judge, false>,
           dim3(blocks, images), kPairThreads, lists, judge, begin);
    launch(what, ResolveKernel, images, kChunk, lists, begin);
  }
}

}  // namespace detops::cuda
