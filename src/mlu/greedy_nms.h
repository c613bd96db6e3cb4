// SPDX-License-Identifier: Apache-2.0
//
// Greedy suppression of boxes in any order of scores, by the cores of a union task. For kernels
// only; nms_buffers.h is for both sides.
//
// Boxes lie spatially sorted. Each core finds, for its part of them, the pairs whose bounds
// overlap, has them judged in batches, and keeps an edge for each pair of which the first box
// suppresses the second. Then all cores decide boxes in rounds: a box with an edge from a kept box
// is suppressed; one without an edge from an undecided box is kept. Most boxes are decided in the
// first round.
//
// Where boxes are dense, that would be too many pairs and edges. Then the highest-scoring boxes are
// decided first, what they suppress is dropped, and so on with the rest.
#pragma once

#include "mlu/box_sets.h"
#include "mlu/overlap_search.h"
#include "mlu/rows.h"

namespace detops::mlu {

// What becomes of a box.
enum BoxState : int32_t { kUndecided, kKept, kSuppressed };

// Judge: made from NRAM and a `const Judge::Parameters&`;
//   kBatch         pairs that it takes at once
//   int Judge(ahead, behind, count)   of how many pairs of boxes the first suppresses the second;
//                                     boxes are given by their indices, in NRAM
//   Suppressed()   which pairs those are, in NRAM
template <class Judge>
class GreedyNms {
 public:
  __mlu_func__ GreedyNms(const Team& team, const NmsBuffers& buffers,
                         const typename Judge::Parameters& parameters, Nram nram)
      : team_(team),
        b_(buffers),
        parameters_(parameters),
        counters_(team, buffers.counters, nram),
        nram_(nram) {
    b_.pairs.ahead += team.core * b_.pairs.capacity;
    b_.pairs.behind += team.core * b_.pairs.capacity;
    b_.pairs.ahead_index += team.core * b_.pairs.capacity;
    b_.pairs.behind_index += team.core * b_.pairs.capacity;
    b_.edges.ahead += team.core * b_.edges.capacity;
    b_.edges.behind += team.core * b_.edges.capacity;
  }

  // The boxes are in buffers.boxes; afterwards, buffers.kept_index is 1 for those that are kept.
  __mlu_func__ void Run() {
    Fill(b_.kept_index, Share(team_, b_.count), kUndecided);
    int64_t count = b_.count;
    FinishSet(team_, b_.boxes, count, BoxSet::kTile, nram_);
    while (count > 0) {
      int64_t first = count;  // how many are decided in this pass
      if (count > kFew) {
        const int64_t wanted = ChunkSize(count);
        if (wanted < count) first = SelectChunk(b_.boxes, count, count, wanted);
      }
      while (!FindEdges(first < count ? b_.chunk : b_.boxes, first)) {
        first = SelectChunk(first < count ? b_.chunk : b_.boxes, first, count, first / 4);
      }
      const BoxSet& chunk = first < count ? b_.chunk : b_.boxes;
      Decide(first);
      Publish(chunk, first);
      if (first == count) return;
      const int64_t kept = SelectBoxes(team_, chunk, first, Selection::OfState(b_.state, kKept),
                                       b_.kept, BoxSet::kSmallTile, counters_, 0, nram_);
      DropSuppressed(count - first, kept);
      count = SelectBoxes(team_, b_.rest, count - first, Selection::OfState(b_.state, kUndecided),
                          b_.boxes, BoxSet::kTile, counters_, 1, nram_);
    }
  }

 private:
  static constexpr int64_t kFew = 512;  // so many boxes have no more edges than there is room for
  static constexpr int kSample = 256, kPivotSample = 1024;
  static constexpr int kPiece = 2048;  // of edges and states

  static __mlu_func__ int Least(int64_t a, int64_t b) { return static_cast<int>(a < b ? a : b); }

  __mlu_func__ void Fill(int32_t* array, const Share& range, int32_t value) const {
    Nram nram = nram_;
    int32_t* const values = nram.Array<int32_t>(kPiece);
    __bang_write_value(values, kPiece, value);
    for (int64_t i = range.begin; i < range.end; i += kPiece) {
      __memcpy(array + i, values, Least(range.end - i, kPiece) * sizeof(int32_t), NRAM2GDRAM);
    }
  }

