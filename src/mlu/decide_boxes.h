// SPDX-License-Identifier: Apache-2.0
//
// What becomes of boxes, given which suppresses which. For kernels only.
//
// In rounds: a box with an edge from a kept box is suppressed; one without an edge from an
// undecided box is kept. Most boxes are decided in the first rounds. Each core has a part of the
// boxes and the edges that lead to them; it reads the states of the round before, and writes its
// own.
#pragma once

#include "mlu/box_sets.h"
#include "mlu/rows.h"

namespace detops::mlu {

// What becomes of a box.
enum BoxState : int32_t { kUndecided, kKept, kSuppressed };

class BoxDecisions {
 public:
  // Counters `number` and `number` + 1 are used.
  __mlu_func__ BoxDecisions(const Team& team, const NmsBuffers& buffers, Counters& counters,
                            int number, Nram nram)
      : team_(team), b_(buffers), counters_(counters), number_(number), nram_(nram) {}

  // Decides `count` boxes by this core's edges, which are in its list. Returns their states; there
  // is a barrier at the end.
  __mlu_func__ const int32_t* Run(int64_t count, int64_t edges) {
    edges_ = edges;
    count_ = count;
    const Share mine(team_, count);
    begin_ = mine.begin;
    end_ = mine.end;
    local_ = mine.size() <= kLocalBoxes && edges <= kLocalEdges;
    if (local_) {
      LoadAll();
    } else {
      Clear(b_.suppressed);
      Clear(b_.blocked);
    }
    for (int32_t round = 1;; ++round) {
      const int32_t* const before = b_.state[(round - 1) % 2];
      int32_t* const after = b_.state[round % 2];
      if (local_) {
        FollowEdgesLocally(round, before);
        if (end_ > begin_) {
          __memcpy(after + begin_, state_, (end_ - begin_) * sizeof(int32_t), NRAM2GDRAM);
        }
      } else {
        FollowEdges(round, before);
        UpdateStates(round, before, after);
      }
      counters_.Write(number_ + round % 2, edges_);
      team_.Sync();
      if (counters_.Read(number_ + round % 2) == 0) return after;
    }
  }

 private:
  static constexpr int kLocalBoxes = 8192, kLocalEdges = 8192;  // that fit into NRAM
  static constexpr int kPiece = 2048;
  static constexpr int kChainsFrom = 4;  // the round in which few boxes are left

  static __mlu_func__ int Least(int64_t a, int64_t b) { return static_cast<int>(a < b ? a : b); }

  // ---- all in NRAM ------------------------------------------------------------------------------

  __mlu_func__ void LoadAll() {
    Nram nram = nram_;
    ahead_ = nram.Array<int32_t>(kLocalEdges);
    behind_ = nram.Array<int32_t>(kLocalEdges);
    seen_ = nram.Array<int32_t>(kLocalEdges);
    mask_ = nram.Array<int32_t>(kLocalEdges);
    list_ = nram.Array<int32_t>(kLocalEdges);
    scratch_ = nram.Array<int32_t>(kLocalEdges);
    state_ = nram.Array<int32_t>(kLocalBoxes);
    blocked_ = nram.Array<int32_t>(kLocalBoxes);
    head_ = nram.Array<int32_t>(kLocalBoxes);
    stack_ = nram.Array<int32_t>(kLocalBoxes);
    if (end_ > begin_) __bang_write_zero(state_, static_cast<int>(end_ - begin_));
    if (edges_ == 0) return;
    const int size = edges_ * sizeof(int32_t);
    __memcpy_async(ahead_, b_.edges.ahead, size, GDRAM2NRAM);
    __memcpy_async(behind_, b_.edges.behind, size, GDRAM2NRAM);
    __sync_io();
    __bang_sub_scalar(behind_, behind_, static_cast<int32_t>(begin_), edges_);
  }

