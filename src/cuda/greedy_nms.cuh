// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression on the device, in an order that is already fixed: box i is kept if no kept box
// before it suppresses it. The order is processed in chunks, with two kernels per chunk:
// - PairsKernel, many blocks: finds which boxes of the chunk are suppressed by boxes kept before
//   it, and which pairs inside the chunk suppress, as a bit matrix;
// - ResolveKernel, one block per list: makes the greedy choice within the chunk, each box as soon
//   as those that may suppress it are decided.
// Where the first chunk keeps few boxes, all later boxes are compared with those at once
// (ThinKernel). The number of launches depends on the size alone, so nothing waits for the host.
//
// A Judge decides when one box suppresses another:
//   struct Box                            what a lane holds of a box
//   Box Load(image, rank)
//   double LeastArea(behind)              least area of the bounds of boxes that may suppress it
//   Verdict Quick(ahead, behind)          cheap; kDoubtful only with kDoubts
//   bool Decide(image, pair, there)       a doubtful pair per lane, or none; called by a whole warp
#pragma once

#include <cstdint>

#include "cuda/kept_grid.cuh"
#include "math/quad_filter.h"
#include "runtime/cuda/launch.h"

namespace detops::cuda {

constexpr int kChunk = 1024;
constexpr int kChunkWords = kChunk / 32;
constexpr int kPairThreads = 256;
constexpr int kPairWarps = kPairThreads / 32;
constexpr int kFewWords = 4;
constexpr unsigned kAllLanes = 0xffffffffu;

// Lists of boxes in the order of scores, one per image.
struct NmsLists {
  int64_t images = 0, count = 0;   // boxes per image
  int64_t most = 0;                // boxes to keep per image
  const float4* bounds = nullptr;  // [images][count]; x1 > x2 overlaps nothing
  bool* excluded = nullptr;        // [images][count] or null: neither kept nor suppressing
  // For one image with a grid, else null: whether ThinKernel has written `excluded`.
  int32_t* thinned = nullptr;
  int32_t* kept = nullptr;         // [images][count] ranks, ascending
  int32_t* kept_count = nullptr;   // [images]
  uint32_t* masks = nullptr;       // [images][kChunkWords][kChunk] which suppress which
  uint32_t* mask_words = nullptr;  // [images][kChunk] which words of a box's masks are not 0
  uint8_t* gone = nullptr;         // [images][kChunk] suppressed by earlier chunks
  KeptGrid grid;                   // for one image with many boxes; else all kept are compared

  NmsLists() = default;
  NmsLists(core::WorkspaceLayout& layout, int64_t lists, int64_t boxes, bool use_grid)
      : images(lists),
        count(boxes),
        kept(layout.Array<int32_t>(core::CheckedMul(lists, boxes, "workspace"))),
        kept_count(layout.Array<int32_t>(lists)),
        masks(layout.Array<uint32_t>(core::CheckedMul(lists, kChunkWords * kChunk, "workspace"))),
        mask_words(layout.Array<uint32_t>(core::CheckedMul(lists, kChunk, "workspace"))),
        gone(layout.Array<uint8_t>(core::CheckedMul(lists, kChunk, "workspace"))) {
    if (use_grid) grid = KeptGrid(layout, boxes);
  }

  // Null where no box is excluded.
  __device__ const bool* ExcludedOf(int64_t image) const {
    if (excluded == nullptr || (thinned != nullptr && *thinned == 0)) return nullptr;
    return excluded + image * count;
  }
};

struct Pair {
  int32_t ahead, behind;
};

// Records the verdicts of a chunk: a pair inside it sets a bit of the matrix; a box kept before it
// (which has a lower rank) suppresses the later box at once.
struct ChunkVerdicts {
  uint32_t* masks;       // [kChunkWords][kChunk]
  uint32_t* mask_words;  // [kChunk]
  uint8_t* gone;         // [kChunk]
  int32_t begin;         // of the chunk

  __device__ void Suppress(int32_t ahead, int32_t behind) const {
    const int32_t a = ahead - begin;
    SuppressByWord(a < 0 ? -1 : a / 32, 1u << (a & 31), behind);
  }
  // Suppression by boxes of one word of the chunk, one bit per box; or, with -1, by boxes kept
  // before the chunk.
  __device__ void SuppressByWord(int32_t word, uint32_t bits, int32_t behind) const {
    const int32_t b = behind - begin;
    if (word < 0) {
      gone[b] = 1;
    } else {
      atomicOr(&masks[word * kChunk + b], bits);
      atomicOr(&mask_words[b], 1u << word);
    }
  }
  // May return a stale value: then some comparisons are redundant.
  __device__ bool IsGone(int32_t behind) const {
    return *static_cast<volatile uint8_t*>(gone + (behind - begin)) != 0;
  }
};

// Records verdicts on boxes of later chunks.
struct EarlyVerdicts {
  bool* excluded;  // [count]

