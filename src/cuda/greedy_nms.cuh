// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression on the device, in an order that is already fixed: box i is kept if no kept box
// before it suppresses it. By chunks of the order, two kernels each:
// - PairsKernel, many blocks: which boxes of the chunk are gone because of what was kept before,
//   and which pairs inside the chunk suppress, as a bit matrix;
// - ResolveKernel, one block a list: the greedy choice within the chunk, a word of 32 boxes as soon
//   as those that may suppress them are decided.
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
  KeptGrid grid;                   // for one image with many boxes; else all that is kept is met

  NmsLists() = default;
  NmsLists(core::WorkspaceLayout& layout, int64_t lists, int64_t boxes, bool use_grid)
      : images(lists),
        count(boxes),
        kept(layout.Array<int32_t>(core::CheckedMul(lists, boxes, "workspace"))),
        kept_count(layout.Array<int32_t>(lists)),
        masks(layout.Array<uint32_t>(core::CheckedMul(lists, kChunkWords * kChunk, "workspace"))),
        gone(layout.Array<uint8_t>(core::CheckedMul(lists, kChunk, "workspace"))) {
    if (use_grid) grid = KeptGrid(layout, boxes);
  }
};

struct Pair {
  int32_t ahead, behind;
};

// Where the verdicts of a chunk go: pairs inside it set a bit of the matrix, boxes kept before it
// (which have lower ranks) do away with the one behind at once.
struct Verdicts {
  uint32_t* masks;  // [kChunkWords][kChunk]
  uint8_t* gone;    // [kChunk]
  int32_t begin;    // of the chunk

  __device__ void Suppress(int32_t ahead, int32_t behind) const {
    const int32_t b = behind - begin;
    if (ahead < begin) {
      gone[b] = 1;
    } else {
      atomicOr(&masks[(ahead - begin) / 32 * kChunk + b], 1u << ((ahead - begin) % 32));
    }
  }
  // By boxes of one word of the chunk, a bit each; -1: by boxes kept before it.
  __device__ void SuppressByWord(int32_t word, uint32_t bits, int32_t behind) const {
    if (word < 0) {
      gone[behind - begin] = 1;
    } else {
      atomicOr(&masks[word * kChunk + (behind - begin)], bits);
    }
  }
  // May be told late: then something is compared in vain.
  __device__ bool IsGone(int32_t behind) const {
    return *static_cast<volatile uint8_t*>(gone + (behind - begin)) != 0;
  }
};

// The pairs that a warp found doubtful: decided 32 at a time, so that all lanes have work.
template <class Judge>
class DoubtfulPairs {
 public:
  static constexpr int kCapacity = 64;

  __device__ DoubtfulPairs(const Judge& judge, int64_t image, Pair* storage,
                           const Verdicts& verdicts)
      : judge_(judge), image_(image), pairs_(storage), verdicts_(verdicts) {}

  // By all lanes together. Whether pairs were decided.
  __device__ bool Add(bool doubtful, int32_t ahead, int32_t behind) {
    const unsigned who = __ballot_sync(kAllLanes, doubtful);
    if (who == 0) return false;
    const unsigned before = who & ((1u << lane_) - 1);
    if (doubtful) pairs_[count_ + __popc(before)] = {ahead, behind};
    count_ += __popc(who);
    __syncwarp();
    if (count_ < 32) return false;
    DecideLast(32);
    return true;
  }
  __device__ void Finish() {
    if (count_ > 0) DecideLast(count_);
  }

 private:
  __device__ void DecideLast(int n) {
    count_ -= n;
    if (lane_ < n) {
      const Pair pair = pairs_[count_ + lane_];
      if (!verdicts_.IsGone(pair.behind) && judge_.Decide(image_, pair.ahead, pair.behind)) {
        verdicts_.Suppress(pair.ahead, pair.behind);
      }
    }
    __syncwarp();
  }

  const Judge& judge_;
  int64_t image_;
  Pair* pairs_;
  const Verdicts& verdicts_;
  int count_ = 0;
  int lane_ = static_cast<int>(threadIdx.x % 32);
};

// Half a word of boxes meets 32 boxes ahead of them.
constexpr int kGroup = 16;
constexpr int kGroups = kChunk / kGroup;