  // How many boxes to decide at first, so that each has a few neighbours among them: estimated from
  // a sample of all.
  __mlu_func__ int64_t ChunkSize(int64_t count) {
    Nram nram = nram_;
    float* const sample = nram.Array<float>(4 * kSample);
    float* const mask = nram.Array<float>(kSample);
    float* const other = nram.Array<float>(kSample);
    const int64_t step = count / kSample;
    for (int f = 0; f < 4; ++f) {
      __memcpy(sample + f * kSample, b_.boxes.fields + f * b_.boxes.stride, sizeof(float),
               GDRAM2NRAM, sizeof(float), step * sizeof(float), kSample - 1);
    }
    const Share mine(team_, kSample);
    int64_t hits = 0;
    for (int64_t i = mine.begin; i < mine.end; ++i) {
      __bang_lt_scalar(mask, sample, sample[2 * kSample + i], kSample);
      __bang_lt_scalar(other, sample + kSample, sample[3 * kSample + i], kSample);
      __bang_and(mask, mask, other, kSample);
      __bang_gt_scalar(other, sample + 2 * kSample, sample[i], kSample);
      __bang_and(mask, mask, other, kSample);
      __bang_gt_scalar(other, sample + 3 * kSample, sample[kSample + i], kSample);
      __bang_and(mask, mask, other, kSample);
      hits += __bang_count(mask, kSample);
    }
    counters_.Write(2, hits);
    team_.Sync();
    // Most of the boxes overlap themselves.
    const int64_t overlaps = counters_.Read(2) - kSample;
    team_.Sync();
    // A box overlaps overlaps * count / kSample^2 others.
    constexpr int64_t kMany = 16, kWanted = 8;
    if (overlaps * count <= kMany * kSample * kSample) return count;
    const int64_t wanted = kWanted * kSample * kSample / overlaps;
    return wanted < kFew / 2 ? kFew / 2 : wanted;
  }

  // Splits all `count` boxes: about `wanted` go to the chunk, the others to the rest. `sampled`, of
  // `size` boxes, holds those ahead of all others. Returns the size of the chunk.
  __mlu_func__ int64_t SelectChunk(const BoxSet& sampled, int64_t size, int64_t count,
                                   int64_t wanted) {
    const Pivot pivot = FindPivot(sampled, size, wanted);
    const int64_t chunk = SelectBoxes(team_, b_.boxes, count, Selection::UpTo(pivot, false),
                                      b_.chunk, BoxSet::kTile, counters_, 3, nram_);
    SelectBoxes(team_, b_.boxes, count, Selection::UpTo(pivot, true), b_.rest, BoxSet::kTile,
                counters_, 4, nram_);
    return chunk;
  }

  // Every core finds the same one.
  __mlu_func__ Pivot FindPivot(const BoxSet& set, int64_t count, int64_t wanted) const {
    Nram nram = nram_;
    const int sample = Least(count, kPivotSample);
    int32_t* const keys = nram.Array<int32_t>(kPivotSample);
    int32_t* const indices = nram.Array<int32_t>(kPivotSample);
    int32_t* const mask = nram.Array<int32_t>(kPivotSample);
    int32_t* const equal = nram.Array<int32_t>(kPivotSample);
    const int64_t step = count / sample * sizeof(float);
    __memcpy(keys, set.fields + 4 * set.stride, sizeof(float), GDRAM2NRAM, sizeof(float), step,
             sample - 1);
    __memcpy(indices, set.fields + 5 * set.stride, sizeof(float), GDRAM2NRAM, sizeof(float), step,
             sample - 1);
    int64_t rank = wanted * sample / count;
    rank = rank > 1 ? rank : 1;
    // The least value that `rank` values of the sample don't exceed.
    const auto least = [&](int64_t low, int64_t high, int64_t wanted_rank, const int32_t* values,
                           const int32_t* among) {
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        __bang_le_scalar(mask, values, static_cast<int32_t>(middle), sample);
        if (among != nullptr) __bang_and(mask, mask, among, sample);
        if (__bang_count(mask, sample) >= wanted_rank) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return static_cast<int32_t>(low);
    };
    constexpr int64_t kMost = 0x7fffffff;
    Pivot pivot;
    pivot.key = least(-kMost - 1, kMost, rank, keys, nullptr);
    __bang_lt_scalar(mask, keys, pivot.key, sample);
    rank -= __bang_count(mask, sample);
    __bang_eq_scalar(equal, keys, pivot.key, sample);
    pivot.index = least(0, kMost, rank, indices, equal);
    return pivot;
  }

