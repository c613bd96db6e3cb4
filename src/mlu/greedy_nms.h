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
#include "mlu/decide_boxes.h"
#include "mlu/overlap_search.h"
#include "mlu/rows.h"

namespace detops::mlu {

// Judge: made from NRAM and a `const Judge::Parameters&`;
//   kBatch     pairs that it takes at once
//   void Judge(int attempt, const int32_t* ahead, const int32_t* behind, int count)
//              whether the first of each pair of boxes, given by their indices in NRAM, suppresses
//              the second; Judge::Attempts in turn are asked about what the one before left open
//   Suppressed(), Doubtful()          lists of pairs by their numbers, in NRAM
//   bool Measure(int32_t ahead, int32_t behind)   the same for one pair that they all left open
template <class Judge>
class GreedyNms {
 public:
  __mlu_func__ GreedyNms(const Team& team, const NmsBuffers& buffers,
                         const typename Judge::Parameters& parameters, Nram nram)
      : team_(team),
        b_(buffers),
        pairs_(buffers.pairs.OfCore(team.core)),
        edge_lists_(buffers.edges.OfCore(team.core)),
        parameters_(parameters),
        counters_(team, buffers.counters, nram),  // takes its part of the NRAM
        nram_(nram) {}

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
      const int32_t* const state = DecideBoxes(first);
      Publish(chunk, state, first);
      if (first == count) return;
      const int64_t kept = SelectBoxes(team_, chunk, first, Selection::OfState(state, kKept),
                                       b_.kept, BoxSet::kSmallTile, counters_, 0, nram_);
      DropSuppressed(count - first, kept);
      count =
          SelectBoxes(team_, b_.rest, count - first, Selection::OfState(b_.state[0], kUndecided),
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

  // Judges pairs of the core's lists, from `begin` to `end`: sink(list, count) gets the positions
  // of those of which the first suppresses the second, in list[0] and list[1]; list[2] and list[3]
  // are scratch. What is doubtful moves to the front of the part, in the same order. Returns how
  // many.
  template <class Sink>
  __mlu_func__ int64_t JudgePairs(int attempt, int64_t begin, int64_t end, const Sink& sink) {
    Nram nram = nram_;
    constexpr int kBatch = Judge::kBatch;
    int32_t *list[4], *packed[4];
    for (int32_t*& part : list) part = nram.Array<int32_t>(kBatch);
    for (int32_t*& part : packed) part = nram.Array<int32_t>(kBatch);
    Judge judge(nram, parameters_);
    int32_t* const from[4] = {pairs_.ahead, pairs_.behind, pairs_.ahead_index, pairs_.behind_index};
    int64_t doubtful = 0;
    for (int64_t at = begin; at < end; at += kBatch) {
      const int count = Least(end - at, kBatch);
      __sync_compute();  // a search, or the batch before, may be reading what lies here
      for (int i = 0; i < 4; ++i) {
        __memcpy_async(list[i], from[i] + at, count * sizeof(int32_t), GDRAM2NRAM);
      }
      __sync_io();
      judge.Judge(attempt, list[2], list[3], count);
      const auto& open = judge.Doubtful();
      for (int i = 0; i < 4 && open.count > 0; ++i) {
        __bang_lut_s32(packed[i], open.numbers, list[i], open.count, count);
        __memcpy(from[i] + begin + doubtful, packed[i], open.count * sizeof(int32_t), NRAM2GDRAM);
      }
      doubtful += open.count;
      const auto& found = judge.Suppressed();
      if (found.count == 0) continue;
      for (int i = 0; i < 2; ++i) {
        __bang_lut_s32(packed[i], found.numbers, list[i], found.count, count);
      }
      sink(packed, found.count);
    }
    return doubtful;
  }

  // Finds pairs whose bounds overlap and judges them; `sink` as above. `room()` tells whether the
  // sink wants more. Returns how many are doubtful still: they are in the core's lists.
  template <bool kOrdered, class Room, class Sink>
  __mlu_func__ int64_t JudgeOverlaps(const BoxSet& queries, int64_t count, const int32_t* state,
                                     const BoxSet& candidates, int64_t candidate_count, int tile,
                                     int64_t enough, const Room& room, const Sink& sink) {
    const Share mine(team_, count);
    SearchCursor cursor = {mine.begin, 0, 0, 0};
    int64_t doubtful = 0;
    for (bool end = mine.size() == 0; !end && room();) {
      int64_t pairs = 0;
      {
        OverlapSearch<kOrdered> search(nram_, queries, mine, state, candidates, candidate_count,
                                       tile, pairs_.From(doubtful));
        end = search.Run(cursor, enough);
        pairs = search.found();
      }
      doubtful += JudgePairs(0, doubtful, doubtful + pairs, sink);
      if (pairs_.capacity - doubtful < OverlapSearch<kOrdered>::kMostAtOnce) {
        // Too many to wait for the other cores.
        doubtful = MakeAttempts(doubtful, sink);
        MeasureSome(pairs_, 0, doubtful, nram_);
        ReadVerdicts(doubtful, sink);
        doubtful = 0;
      }
    }
    return room() ? MakeAttempts(doubtful, sink) : 0;
  }
  template <class Sink>
  __mlu_func__ int64_t MakeAttempts(int64_t doubtful, const Sink& sink) {
    for (int i = 1; i < Judge::kAttempts && doubtful > 0; ++i) {
      doubtful = JudgePairs(i, 0, doubtful, sink);
    }
    return doubtful;
  }

  // Measures pairs of a core's lists; verdicts take the place of the first indices.
  __mlu_func__ void MeasureSome(const PairLists& pairs, int64_t begin, int64_t end,
                                Nram nram) const {
    int32_t* const pair = nram.Array<int32_t>(2);
    Judge judge(nram, parameters_);
    for (int64_t i = begin; i < end; ++i) {
      __memcpy(pair, pairs.ahead_index + i, sizeof(int32_t), GDRAM2NRAM);
      __memcpy(pair + 1, pairs.behind_index + i, sizeof(int32_t), GDRAM2NRAM);
      pair[0] = judge.Measure(pair[0], pair[1]) ? 1 : 0;
      __memcpy(pairs.ahead_index + i, pair, sizeof(int32_t), NRAM2GDRAM);
    }
  }
  template <class Sink>
  __mlu_func__ void ReadVerdicts(int64_t count, const Sink& sink) {
    Nram nram = nram_;
    constexpr int kBatch = Judge::kBatch;
    int32_t* list[4];
    for (int32_t*& part : list) part = nram.Array<int32_t>(kBatch);
    for (int64_t begin = 0; begin < count; begin += kBatch) {
      const int size = Least(count - begin, kBatch);
      __memcpy(list[0], pairs_.ahead + begin, size * sizeof(int32_t), GDRAM2NRAM);
      __memcpy(list[1], pairs_.behind + begin, size * sizeof(int32_t), GDRAM2NRAM);
      __memcpy(list[2], pairs_.ahead_index + begin, size * sizeof(int32_t), GDRAM2NRAM);
      __bang_filter(list[0], list[0], list[2], size);
      const int found = __bang_filter(list[1], list[1], list[2], size);
      if (found > 0) sink(list, found);
    }
  }

  // Measures what is doubtful, with all cores: each has its lists, of which `doubtful` pairs are
  // left. There are two barriers in it.
  template <class Sink>
  __mlu_func__ void MeasureTogether(int64_t doubtful, const Sink& sink) {
    counters_.Write(8, doubtful);
    team_.Sync();
    const int64_t all = counters_.Read(8);
    if (all > 0) {
      const Share mine(team_, all);
      int64_t begin = 0;
      for (int core = 0; core < team_.cores; ++core) {
        const int64_t end = begin + counters_.OfCore(core);
        const int64_t from = mine.begin > begin ? mine.begin : begin;
        const int64_t to = mine.end < end ? mine.end : end;
        if (from < to) {
          MeasureSome(b_.pairs.OfCore(core), from - begin, to - begin, nram_);
        }
        begin = end;
      }
      team_.Sync();
      ReadVerdicts(doubtful, sink);
    }
  }

  // The edges among the boxes of a set, each with the core that has its second box. Returns whether
  // there was room for all.
  __mlu_func__ bool FindEdges(const BoxSet& set, int64_t count) {
    edges_ = 0;
    bool has_room = true;
    const auto room = [&] { return has_room; };
    const auto sink = [&](int32_t* const* list, int number) {
      has_room = has_room && edges_ + number <= edge_lists_.capacity;
      if (!has_room) return;
      __memcpy(edge_lists_.ahead + edges_, list[0], number * sizeof(int32_t), NRAM2GDRAM);
      __memcpy(edge_lists_.behind + edges_, list[1], number * sizeof(int32_t), NRAM2GDRAM);
      edges_ += number;
    };
    const int64_t doubtful = JudgeOverlaps<true>(set, count, nullptr, set, count, BoxSet::kTile,
                                                 pairs_.capacity, room, sink);
    MeasureTogether(doubtful, sink);
    counters_.Write(5, has_room ? 0 : 1);
    team_.Sync();
    return counters_.Read(5) == 0;
  }

  __mlu_func__ const int32_t* DecideBoxes(int64_t count) {
    NmsBuffers own = b_;
    own.edges = edge_lists_;
    return BoxDecisions(team_, own, counters_, 6, nram_).Run(count, edges_);
  }

  // Marks the kept boxes of a set by their indices.
  __mlu_func__ void Publish(const BoxSet& set, const int32_t* states, int64_t count) const {
    Nram nram = nram_;
    int32_t* const state = nram.Array<int32_t>(kPiece);
    int32_t* const index = nram.Array<int32_t>(kPiece);
    int32_t* const offsets = nram.Array<int32_t>(kPiece);
    int32_t* const scratch = nram.Array<int32_t>(kPiece);
    const Share mine(team_, count);
    for (int64_t begin = mine.begin; begin < mine.end; begin += kPiece) {
      const int size = Least(mine.end - begin, kPiece);
      __memcpy(state, states + begin, size * sizeof(int32_t), GDRAM2NRAM);
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
    int32_t* const state = b_.state[0];
    Fill(state, Share(team_, count), kUndecided);
    const auto room = [] { return true; };
    const auto sink = [&](int32_t* const* list, int number) {
      __bang_write_value(list[0], number, int32_t{kSuppressed});
      ScatterRows(state, list[0], list[1], number, count, list[2], list[3]);
    };
    const int64_t doubtful = JudgeOverlaps<false>(b_.rest, count, state, b_.kept, kept,
                                                  BoxSet::kSmallTile, Judge::kBatch, room, sink);
    MeasureTogether(doubtful, sink);
  }

  const Team team_;
  const NmsBuffers b_;
  const PairLists pairs_;       // this core's
  const EdgeLists edge_lists_;  // and its edges
  const typename Judge::Parameters parameters_;
  Counters counters_;
  const Nram nram_;
  int64_t edges_ = 0;
};

}  // namespace detops::mlu