  __mlu_func__ void FollowEdgesLocally(int32_t round, const int32_t* before) {
    const int boxes = static_cast<int>(end_ - begin_);
    if (boxes == 0) return;
    if (round > kChainsFrom) return ContinueChains(before, boxes);
    int edges = static_cast<int>(edges_);
    if (round > 1 && edges > 0) {
      GatherRows(seen_, before, ahead_, edges, count_, list_, mask_);
      __bang_eq_scalar(mask_, seen_, int32_t{kKept}, edges);
      const int hits = __bang_filter(list_, behind_, mask_, edges);
      __sync_compute();
      for (int i = 0; i < hits; ++i) state_[list_[i]] = kSuppressed;
      // Edges stay that lead from undecided boxes to undecided ones.
      __bang_lut_s32(list_, behind_, state_, edges, boxes);
      __bang_or(list_, list_, seen_, edges);
      __bang_not(mask_, list_, edges);
      __bang_collect(ahead_, ahead_, mask_, edges);
      edges = __bang_filter(behind_, behind_, mask_, edges);
    }
    __bang_write_zero(blocked_, boxes);
    __sync_compute();
    for (int i = 0; i < edges; ++i) blocked_[behind_[i]] += 1;
    KeepUnblocked(boxes);
    if (round == kChainsFrom && edges > 0) edges = StartChains(edges, boxes);
    edges_ = edges;
  }

  // Undecided boxes without an edge are kept.
  __mlu_func__ void KeepUnblocked(int boxes) {
    int32_t* const done = reinterpret_cast<int32_t*>(scratch_);
    __bang_or(done, state_, blocked_, boxes);
    __bang_not(done, done, boxes);
    __bang_add(state_, state_, done, boxes);
  }

  // Long chains of boxes that wait for each other take a round per box, unless most of a chain lies
  // within a core. Then edges between own boxes are followed as soon as the first is decided, in
  // scalar code: each once. They leave the list, where those from other cores' boxes stay. Returns
  // how many of these are left.
  __mlu_func__ int StartChains(int edges, int boxes) {
    int32_t* const from = seen_;
    __bang_sub_scalar(from, ahead_, static_cast<int32_t>(begin_), edges);
    __bang_ge_scalar(mask_, from, int32_t{0}, edges);
    __bang_lt_scalar(list_, from, static_cast<int32_t>(boxes), edges);
    __bang_and(mask_, mask_, list_, edges);
    const int own = __bang_filter(list_, from, mask_, edges);
    __bang_collect(scratch_, behind_, mask_, edges);
    __bang_not(mask_, mask_, edges);
    __bang_collect(ahead_, ahead_, mask_, edges);
    const int others = __bang_filter(behind_, behind_, mask_, edges);
    __bang_write_value(head_, boxes, int32_t{-1});
    next_ = ahead_ + others;
    to_ = behind_ + others;
    waiting_ = 0;
    if (own > 0) {
      __bang_move(next_, list_, own * sizeof(int32_t));
      __bang_move(to_, scratch_, own * sizeof(int32_t));
      __bang_lut_s32(seen_, list_, state_, own, boxes);
      __sync_compute();
      for (int i = 0; i < own; ++i) {
        if (seen_[i] != kUndecided) continue;
        const int32_t box = next_[i];
        next_[i] = head_[box];
        head_[box] = i;
      }
      for (int i = 0; i < own; ++i) {
        if (seen_[i] != kUndecided) Follow(seen_[i], to_[i]);
      }
      FollowChains();
    }
    return DropDecided(others, boxes);
  }

  __mlu_func__ void ContinueChains(const int32_t* before, int boxes) {
    int edges = static_cast<int>(edges_);
    if (edges == 0) return;
    GatherRows(seen_, before, ahead_, edges, count_, list_, mask_);
    const int news = __bang_filter(list_, behind_, seen_, edges);
    __bang_collect(scratch_, seen_, seen_, edges);
    __bang_not(mask_, seen_, edges);
    __bang_collect(ahead_, ahead_, mask_, edges);
    edges = __bang_filter(behind_, behind_, mask_, edges);
    __sync_compute();
    for (int i = 0; i < news; ++i) Follow(scratch_[i], list_[i]);
    FollowChains();
    edges_ = DropDecided(edges, boxes);
  }

  // An edge from a box of this state.
  __mlu_func__ void Follow(int32_t state, int32_t to) {
    if (state_[to] != kUndecided) return;
    if (state == kKept) {
      state_[to] = kSuppressed;
    } else if (--blocked_[to] == 0) {
      state_[to] = kKept;
    } else {
      return;
    }
    stack_[waiting_++] = to;
  }
  __mlu_func__ void FollowChains() {
    while (waiting_ > 0) {
      const int32_t box = stack_[--waiting_];
      const int32_t state = state_[box];
      for (int32_t i = head_[box]; i >= 0; i = next_[i]) Follow(state, to_[i]);
    }
  }