  __device__ void Suppress(int32_t, int32_t behind) const { excluded[behind] = true; }
  __device__ bool IsGone(int32_t behind) const {
    return *static_cast<volatile bool*>(excluded + behind);
  }
};

constexpr int kMostDoubtful = 64;  // pairs per warp at a time: 31 left over and 32 more

// The pairs that a warp found doubtful: decided 32 at a time, so that all lanes have work. Verdicts
// is one of the two classes above.
template <class Judge, class Verdicts>
class DoubtfulPairs {
 public:
  __device__ DoubtfulPairs(const Judge& judge, int64_t image, Pair* storage,
                           const Verdicts& verdicts)
      : judge_(judge), image_(image), pairs_(storage), verdicts_(verdicts) {}

  // Called by all lanes together. Returns whether pairs were decided.
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
    const Pair pair = pairs_[count_ + (lane_ < n ? lane_ : 0)];
    const bool there = lane_ < n && !verdicts_.IsGone(pair.behind);
    if (judge_.Decide(image_, pair, there)) verdicts_.Suppress(pair.ahead, pair.behind);
    __syncwarp();
  }

  const Judge& judge_;
  int64_t image_;
  Pair* pairs_;
  const Verdicts& verdicts_;
  int count_ = 0;
  int lane_ = static_cast<int>(threadIdx.x % 32);
};