  // Judges the pairs that are in the lists: sink(list, count) gets the positions of those of which
  // the first suppresses the second, in list[0] and list[1]; list[2] and list[3] are scratch.
  template <class Sink>
  __mlu_func__ void JudgePairs(int64_t pairs, const Sink& sink) {
    Nram nram = nram_;
    constexpr int kBatch = Judge::kBatch;
    int32_t* list[4];
    for (int32_t*& part : list) part = nram.Array<int32_t>(kBatch);
    Judge judge(nram, parameters_);
    const int32_t* const from[4] = {b_.pairs.ahead, b_.pairs.behind, b_.pairs.ahead_index,
                                    b_.pairs.behind_index};
    for (int64_t begin = 0; begin < pairs; begin += kBatch) {
      const int count = Least(pairs - begin, kBatch);
      for (int i = 0; i < 4; ++i) {
        __memcpy(list[i], from[i] + begin, count * sizeof(int32_t), GDRAM2NRAM);
      }
      const int found = judge.Judge(list[2], list[3], count);
      if (found == 0) continue;
      for (int i = 0; i < 2; ++i) {
        __bang_lut_s32(list[2 + i], judge.Suppressed(), list[i], found, count);
        __bang_move(list[i], list[2 + i], found * sizeof(int32_t));
      }
      sink(list, found);
    }
  }

  // The edges among the boxes of a set, each with the core that has its second box. Returns whether
  // there was room for all.
  __mlu_func__ bool FindEdges(const BoxSet& set, int64_t count) {
    const Share mine(team_, count);
    SearchCursor cursor = {mine.begin, 0, 0, 0};
    edges_ = 0;
    bool room = true;
    for (bool end = mine.size() == 0; !end && room;) {
      int64_t pairs = 0;
      {
        OverlapSearch<true> search(nram_, set, mine, nullptr, set, count, BoxSet::kTile, b_.pairs);
        end = search.Run(cursor, b_.pairs.capacity);
        pairs = search.found();
      }
      JudgePairs(pairs, [&](int32_t* const* list, int number) {
        room = room && edges_ + number <= b_.edges.capacity;
        if (!room) return;
        __memcpy(b_.edges.ahead + edges_, list[0], number * sizeof(int32_t), NRAM2GDRAM);
        __memcpy(b_.edges.behind + edges_, list[1], number * sizeof(int32_t), NRAM2GDRAM);
        edges_ += number;
      });
    }
    counters_.Write(5, room ? 0 : 1);
    team_.Sync();
    const bool all = counters_.Read(5) == 0;
    team_.Sync();
    return all;
  }

  // Decides all boxes of a set by its edges.
  __mlu_func__ void Decide(int64_t count) {
    const Share mine(team_, count);
    Fill(b_.state, mine, kUndecided);
    Fill(b_.suppressed, mine, 0);
    Fill(b_.blocked, mine, 0);
    team_.Sync();
    for (int32_t round = 1;; ++round) {
      FollowEdges(round, count);
      const int number = 6 + round % 2;
      counters_.Write(number, edges_);
      team_.Sync();
      UpdateStates(round, mine);
      const int64_t left = counters_.Read(number);
      team_.Sync();
      if (left == 0) return;
    }
  }

  // Marks boxes that are suppressed by a kept box, or blocked by an undecided one; keeps the edges
  // of the latter.
  __mlu_func__ void FollowEdges(int32_t round, int64_t total) {
    Nram nram = nram_;
    int32_t* const ahead = nram.Array<int32_t>(kPiece);
    int32_t* const behind = nram.Array<int32_t>(kPiece);
    int32_t* const state = nram.Array<int32_t>(kPiece);
    int32_t* const mask = nram.Array<int32_t>(kPiece);
    int32_t* const list = nram.Array<int32_t>(kPiece);
    int32_t* const mark = nram.Array<int32_t>(kPiece);
    int32_t* const offsets = nram.Array<int32_t>(kPiece);
    int32_t* const scratch = nram.Array<int32_t>(kPiece);
    int64_t left = 0;
    for (int64_t begin = 0; begin < edges_; begin += kPiece) {
      int count = Least(edges_ - begin, kPiece);
      __memcpy(ahead, b_.edges.ahead + begin, count * sizeof(int32_t), GDRAM2NRAM);
      __memcpy(behind, b_.edges.behind + begin, count * sizeof(int32_t), GDRAM2NRAM);
      if (round > 1) {
        GatherRows(state, b_.state, ahead, count, total, offsets, scratch);
        __bang_eq_scalar(mask, state, int32_t{kKept}, count);
        const int hits = __bang_filter(list, behind, mask, count);
        if (hits > 0) {
          __bang_write_value(mark, hits, int32_t{1});
          ScatterRows(b_.suppressed, mark, list, hits, total, offsets, scratch);
        }
        __bang_eq_scalar(mask, state, int32_t{kUndecided}, count);
        __bang_filter(ahead, ahead, mask, count);
        count = __bang_filter(behind, behind, mask, count);
        if (count == 0) continue;
        // Boxes that are decided need no edges.
        GatherRows(state, b_.state, behind, count, total, offsets, scratch);
        __bang_eq_scalar(mask, state, int32_t{kUndecided}, count);
        __bang_filter(ahead, ahead, mask, count);
        count = __bang_filter(behind, behind, mask, count);
        if (count == 0) continue;
        __memcpy(b_.edges.ahead + left, ahead, count * sizeof(int32_t), NRAM2GDRAM);
        __memcpy(b_.edges.behind + left, behind, count * sizeof(int32_t), NRAM2GDRAM);
      }
      __bang_write_value(mark, count, round);
      ScatterRows(b_.blocked, mark, behind, count, total, offsets, scratch);
      left += count;
    }
    edges_ = left;
  }