// blockIdx.y is the image. Warps share out, first, the pairs inside the chunk in tiles of 32 boxes
// ahead (one a lane) by a group behind (one after the other); then the boxes kept before, in tiles
// too, or a box of the chunk each that asks the grid.
template <class Judge, bool kGrid>
__global__ void __launch_bounds__(kPairThreads, 2)
    PairsKernel(NmsLists lists, Judge judge, int64_t chunk_begin) {
  BeginKernel();
  using Box = typename Judge::Box;
  using math::Verdict;
  __shared__ Box behind_of[kPairWarps][kGroup];
  __shared__ Pair queue_of[kPairWarps][DoubtfulPairs<Judge>::kCapacity];
  const int64_t image = blockIdx.y;
  const int32_t kept = lists.kept_count[image];
  if (kept >= lists.most) return;
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  Box* behind = behind_of[warp];
  const bool* excluded = lists.excluded == nullptr ? nullptr : lists.excluded + image * lists.count;
  const auto is_excluded = [&](int32_t rank) { return excluded != nullptr && excluded[rank]; };
  const auto begin = static_cast<int32_t>(chunk_begin);
  const auto size = static_cast<int32_t>(min(int64_t{kChunk}, lists.count - chunk_begin));
  const int32_t groups = (size + kGroup - 1) / kGroup;
  const Verdicts verdicts = {lists.masks + image * kChunkWords * kChunk,
                             lists.gone + image * kChunk, begin};
  DoubtfulPairs<Judge> doubtful(judge, image, queue_of[warp], verdicts);

  // Word w of 32 boxes ahead matters to the groups from 2w on: tiles of w before those of w + 1.
  const int32_t words = (size + 31) / 32;
  const int32_t inside = words * groups - words * (words - 1);
  const int32_t kept_words = (kept + 31) / 32;
  const int32_t tiles = inside + (kGrid ? (kept > 0 ? size : 0) : kept_words * groups);
  const auto warps = static_cast<int32_t>(gridDim.x * kPairWarps);
  for (auto tile = static_cast<int32_t>(blockIdx.x * kPairWarps + warp); tile < tiles;
       tile += warps) {
    if (kGrid && tile >= inside) {
      const int32_t b = begin + tile - inside;
      const float4 query = lists.bounds[image * lists.count + b];
      if (is_excluded(b) || !(query.x <= query.z)) continue;
      const Box box = judge.Load(image, b);
      bool gone = false;
      lists.grid.Any(query, lists.bounds + image * lists.count,
                     [&](int32_t ahead, const float4& bounds) {
                       const bool near = ahead >= 0 && bounds.x < query.z && query.x < bounds.z &&
                                         bounds.y < query.w && query.y < bounds.w;
                       const Verdict verdict =
                           near ? judge.Quick(judge.Load(image, ahead), box) : Verdict::kNo;
                       gone = __any_sync(kAllLanes, verdict == Verdict::kYes);
                       if constexpr (Judge::kDoubts) {
                         const bool decided = doubtful.Add(verdict == Verdict::kDoubtful, ahead, b);
                         if (decided) gone = __any_sync(kAllLanes, gone || verdicts.IsGone(b));
                       }
                       return gone;
                     });
      if (gone && lane == 0) verdicts.Suppress(-1, b);
      continue;
    }

    int32_t word = 0, group = 0, ahead = 0;
    bool there = false;
    if (tile < inside) {
      int32_t at = tile;
      while (at >= groups - 2 * word) at -= groups - 2 * word++;
      group = 2 * word + at;
      ahead = begin + word * 32 + lane;
      there = word * 32 + lane < size && !is_excluded(ahead);
    } else {
      group = (tile - inside) % groups;
      word = (tile - inside) / groups;
      there = word * 32 + lane < kept;
      ahead = lists.kept[image * lists.count + (there ? word * 32 + lane : 0)];
    }
    const int32_t first = begin + group * kGroup;
    const bool matters = lane < kGroup && first + lane < begin + size &&
                         !is_excluded(first + lane) && !verdicts.IsGone(first + lane);
    __syncwarp();  // the last tile's are not read any more
    if (matters) behind[lane] = judge.Load(image, first + lane);
    const Box box = judge.Load(image, there ? ahead : first);
    unsigned rest = __ballot_sync(kAllLanes, matters);
    __syncwarp();
    for (; rest != 0; rest &= rest - 1) {
      const int b = __ffs(static_cast<int>(rest)) - 1;
      const Verdict verdict =
          there && ahead < first + b ? judge.Quick(box, behind[b]) : Verdict::kNo;
      const unsigned yes = __ballot_sync(kAllLanes, verdict == Verdict::kYes);
      if (yes != 0 && lane == 0) verdicts.SuppressByWord(tile < inside ? word : -1, yes, first + b);
      if constexpr (Judge::kDoubts) {
        doubtful.Add(verdict == Verdict::kDoubtful, ahead, first + b);
      }
    }
  }
  doubtful.Finish();
}

