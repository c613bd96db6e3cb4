// SPDX-License-Identifier: Apache-2.0
//
// All pairs of boxes of two sets whose bounds overlap. For kernels only.
//
// A core takes its queries in groups of 256 neighbours. Of the tiles of candidates that overlap the
// group's bounds it loads the boxes, keeps those that do so themselves, and again for each block of
// 32 queries. What is left is compared with the block in vectors of 32 queries by some candidates,
// whose values a table look-up repeats.
#pragma once

#include "mlu/nms_buffers.h"
#include "mlu/team.h"

namespace detops::mlu {

// How far a search has come.
struct SearchCursor {
  int64_t query;  // the first of the group
  int64_t tile;   // the first that the group has not been compared with
  int block;      // of the group
  int candidate;  // of those that overlap the block
};

// kOrdered: both sets are the same, and only pairs are found whose first is ahead in the order.
template <bool kOrdered>
class OverlapSearch {
 public:
  // Pairs that a core's lists must have room for beyond those that it stops at.
  static constexpr int kMostAtOnce = 4096;

  // Of queries from `begin` to `end`, whose `state` is 0 where that is given. `tile` is the size of
  // the candidates' tiles.
  __mlu_func__ OverlapSearch(Nram nram, const BoxSet& queries, const Share& range,
                             const int32_t* state, const BoxSet& candidates, int64_t count,
                             int tile, const PairLists& lists)
      : query_set_(queries),
        query_end_(range.end),
        state_(state),
        set_(candidates),
        tile_(tile),
        tile_count_((count + tile - 1) / tile),
        lists_(lists) {
    for (int f = 0; f < 4; ++f) tiles_[f] = nram.Array<float>(kTiles);
    tile_list_ = nram.Array<int32_t>(kTiles);
    query_ = nram.Array<float>(BoxSet::kFields * kQueries);
    query_position_ = nram.Array<int32_t>(kQueries);
    candidate_ = nram.Array<float>((BoxSet::kFields + 1) * kCandidates);
    near_ = nram.Array<float>(5 * kCandidates);
    mask_ = nram.Array<float>(kCandidates > kTiles ? kCandidates : kTiles);
    other_mask_ = nram.Array<float>(kCandidates > kTiles ? kCandidates : kTiles);
    numbers_ = nram.Array<int32_t>(kCandidates > kTiles ? kCandidates : kTiles);
    value_ = nram.Array<float>(4 * kPairs);
    which_candidate_ = nram.Array<int32_t>(kPairs);
    which_query_ = nram.Array<int32_t>(kPairs);
    found_candidate_ = nram.Array<int32_t>(kFound + kPairs);
    found_query_ = nram.Array<int32_t>(kFound + kPairs);
    for (int32_t*& column : column_) column = nram.Array<int32_t>(kFound);
    extreme_ = nram.Array<float>(32);
    MakePatterns();
    tiles_from_ = -1;
  }

  // Goes on from the cursor until the lists are full, or after `enough` pairs where all
  // comparisons with some tiles are done. Returns whether it is at the end; found() pairs are in
  // the lists.
  __mlu_func__ bool Run(SearchCursor& cursor, int64_t enough) {
    const bool end = Search(cursor, enough);
    __sync_io();  // of the lists
    return end;
  }
  __mlu_func__ int64_t found() const { return found_; }

 private:
  __mlu_func__ bool Search(SearchCursor& cursor, int64_t enough) {
    found_ = 0;
    pending_ = 0;
    for (; cursor.query < query_end_; cursor = {cursor.query + kQueries, 0, 0, 0}) {
      LoadQueries(cursor.query);
      while (query_count_ > 0 && cursor.tile < tile_count_) {
        const int64_t from = cursor.tile / kTiles * kTiles;
        LoadTiles(from);
        const int listed = ListTiles(cursor.tile - from);
        for (int begin = 0; begin < listed;) {
          const int number = Least(TilesAtOnce(), listed - begin);
          LoadCandidates(from, begin, number);
          if (!Compare(cursor)) return false;
          begin += number;
          cursor.tile = from + tile_list_[begin - 1] + 1;
          if (found_ >= enough) return false;
        }
        cursor.tile = from + kTiles;
      }
    }
    return true;
  }