// Queries the grid for kept boxes that suppress box b. Called by a whole warp.
template <class Judge, class Verdicts>
__device__ void QueryGrid(const NmsLists& lists, const Judge& judge, int64_t image, int32_t b,
                          const Verdicts& verdicts, DoubtfulPairs<Judge, Verdicts>& doubtful) {
  using math::Verdict;
  const float4 query = lists.bounds[image * lists.count + b];
  if (!(query.x <= query.z)) return;
  const typename Judge::Box box = judge.Load(image, b);
  bool gone = false;
  lists.grid.Any(query, judge.LeastArea(box), lists.bounds + image * lists.count,
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
  if (gone && threadIdx.x % 32 == 0) verdicts.Suppress(-1, b);
}

// A group, part of a word of boxes, is compared with 32 boxes ahead of it.
constexpr int kGroup = 8;
constexpr int kGroupsPerWord = 32 / kGroup;

// The number of pairs of one of the first `words` words and a group that is not before it: all
// `groups`, then all but those of one word, then all but those of two words, and so on.
__host__ __device__ constexpr int32_t TilesOf(int32_t words, int32_t groups) {
  return words * groups - kGroupsPerWord * (words * (words - 1) / 2);
}

// blockIdx.y is the image. The warps share two kinds of work: pairs inside the chunk, in tiles of
// 32 boxes ahead (one per lane) by a group behind (one after the other); and comparisons with the
// boxes kept before, in tiles too or, with the grid, as one query per box of the chunk.
template <class Judge, bool kGrid>
__global__ void __launch_bounds__(kPairThreads, 2)
    PairsKernel(NmsLists lists, Judge judge, int64_t chunk_begin) {
  BeginKernel();
  using Box = typename Judge::Box;
  using math::Verdict;
  __shared__ Box behind_of[kPairWarps][kGroup];
  __shared__ Pair queue_of[kPairWarps][kMostDoubtful];
  const int64_t image = blockIdx.y;
  const int32_t kept = lists.kept_count[image];
  const bool* excluded = lists.ExcludedOf(image);  // loaded as early as the other
  if (kept >= lists.most) return;
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  Box* behind = behind_of[warp];
  const auto is_excluded = [&](int32_t rank) { return excluded != nullptr && excluded[rank]; };
  const auto begin = static_cast<int32_t>(chunk_begin);
  const auto size = static_cast<int32_t>(min(int64_t{kChunk}, lists.count - chunk_begin));
  const int32_t groups = (size + kGroup - 1) / kGroup;
  const ChunkVerdicts verdicts = {lists.masks + image * kChunkWords * kChunk,
                                  lists.mask_words + image * kChunk, lists.gone + image * kChunk,
                                  begin};
  DoubtfulPairs<Judge, ChunkVerdicts> doubtful(judge, image, queue_of[warp], verdicts);

  // Word w of 32 boxes ahead is compared with its own groups and those behind; the tiles of w come
  // before those of w + 1.
  const int32_t words = (size + 31) / 32;
  const int32_t inside = TilesOf(words, groups);
  const int32_t kept_words = (kept + 31) / 32;
  const int32_t queries = kGrid && kept > 0 ? size : 0;
  const int32_t tiles = queries + inside + (kGrid ? 0 : kept_words * groups);
  const auto warps = static_cast<int32_t>(gridDim.x * kPairWarps);
  for (auto task = static_cast<int32_t>(blockIdx.x * kPairWarps + warp); task < tiles;
       task += warps) {
    if (kGrid && task < queries) {
      if (!is_excluded(begin + task)) {
        QueryGrid(lists, judge, image, begin + task, verdicts, doubtful);
      }
      continue;
    }

    const int32_t tile = task - queries;
    int32_t word = 0, group = 0, ahead = 0;
    bool there = false;
    if (tile < inside) {
      word = __popc(__ballot_sync(kAllLanes, lane < words && TilesOf(lane, groups) <= tile)) - 1;
      group = kGroupsPerWord * word + tile - TilesOf(word, groups);
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
    __syncwarp();  // the boxes of the last tile have been read
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
// Thread r handles box r of the chunk, a warp a word of 32 boxes. A box is suppressed once a box
// that suppresses it is kept, and kept once all of those are suppressed. Every warp publishes which
// of its boxes are kept and which are still open, and polls what other warps have published until
// none of its own is open. This needs no barriers, and where few words may suppress a box, it waits
// for their boxes alone.
static __global__ void __launch_bounds__(kChunk, 1)
    ResolveKernel(NmsLists lists, int64_t chunk_begin) {
  BeginKernel();
  // Read and written by atomics, as there are no barriers in between.
  __shared__ uint32_t kept_words[kChunkWords], open_words[kChunkWords];
  const int64_t image = blockIdx.x;
  const int32_t kept_before = lists.kept_count[image];
  const auto r = static_cast<int>(threadIdx.x);
  const int warp = r / 32, lane = r % 32;
  const int64_t i = chunk_begin + r;
  const bool there = i < lists.count;
  // All loads that every box needs are issued before the first value is used.
  uint32_t* masks = lists.masks + image * kChunkWords * kChunk + r;  // which suppress this box
  uint32_t& mask_words = lists.mask_words[image * kChunk + r];
  uint8_t& gone = lists.gone[image * kChunk + r];
  uint32_t words = mask_words;
  const bool is_gone = gone != 0;
  const bool* excluded = lists.ExcludedOf(image);
  const bool is_excluded = there && excluded != nullptr && excluded[i];
  const bool use_grid = lists.grid.capacity > 0;
  KeptGrid::Place place = {};
  float4 bounds = {};
  if (use_grid && there) {
    place = lists.grid.places[i];
    bounds = lists.bounds[i];
  }
  if (kept_before >= lists.most) return;
  bool open = there && !is_gone && !is_excluded;
  const uint32_t own = (words >> warp & 1) != 0 ? masks[warp * kChunk] : 0;  // within this word
  uint32_t open_bits = __ballot_sync(kAllLanes, open), kept = 0;
  if (lane == 0) {
    kept_words[warp] = 0;
    open_words[warp] = open_bits;
  }
  __syncthreads();

  uint32_t others = words & ~(1u << warp);  // words with open boxes that may suppress this one
  uint32_t last_seen = ~atomicOr(&open_words[lane], 0u);  // of word `lane`: all changed
  while (open_bits != 0) {
    // The open boxes are read first: those no longer open are already published as kept or not.
    const uint32_t seen_open = atomicOr(&open_words[lane], 0u);
    __threadfence_block();
    const uint32_t seen_kept = atomicOr(&kept_words[lane], 0u);
    const uint32_t changed = __ballot_sync(kAllLanes, seen_open != last_seen);
    last_seen = seen_open;
    // A box with many such words checks a word only once, when all boxes of that word are decided.
    const uint32_t decided = __ballot_sync(kAllLanes, seen_open == 0);
    const uint32_t worth = decided | (__popc(others) <= kFewWords ? changed : 0);
    for (uint32_t pending = open ? others & worth : 0; __any_sync(kAllLanes, pending != 0);
         pending &= pending - 1) {
      const int w = pending != 0 ? __ffs(static_cast<int>(pending)) - 1 : 0;
      const uint32_t kept_there = __shfl_sync(kAllLanes, seen_kept, w);
      const uint32_t open_there = __shfl_sync(kAllLanes, seen_open, w);
      if (pending == 0) continue;
      const uint32_t suppressing = masks[w * kChunk];
      if ((suppressing & open_there) == 0) others &= ~(1u << w);
      if ((suppressing & kept_there) != 0) {
        open = false;
        pending = 0;
      }
    }
    // Within this word.
    uint32_t before = 0;
    do {
      before = open_bits;
      const bool free = open && others == 0 && (own & open_bits) == 0;
      kept |= __ballot_sync(kAllLanes, free);
      open = open && !free && (own & kept) == 0;
      open_bits = __ballot_sync(kAllLanes, open);
    } while (open_bits != before);
    if (lane == 0) {
      atomicExch(&kept_words[warp], kept);
      __threadfence_block();
      atomicExch(&open_words[warp], open_bits);
    }
  }
  for (; words != 0; words &= words - 1) masks[(__ffs(static_cast<int>(words)) - 1) * kChunk] = 0;
  mask_words = 0;
  gone = 0;
  __syncthreads();

  // Lane w counts word w.
  const int in_word = __popc(kept_words[lane]);
  int end = in_word;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int more = __shfl_up_sync(kAllLanes, end, distance);
    if (lane >= distance) end += more;
  }
  const int total = kept_before + __shfl_sync(kAllLanes, end, kChunkWords - 1);
  const int before =
      kept_before + __shfl_sync(kAllLanes, end - in_word, warp) + __popc(kept & ((1u << lane) - 1));
  const bool keep = (kept >> lane & 1) != 0 && before < lists.most;
  if (keep) lists.kept[image * lists.count + before] = static_cast<int32_t>(i);
  if (use_grid && keep) lists.grid.Insert(place, bounds, static_cast<int32_t>(i));
  if (r == 0) {
    lists.kept_count[image] = static_cast<int32_t>(min(int64_t{total}, lists.most));
  }
}

// Where the first chunk has kept fewer boxes than this, the later boxes are likely to be suppressed
// by those kept.
constexpr int kFewKept = kChunk / 4;

// For one image, after the first chunk: later boxes, one per warp, query the grid for the boxes
// kept so far and are excluded if one of those suppresses them. Their own chunk then skips them.
template <class Judge>
__global__ void __launch_bounds__(kPairThreads, 2) ThinKernel(NmsLists lists, Judge judge) {
  BeginKernel();
  __shared__ Pair queue_of[kPairWarps][kMostDoubtful];
  const bool dense = *lists.kept_count < kFewKept;
  if (blockIdx.x == 0 && threadIdx.x == 0) *lists.thinned = dense ? 1 : 0;
  if (!dense) return;
  const auto warp = static_cast<int>(threadIdx.x / 32);
  const EarlyVerdicts verdicts = {lists.excluded};
  DoubtfulPairs<Judge, EarlyVerdicts> doubtful(judge, 0, queue_of[warp], verdicts);
  const auto step = static_cast<int64_t>(gridDim.x * kPairWarps);
  for (int64_t b = kChunk + int64_t{blockIdx.x} * kPairWarps + warp; b < lists.count; b += step) {
    if (threadIdx.x % 32 == 0) lists.excluded[b] = false;
    __syncwarp();
    QueryGrid(lists, judge, 0, static_cast<int32_t>(b), verdicts, doubtful);
  }
  doubtful.Finish();
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
  Check(cudaMemsetAsync(lists.mask_words, 0, images * sizeof(uint32_t) * kChunk, launch.stream()),
        what);
  Check(cudaMemsetAsync(lists.gone, 0, size_t{images} * kChunk, launch.stream()), what);
  const bool use_grid = lists.grid.capacity > 0;
  if (use_grid) lists.grid.Reserve(launch, lists.bounds, lists.count);
  for (int64_t begin = 0; begin < lists.count; begin += kChunk) {
    NmsLists now = lists;
    if (begin == 0 && lists.thinned != nullptr) now.excluded = nullptr;  // nothing is known yet
    // In the first chunk, one warp per tile. Later, four blocks per multiprocessor, as boxes kept
    // before are compared too.
    const auto boxes = static_cast<int32_t>(std::min<int64_t>(kChunk, lists.count - begin));
    const int32_t tiles = TilesOf((boxes + 31) / 32, (boxes + kGroup - 1) / kGroup);
    const auto blocks = begin == 0 ? BlocksFor(tiles, kPairWarps)
                                   : static_cast<unsigned>(4 * launch.multiprocessors());
    launch(what, use_grid ? PairsKernel<Judge, true> : PairsKernel<Judge, false>,
           dim3(blocks, images), kPairThreads, now, judge, begin);
    launch(what, ResolveKernel, images, kChunk, now, begin);
    if (lists.thinned != nullptr && begin == 0) {
      launch(what, ThinKernel<Judge>, static_cast<unsigned>(4 * launch.multiprocessors()),
             kPairThreads, lists, judge);
    }
  }
}

}  // namespace detops::cuda