// blockIdx.x is the image. Leaves masks and gone cleared for the next chunk.
//
// Thread r is box r of the chunk. A warp decides its 32 boxes once all that could suppress them are
// decided; it waits for those warps alone that have any such. Where few boxes of a chunk overlap,
// all warps go at once, and never is a chain longer than the words of the chunk.
static __global__ void __launch_bounds__(kChunk, 1)
    ResolveKernel(NmsLists lists, int64_t chunk_begin) {
  BeginKernel();
  // Read and written by atomics, as warps wait for each other without a barrier.
  __shared__ uint32_t kept_bits[kChunkWords], decided_words;
  const int64_t image = blockIdx.x;
  const int32_t kept_before = lists.kept_count[image];
  if (kept_before >= lists.most) return;
  const auto r = static_cast<int>(threadIdx.x);
  const int warp = r / 32, lane = r % 32;
  const int64_t i = chunk_begin + r;
  if (r == 0) decided_words = 0;

  uint32_t* masks = lists.masks + image * kChunkWords * kChunk + r;  // who suppresses this box
  uint8_t& gone = lists.gone[image * kChunk + r];
  bool open = i < lists.count && gone == 0;
  if (open && lists.excluded != nullptr) open = !lists.excluded[image * lists.count + i];
  uint32_t row[kChunkWords];  // all on their way before the first is looked at
#pragma unroll
  for (int w = 0; w < kChunkWords; ++w) row[w] = w <= warp ? masks[w * kChunk] : 0;
  uint32_t mine = 0, own = 0;  // the words that are not 0; this word's
#pragma unroll
  for (int w = 0; w < kChunkWords; ++w) {
    mine |= row[w] != 0 ? 1u << w : 0u;
    own = w == warp ? row[w] : own;
  }
  __syncthreads();  // decided_words is 0

  // By words before this one.
  uint32_t waiting = mine & ((1u << warp) - 1);
  while (__any_sync(kAllLanes, open && waiting != 0)) {
    uint32_t decided = lane == 0 ? atomicOr(&decided_words, 0u) : 0;
    decided = __shfl_sync(kAllLanes, decided, 0);
    while (open && (waiting & decided) != 0) {
      const int w = __ffs(static_cast<int>(waiting & decided)) - 1;
      waiting &= ~(1u << w);
      if ((masks[w * kChunk] & atomicOr(&kept_bits[w], 0u)) != 0) open = false;
    }
  }
  // Within this word: a box is kept once all that suppress it are known to be gone, and gone once
  // one of them is kept; every round decides the first open one at least.
  uint32_t kept = 0;
  unsigned open_bits = __ballot_sync(kAllLanes, open);
  while (open_bits != 0) {
    const bool free = open && (own & open_bits) == 0;
    kept |= __ballot_sync(kAllLanes, free);
    open = open && !free && (own & kept) == 0;
    open_bits = __ballot_sync(kAllLanes, open);
  }
  if (lane == 0) {
    atomicExch(&kept_bits[warp], kept);
    __threadfence_block();
    atomicOr(&decided_words, 1u << warp);
  }
  for (; mine != 0; mine &= mine - 1) masks[(__ffs(static_cast<int>(mine)) - 1) * kChunk] = 0;
  gone = 0;
  __syncthreads();

  int before = kept_before, total = kept_before;
  for (int w = 0; w < kChunkWords; ++w) {
    const int in_word = __popc(kept_bits[w]);
    before += w < warp ? in_word : 0;
    total += in_word;
  }
  before += __popc(kept & ((1u << lane) - 1));
  const bool keep = (kept >> lane & 1) != 0 && before < lists.most;
  if (keep) lists.kept[image * lists.count + before] = static_cast<int32_t>(i);
  if (lists.grid.capacity > 0) {
    const float4 bounds = keep ? lists.bounds[image * lists.count + i] : float4{1.0f, 0, 0, 0};
    if (bounds.x <= bounds.z) lists.grid.Insert(bounds, static_cast<int32_t>(i));
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