  static constexpr int kQueries = 256;  // in a group
  static constexpr int kBlock = 32;
  static constexpr int kTiles = 1024;      // whose bounds are in NRAM at a time
  static constexpr int kCandidates = 768;  // boxes of tiles that are in NRAM at a time
  static constexpr int kPiece = 96;        // candidates that a block is compared with at once
  static constexpr int kPairs = kBlock * kPiece;
  static constexpr int kFound = 1024;  // pairs that are handed on at once
  static constexpr float kInfinity = __builtin_inff();
  static_assert(kPairs + kFound <= kMostAtOnce, "what a comparison may find fits into the lists");

  static __mlu_func__ int Least(int64_t a, int64_t b) { return static_cast<int>(a < b ? a : b); }

  // Numbers 0, 1, 2, …; and candidate and query of each element of a comparison.
  __mlu_func__ void MakePatterns() {
    __bang_incseq(numbers_, kCandidates > kTiles ? kCandidates : kTiles);
    float* const value = value_;
    __bang_incseq(value, kPairs);
    __bang_mul_scalar(value, value, 1.0f / kBlock, kPairs);
    __bang_float2int32_tz(which_candidate_, value, kPairs, 0);
    __bang_incseq(which_query_, kPairs);
    __bang_band_scalar(which_query_, which_query_, kBlock - 1, kPairs);
  }

  // Where boxes lie that `count` floats of each of x1, y1, x2, y2, `stride` apart, bound: 1 in the
  // mask where they overlap `b`.
  __mlu_func__ void MarkOverlapping(const float* bounds, int stride, int count, const float* b) {
    __bang_lt_scalar(mask_, bounds, b[2], count);
    __bang_lt_scalar(other_mask_, bounds + stride, b[3], count);
    __bang_and(mask_, mask_, other_mask_, count);
    __bang_gt_scalar(other_mask_, bounds + 2 * stride, b[0], count);
    __bang_and(mask_, mask_, other_mask_, count);
    __bang_gt_scalar(other_mask_, bounds + 3 * stride, b[1], count);
    __bang_and(mask_, mask_, other_mask_, count);
  }

  __mlu_func__ void LoadQueries(int64_t begin) {
    int count = Least(query_end_ - begin, kQueries);
    __memcpy(query_, query_set_.fields + begin, count * sizeof(float), GDRAM2NRAM,
             kQueries * sizeof(float), query_set_.stride * sizeof(float), BoxSet::kFields - 1);
    __bang_add_scalar(query_position_, numbers_, static_cast<int32_t>(begin), count);
    if (state_ != nullptr) {
      int32_t* const undecided = reinterpret_cast<int32_t*>(mask_);
      __memcpy(undecided, state_ + begin, count * sizeof(int32_t), GDRAM2NRAM);
      __bang_eq_scalar(undecided, undecided, int32_t{0}, count);
      for (int f = 0; f < BoxSet::kFields; ++f) {
        int32_t* const field = reinterpret_cast<int32_t*>(query_ + f * kQueries);
        __bang_collect(field, field, undecided, count);
      }
      count = __bang_filter(query_position_, query_position_, undecided, count);
    }
    query_count_ = count;
    if (count == 0) return;
    // Empty boxes fill the last block.
    blocks_ = (count + kBlock - 1) / kBlock;
    const int empty = blocks_ * kBlock - count;
    for (int f = 0; f < 4 && empty > 0; ++f) {
      __bang_write_value(query_ + f * kQueries + count, empty, f < 2 ? kInfinity : -kInfinity);
    }
    for (int i = 0; i < blocks_; ++i) {
      float* const b = block_bounds_ + 4 * i;
      for (int f = 0; f < 4; ++f) {
        const float* const values = query_ + f * kQueries + i * kBlock;
        if (f < 2) {
          __bang_min(extreme_ + 4 * f, values, kBlock);
        } else {
          __bang_max(extreme_ + 4 * f, values, kBlock);
        }
      }
      for (int f = 0; f < 4; ++f) b[f] = extreme_[4 * f];
      for (int f = 0; f < 4; ++f) {
        float& all = group_bounds_[f];
        if (i == 0 || (f < 2 ? b[f] < all : b[f] > all)) all = b[f];
      }
    }
  }