  __mlu_func__ void UpdateStates(int32_t round, const Share& range) const {
    Nram nram = nram_;
    int32_t* const state = nram.Array<int32_t>(kPiece);
    int32_t* const suppressed = nram.Array<int32_t>(kPiece);
    int32_t* const blocked = nram.Array<int32_t>(kPiece);
    int32_t* const undecided = nram.Array<int32_t>(kPiece);
    for (int64_t begin = range.begin; begin < range.end; begin += kPiece) {
      const int count = Least(range.end - begin, kPiece);
      __memcpy(state, b_.state + begin, count * sizeof(int32_t), GDRAM2NRAM);
      __memcpy(suppressed, b_.suppressed + begin, count * sizeof(int32_t), GDRAM2NRAM);
      __memcpy(blocked, b_.blocked + begin, count * sizeof(int32_t), GDRAM2NRAM);
      __bang_eq_scalar(undecided, state, int32_t{kUndecided}, count);
      __bang_and(suppressed, suppressed, undecided, count);
      __bang_ne_scalar(blocked, blocked, round, count);
      __bang_and(blocked, blocked, undecided, count);  // those that are not blocked
      // kKept is 1, and kSuppressed one more.
      __bang_or(blocked, blocked, suppressed, count);
      __bang_add(state, state, blocked, count);
      __bang_add(state, state, suppressed, count);
      __memcpy(b_.state + begin, state, count * sizeof(int32_t), NRAM2GDRAM);
    }
  }

  // Marks the kept boxes of a set by their indices.
  __mlu_func__ void Publish(const BoxSet& set, int64_t count) const {
    Nram nram = nram_;
    int32_t* const state = nram.Array<int32_t>(kPiece);
    int32_t* const index = nram.Array<int32_t>(kPiece);
    int32_t* const offsets = nram.Array<int32_t>(kPiece);
    int32_t* const scratch = nram.Array<int32_t>(kPiece);
    const Share mine(team_, count);
    for (int64_t begin = mine.begin; begin < mine.end; begin += kPiece) {
      const int size = Least(mine.end - begin, kPiece);
      __memcpy(state, b_.state + begin, size * sizeof(int32_t), GDRAM2NRAM);
      __memcpy(index, set.fields + 5 * set.stride + begin, size * sizeof(int32_t), GDRAM2NRAM);
      __bang_eq_scalar(state, state, int32_t{kKept}, size);
      const int kept = __bang_filter(index, index, state, size);
      if (kept == 0) continue;
      __bang_write_value(state, kept, int32_t{1});
      ScatterRows(b_.kept_index, state, index, kept, b_.count, offsets, scratch);
    }
  }

  // The states of the rest, of which the kept boxes suppress some.
  __mlu_func__ void DropSuppressed(int64_t count, int64_t kept) {
    const Share mine(team_, count);
    Fill(b_.state, mine, kUndecided);
    SearchCursor cursor = {mine.begin, 0, 0, 0};
    for (bool end = mine.size() == 0; !end;) {
      int64_t pairs = 0;
      {
        OverlapSearch<false> search(nram_, b_.rest, mine, b_.state, b_.kept, kept,
                                    BoxSet::kSmallTile, b_.pairs);
        end = search.Run(cursor, Judge::kBatch);
        pairs = search.found();
      }
      JudgePairs(pairs, [&](int32_t* const* list, int number) {
        __bang_write_value(list[0], number, int32_t{kSuppressed});
        ScatterRows(b_.state, list[0], list[1], number, count, list[2], list[3]);
      });
    }
  }

  const Team team_;
  NmsBuffers b_;
  const typename Judge::Parameters parameters_;
  Counters counters_;
  const Nram nram_;
  int64_t edges_ = 0;
};

}  // namespace detops::mlu