  // Of the first edges of the list, those to undecided boxes stay. Returns how many.
  __mlu_func__ int DropDecided(int edges, int boxes) {
    if (edges == 0) return 0;
    __bang_lut_s32(list_, behind_, state_, edges, boxes);
    __bang_not(mask_, list_, edges);
    __bang_collect(ahead_, ahead_, mask_, edges);
    return __bang_filter(behind_, behind_, mask_, edges);
  }

  // ---- from GDRAM, piece by piece ---------------------------------------------------------------

  __mlu_func__ void Clear(int32_t* array) const {
    Nram nram = nram_;
    int32_t* const zeros = nram.Array<int32_t>(kPiece);
    __bang_write_zero(zeros, kPiece);
    for (int64_t i = begin_; i < end_; i += kPiece) {
      __memcpy(array + i, zeros, Least(end_ - i, kPiece) * sizeof(int32_t), NRAM2GDRAM);
    }
  }

  // Marks boxes that are suppressed by a kept box, or blocked by an undecided one; keeps the edges
  // of the latter.
  __mlu_func__ void FollowEdges(int32_t round, const int32_t* before) {
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
        GatherRows(state, before, ahead, count, count_, offsets, scratch);
        __bang_eq_scalar(mask, state, int32_t{kKept}, count);
        const int hits = __bang_filter(list, behind, mask, count);
        if (hits > 0) {
          __bang_write_value(mark, hits, int32_t{1});
          ScatterRows(b_.suppressed, mark, list, hits, count_, offsets, scratch);
        }
        // Edges stay that lead from undecided boxes to undecided ones.
        GatherRows(list, before, behind, count, count_, offsets, scratch);
        __bang_or(list, list, state, count);
        __bang_not(mask, list, count);
        __bang_filter(ahead, ahead, mask, count);
        count = __bang_filter(behind, behind, mask, count);
        if (count == 0) continue;
        __memcpy(b_.edges.ahead + left, ahead, count * sizeof(int32_t), NRAM2GDRAM);
        __memcpy(b_.edges.behind + left, behind, count * sizeof(int32_t), NRAM2GDRAM);
      }
      __bang_write_value(mark, count, round);
      ScatterRows(b_.blocked, mark, behind, count, count_, offsets, scratch);
      left += count;
    }
    edges_ = left;
  }

  __mlu_func__ void UpdateStates(int32_t round, const int32_t* before, int32_t* after) const {
    Nram nram = nram_;
    int32_t* const state = nram.Array<int32_t>(kPiece);
    int32_t* const suppressed = nram.Array<int32_t>(kPiece);
    int32_t* const blocked = nram.Array<int32_t>(kPiece);
    int32_t* const undecided = nram.Array<int32_t>(kPiece);
    for (int64_t begin = begin_; begin < end_; begin += kPiece) {
      const int count = Least(end_ - begin, kPiece);
      const int size = count * sizeof(int32_t);
      if (round == 1) {
        __bang_write_zero(state, count);
      } else {
        __memcpy(state, before + begin, size, GDRAM2NRAM);
      }
      __memcpy(suppressed, b_.suppressed + begin, size, GDRAM2NRAM);
      __memcpy(blocked, b_.blocked + begin, size, GDRAM2NRAM);
      __bang_not(undecided, state, count);
      __bang_and(suppressed, suppressed, undecided, count);
      __bang_ne_scalar(blocked, blocked, round, count);
      __bang_and(blocked, blocked, undecided, count);  // those that are not blocked
      // kKept is 1, and kSuppressed one more.
      __bang_or(blocked, blocked, suppressed, count);
      __bang_add(state, state, blocked, count);
      __bang_add(state, state, suppressed, count);
      __memcpy(after + begin, state, size, NRAM2GDRAM);
    }
  }

  const Team team_;
  const NmsBuffers b_;
  Counters& counters_;
  const int number_;
  const Nram nram_;

  int64_t count_ = 0, begin_ = 0, end_ = 0, edges_ = 0;
  bool local_ = false;
  // In NRAM. Positions of `behind` count from the core's first box.
  int32_t *ahead_, *behind_, *seen_, *mask_, *list_, *scratch_;  // [edges]
  int32_t *state_, *blocked_;                                    // [boxes]
  // Of edges between own boxes: the first from each box or -1, the next from the same box, and
  // where it leads.
  int32_t *head_, *next_, *to_;
  int32_t* stack_;  // boxes whose edges are to be followed
  int waiting_ = 0;
};

}  // namespace detops::mlu