  __mlu_func__ void LoadTiles(int64_t from) {
    if (from == tiles_from_) return;
    tiles_from_ = from;
    const int count = Least(tile_count_ - from, kTiles);
    __memcpy(tiles_[0], set_.tiles + from, count * sizeof(float), GDRAM2NRAM,
             kTiles * sizeof(float), set_.tile_stride * sizeof(float), 3);
  }

  // Of the tiles in NRAM, from the given one on, those that overlap the group.
  __mlu_func__ int ListTiles(int from) {
    const int count = Least(tile_count_ - tiles_from_, kTiles) - from;
    MarkOverlapping(tiles_[0] + from, kTiles, count, group_bounds_);
    return __bang_filter(reinterpret_cast<float*>(tile_list_),
                         reinterpret_cast<float*>(numbers_ + from), mask_, count);
  }

  // Where states are given, few at a time: queries that are suppressed need no more comparisons.
  __mlu_func__ int TilesAtOnce() const {
    int most = kCandidates / tile_;
    if (state_ != nullptr) most = Least(kPairs / (query_count_ * tile_), most);
    return most > 1 ? most : 1;
  }

  // Loads the boxes of some of the tiles listed, of which those stay that overlap the group.
  __mlu_func__ void LoadCandidates(int64_t from, int first, int number) {
    int32_t* const positions = reinterpret_cast<int32_t*>(Candidate(BoxSet::kFields));
    __sync_compute();
    for (int i = 0; i < number; ++i) {
      const int64_t begin = (from + tile_list_[first + i]) * tile_;
      __memcpy_async(candidate_ + i * tile_, set_.fields + begin, tile_ * sizeof(float), GDRAM2NRAM,
                     kCandidates * sizeof(float), set_.stride * sizeof(float), BoxSet::kFields - 1);
      __bang_add_scalar(positions + i * tile_, numbers_, static_cast<int32_t>(begin), tile_);
    }
    __sync_io();
    const int loaded = number * tile_;
    MarkOverlapping(candidate_, kCandidates, loaded, group_bounds_);
    for (int f = 0; f < BoxSet::kFields; ++f) {
      __bang_collect(Candidate(f), Candidate(f), mask_, loaded);
    }
    candidates_ =
        __bang_filter(Candidate(BoxSet::kFields), Candidate(BoxSet::kFields), mask_, loaded);
  }
  __mlu_func__ float* Candidate(int field) const { return candidate_ + field * kCandidates; }

  // The candidates with all blocks from the cursor on. Returns whether the lists had room.
  __mlu_func__ bool Compare(SearchCursor& cursor) {
    for (; cursor.block < blocks_ && candidates_ > 0; ++cursor.block) {
      MarkOverlapping(candidate_, kCandidates, candidates_, block_bounds_ + 4 * cursor.block);
      for (int f = 0; f < 4; ++f) {
        __bang_collect(near_ + f * kCandidates, Candidate(f), mask_, candidates_);
      }
      const int near = __bang_filter(near_ + 4 * kCandidates, reinterpret_cast<float*>(numbers_),
                                     mask_, candidates_);
      for (; cursor.candidate < near; cursor.candidate += kPiece) {
        if (found_ + pending_ + kPairs > lists_.capacity) {
          HandOn();
          return false;
        }
        ComparePiece(cursor.block, cursor.candidate, Least(near - cursor.candidate, kPiece));
        if (pending_ >= kFound) HandOn();
      }
      cursor.candidate = 0;
    }
    cursor.block = 0;
    HandOn();
    return true;
  }

  // `number` candidates from the first on, each with all queries of a block.
  __mlu_func__ void ComparePiece(int block, int first, int number) {
    const int count = number * kBlock;
    const float* const queries = query_ + block * kBlock;
    for (int f = 0; f < 4; ++f) {
      int32_t* const table = reinterpret_cast<int32_t*>(near_ + f * kCandidates + first);
      __bang_lut_s32(reinterpret_cast<int32_t*>(value_ + f * count), which_candidate_, table, count,
                     number);
    }
    // x1 and y1 with x2 and y2 of the queries, and the other way round.
    __bang_cycle_lt(value_, value_, queries + 2 * kQueries, count, kBlock);
    __bang_cycle_lt(value_ + count, value_ + count, queries + 3 * kQueries, count, kBlock);
    __bang_cycle_gt(value_ + 2 * count, value_ + 2 * count, queries, count, kBlock);
    __bang_cycle_gt(value_ + 3 * count, value_ + 3 * count, queries + kQueries, count, kBlock);
    __bang_and(value_, value_, value_ + 2 * count, 2 * count);
    float* const overlap = value_;
    __bang_and(overlap, value_, value_ + count, count);
    int32_t* const candidates = found_candidate_ + pending_;
    int32_t* const found_queries = found_query_ + pending_;
    const int found = __bang_filter(reinterpret_cast<float*>(candidates),
                                    reinterpret_cast<float*>(which_candidate_), overlap, count);
    if (found == 0) return;
    __bang_collect(reinterpret_cast<float*>(found_queries), reinterpret_cast<float*>(which_query_),
                   overlap, count);
    __bang_lut_s32(candidates, candidates,
                   reinterpret_cast<int32_t*>(near_ + 4 * kCandidates + first), found, number);
    __bang_add_scalar(found_queries, found_queries, block * kBlock, found);
    pending_ += found;
  }

  // Writes what was found to the lists.
  __mlu_func__ void HandOn() {
    const auto field = [](float* set, int stride, int f) {
      return reinterpret_cast<int32_t*>(set + f * stride);
    };
    for (int begin = 0; begin < pending_; begin += kFound) {
      __sync_io();  // the columns are free again
      int count = Least(pending_ - begin, kFound);
      int32_t* const candidates = found_candidate_ + begin;
      int32_t* const queries = found_query_ + begin;
      int32_t *ahead_key = column_[4], *behind_key = column_[5], *first = column_[6];
      __bang_lut_s32(column_[0], candidates, field(candidate_, kCandidates, 6), count, candidates_);
      __bang_lut_s32(column_[1], queries, query_position_, count, query_count_);
      __bang_lut_s32(column_[2], candidates, field(candidate_, kCandidates, 5), count, candidates_);
      __bang_lut_s32(column_[3], queries, field(query_, kQueries, 5), count, query_count_);
      if (kOrdered) {
        __bang_lut_s32(ahead_key, candidates, field(candidate_, kCandidates, 4), count,
                       candidates_);
        __bang_lut_s32(behind_key, queries, field(query_, kQueries, 4), count, query_count_);
        __bang_lt(first, column_[2], column_[3], count);
        int32_t* const equal = candidates;
        __bang_eq(equal, ahead_key, behind_key, count);
        __bang_and(first, first, equal, count);
        __bang_lt(equal, ahead_key, behind_key, count);
        __bang_or(first, first, equal, count);
        for (int i = 0; i < 3; ++i) __bang_collect(column_[i], column_[i], first, count);
        count = __bang_filter(column_[3], column_[3], first, count);
        if (count == 0) continue;
      }
      int32_t* const lists[4] = {lists_.ahead, lists_.behind, lists_.ahead_index,
                                 lists_.behind_index};
      __sync_compute();
      for (int i = 0; i < 4; ++i) {
        __memcpy_async(lists[i] + found_, column_[i], count * sizeof(int32_t), NRAM2GDRAM);
      }
      found_ += count;
    }
    pending_ = 0;
  }

  const BoxSet query_set_;
  const int64_t query_end_;
  const int32_t* const state_;
  const BoxSet set_;
  const int tile_;
  const int64_t tile_count_;
  const PairLists lists_;

  // In NRAM.
  float* tiles_[4];
  int32_t* tile_list_;
  float* query_;             // [kFields, kQueries]
  int32_t* query_position_;  // [kQueries]
  float* candidate_;         // [kFields + 1, kCandidates], the last the position
  float* near_;              // [5, kCandidates]: bounds, and the number of the candidate
  float *mask_, *other_mask_;
  int32_t* numbers_;
  float* value_;                             // [4, kPairs]
  int32_t *which_candidate_, *which_query_;  // [kPairs]
  int32_t *found_candidate_, *found_query_;  // [kFound + kPairs]
  int32_t* column_[7];                       // [kFound]
  float* extreme_;

  int64_t tiles_from_, found_;
  int query_count_, blocks_, candidates_, pending_;
  float block_bounds_[4 * kQueries / kBlock], group_bounds_[4];
};

}  // namespace detops::mlu
