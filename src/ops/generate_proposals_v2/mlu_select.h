// SPDX-License-Identifier: Apache-2.0
//
// Candidates of an image, batch by batch in the order of scores: each batch is all scores of some
// range of ranks, in the order of their indices. A sample of the scores tells a range that has
// about as many as are wanted; one pass over the scores collects and counts them, and where the
// sample misled, further passes narrow the range down. For kernels only.
//
// A rank here is math::ScoreRank as a signed number: the lower, the better. Every NaN has kNanRank.
// Scores are compared as floats: rank(score) <= r where score >= ScoreOf(r), or it is NaN.
#pragma once

#include "math/score_order.h"
#include "ops/generate_proposals_v2/mlu_team.h"

namespace detops::ops {

constexpr int32_t kNanRank = -0x7f800002;
constexpr int32_t kLastRank = 0x7f800000;  // of -inf

__mlu_func__ float ScoreOf(int64_t rank) {
  return math::ScoreOfRank(static_cast<uint32_t>(rank) ^ 0x80000000u);
}

// Ranks of scores; the two may be the same memory. `scratch` is an array of `count`.
__mlu_func__ void RanksOf(int32_t* ranks, const float* scores, int count, int32_t* scratch) {
  // ~bits of what is not negative, bits ^ 0x80000000 of the rest.
  __bang_add_scalar(reinterpret_cast<float*>(ranks), scores, 0.0f, count);  // -0 becomes 0
  __bang_lt_scalar(scratch, ranks, int32_t{0}, count);
  __bang_mul_scalar(scratch, scratch, int32_t{0x7fffffff}, count);
  __bang_bxor(ranks, ranks, scratch, count);
  __bang_bnot(ranks, ranks, count);
  // NaN now is at both ends.
  __bang_gt_scalar(scratch, ranks, kLastRank, count);
  __bang_mul_scalar(scratch, scratch, int32_t{-1}, count);
  __bang_bxor(ranks, ranks, scratch, count);
  __bang_maxequal_scalar(ranks, ranks, kNanRank, count);
}

// The other way round, but for the sign of zeros and the payload of NaN.
__mlu_func__ void ScoresOf(float* scores, const int32_t* ranks, int count) {
  int32_t* const bits = reinterpret_cast<int32_t*>(scores);
  __bang_lt_scalar(bits, ranks, int32_t{0}, count);
  __bang_mul_scalar(bits, bits, int32_t{0x7fffffff}, count);
  __bang_bxor_scalar(bits, bits, static_cast<int32_t>(0x80000000u), count);
  __bang_bxor(bits, bits, ranks, count);
}

template <class ImageTeam>
class Selector {
 public:
  static constexpr int kTile = 8192;  // scores in NRAM at a time, twice

  __mlu_func__ Selector(const Call& call, ImageTeam& team)
      : team_(team),
        anchors_(call.anchors),
        scores_(call.scores + team.image * call.anchors),
        share_(team.team, call.anchors, 64) {}

  // How many have been selected.
  __mlu_func__ int64_t taken() const { return taken_; }

  // About `want` of the next candidates, at least one and at most kBatch, to shared.ranks and
  // .indices, complete after the next barrier. There must be as many left.
  __mlu_func__ int Next(int64_t want, mlu::Nram nram) {
    Buffers b(nram);
    if (ties_ > 0) return TakeTies(b);
    const int64_t left = anchors_ - taken_;
    if (left <= Call::kBatch && left <= 2 * want) {
      Collect(b, kLastRank);
      return Hand(b, kLastRank, Total(b));
    }
    if (sample_size_ == 0) MakeSample(b);
    team_.Load(b.sample, team_.shared.sample, Call::kSample);
    if (sample_size_ == 0) {
      __bang_le_scalar(b.sample_mask, b.sample, kLastRank, Call::kSample);
      sample_size_ = static_cast<int>(__bang_count(b.sample_mask, Call::kSample));
    }
    // Up to rank `low` there are too few, `found` of them; up to `high` there may be too many.
    int64_t low = next_ - 1, high = kLastRank, found = 0;
    int64_t aim = (taken_ + want) * sample_size_ / anchors_;
    for (int attempt = 0;; ++attempt) {
      int64_t rank = attempt < 3 ? RankInSample(b, aim < 1 ? 1 : aim) : high;
      if (rank > high) rank = high;
      if (rank <= low || attempt >= 3) rank = low + (high - low + 1) / 2;
      if (rank < kNanRank) rank = kNanRank;
      Collect(b, rank);
      const int64_t count = Total(b);
      if (count > Call::kBatch) {
        high = rank - 1;
        aim = aim * want / count;
      } else if (count * 2 < want && rank < high) {
        low = rank;
        found = count;
        aim = aim * (count == 0 || want > 4 * count ? 4 : 2);
      } else if (count > 0) {
        return Hand(b, rank, count);
      } else {
        low = high;
      }
      if (low < high) continue;
      // One rank more would be too many.
      if (found > 0) {
        Collect(b, low);
        return Hand(b, low, Total(b));
      }
      next_ = low + 1;
      return TakeTies(b);
    }
  }

 private:
  struct Buffers {
    float *scores, *mask, *order;  // order: 0, 1, 2, …
    float* collected;              // scores, [kBatch + kTile]
    int32_t* indices;              // the same, or scratch
    int64_t* counts;
    int32_t *sample, *sample_mask;

    __mlu_func__ explicit Buffers(mlu::Nram nram) {
      scores = nram.Array<float>(2 * kTile);
      mask = nram.Array<float>(kTile);
      order = nram.Array<float>(kTile);
      collected = nram.Array<float>(Call::kBatch + kTile);
      indices = nram.Array<int32_t>(Call::kBatch + kTile);
      counts = nram.Array<int64_t>(Call::kMostCores);
      sample = nram.Array<int32_t>(Call::kSample);
      sample_mask = nram.Array<int32_t>(Call::kSample);
      __bang_incseq(reinterpret_cast<int32_t*>(order), kTile);
    }
  };

  __mlu_func__ int TileSize(int64_t begin) const {
    return static_cast<int>(share_.end - begin < kTile ? share_.end - begin : kTile);
  }

  __mlu_func__ void Load(Buffers& b, int64_t begin, int which) const {
    __memcpy_async(b.scores + which * kTile, scores_ + begin, TileSize(begin) * sizeof(float),
                   GDRAM2NRAM);
  }

  // Calls use(scores, count, first index) for each tile of this core's share, while the next is
  // being loaded.
  template <class Use>
  __mlu_func__ void ForTiles(Buffers& b, const Use& use) const {
    int which = 0;
    if (share_.begin < share_.end) Load(b, share_.begin, which);
    for (int64_t begin = share_.begin; begin < share_.end; begin += kTile) {
      __sync();
      if (begin + kTile < share_.end) Load(b, begin + kTile, 1 - which);
      use(b.scores + which * kTile, TileSize(begin), begin);
      which = 1 - which;
    }
  }

  // Of this core's share, those of ranks next_ to `rank`. Where they are more than a batch, only
  // their number.
  __mlu_func__ void Collect(Buffers& b, int64_t rank) {
    mine_ = 0;
    ForTiles(b, [&](const float* scores, int count, int64_t first) {
      if (rank == kNanRank) {
        __bang_eq(b.mask, scores, scores, count);
      } else {
        __bang_lt_scalar(b.mask, scores, ScoreOf(rank), count);
      }
      __bang_not(b.mask, b.mask, count);
      if (next_ > kNanRank) {
        float* const scratch = reinterpret_cast<float*>(b.indices + Call::kBatch);
        float* const behind = mine_ <= Call::kBatch ? b.collected + mine_ : scratch;
        __bang_le_scalar(behind, scores, ScoreOf(next_), count);
        __bang_and(b.mask, b.mask, behind, count);
      }
      Append(b, scores, count, first);
    });
  }

  __mlu_func__ void Append(Buffers& b, const float* scores, int count, int64_t first) {
    if (mine_ > Call::kBatch) {
      mine_ += __bang_count(b.mask, count);
      return;
    }
    const int added = static_cast<int>(__bang_filter(b.collected + mine_, scores, b.mask, count));
    if (added == 0) return;
    __bang_filter(b.indices + mine_, reinterpret_cast<int32_t*>(b.order),
                  reinterpret_cast<int32_t*>(b.mask), count);
    __bang_add_scalar(b.indices + mine_, b.indices + mine_, static_cast<int32_t>(first), added);
    mine_ += added;
  }

  // Of all cores.
  __mlu_func__ int64_t Total(Buffers& b) { return team_.Exchange(mine_, b.counts); }

  // Writes what this core has collected behind what the cores before it have.
  __mlu_func__ int Hand(Buffers& b, int64_t rank, int64_t total) {
    int64_t before = 0;
    for (int i = 0; i < team_.team.core; ++i) before += b.counts[i];
    Write(b, 0, mine_, before);
    next_ = rank + 1;
    taken_ += total;
    return static_cast<int>(total);
  }

  __mlu_func__ void Write(Buffers& b, int64_t from, int64_t count, int64_t to) {
    if (count == 0) return;
    int32_t* const ranks = reinterpret_cast<int32_t*>(b.collected + from);
    RanksOf(ranks, b.collected + from, static_cast<int>(count),
            reinterpret_cast<int32_t*>(b.scores));
    team_.Store(team_.shared.ranks + to, ranks, count);
    team_.Store(team_.shared.indices + to, b.indices + from, count);
  }

  // Where more scores are equal than a batch holds: the next ones of rank next_, by their indices.
  __mlu_func__ int TakeTies(Buffers& b) {
    const auto equal = [&](const float* scores, int count) {
      if (next_ == kNanRank) {
        __bang_eq(b.mask, scores, scores, count);
        __bang_not(b.mask, b.mask, count);
      } else {
        __bang_eq_scalar(b.mask, scores, ScoreOf(next_), count);
      }
    };
    int64_t mine = 0;
    ForTiles(b, [&](const float* scores, int count, int64_t) {
      equal(scores, count);
      mine += __bang_count(b.mask, count);
    });
    const int64_t all = team_.Exchange(mine, b.counts);
    const int64_t total = all - ties_ < Call::kBatch ? all - ties_ : Call::kBatch;
    // Those of the batch among the equal ones of all cores, and within them this core's.
    const int64_t begin = ties_, end = ties_ + total;
    int64_t at = 0;
    for (int i = 0; i < team_.team.core; ++i) at += b.counts[i];
    ForTiles(b, [&](const float* scores, int count, int64_t first) {
      equal(scores, count);
      mine_ = 0;
      Append(b, scores, count, first);
      const int64_t from = at < begin ? (begin - at < mine_ ? begin - at : mine_) : 0;
      const int64_t to = end <= at ? 0 : end - at < mine_ ? end - at : mine_;
      if (from < to) Write(b, from, to - from, at + from - begin);
      at += mine_;
    });
    ties_ += total;
    if (ties_ == all) {
      ties_ = 0;
      ++next_;
    }
    taken_ += total;
    return static_cast<int>(total);
  }

  // kSample scores from all over the image.
  __mlu_func__ void MakeSample(Buffers& b) {
    const int most = Call::kSample / team_.team.cores;
    const int64_t per_core = (anchors_ + team_.team.cores - 1) / team_.team.cores + 128;
    const int64_t step = (per_core + most - 1) / most;
    const int count = static_cast<int>((share_.size() + step - 1) / step);
    __bang_write_value(b.sample, most, int32_t{0x7fffffff});
    if (count > 0) {
      float* const scores = b.scores;
      if (step == 1) {
        __memcpy(scores, scores_ + share_.begin, count * sizeof(float), GDRAM2NRAM);
      } else {
        __memcpy(scores, scores_ + share_.begin, sizeof(float), GDRAM2NRAM, sizeof(float),
                 step * sizeof(float), count - 1);
      }
      RanksOf(b.sample, scores, count, b.sample_mask);
    }
    team_.Store(team_.shared.sample + team_.team.core * most, b.sample, most);
    team_.Sync();
  }

  // The lowest rank up to which the sample has `aim` scores; a higher one after too many steps.
  __mlu_func__ int64_t RankInSample(Buffers& b, int64_t aim) const {
    if (aim >= sample_size_) return kLastRank;
    int64_t low = kNanRank, high = kLastRank;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      __bang_le_scalar(b.sample_mask, b.sample, static_cast<int32_t>(middle), Call::kSample);
      const int64_t count = __bang_count(b.sample_mask, Call::kSample);
      if (count == aim) return middle;
      if (count > aim) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return high;
  }

  ImageTeam& team_;
  int64_t anchors_;
  const float* scores_;
  mlu::Share share_;
  // Selected are all of ranks below next_ and the first ties_ of that rank.
  int64_t next_ = kNanRank, ties_ = 0, taken_ = 0;
  int64_t mine_ = 0;  // what this core has collected
  int sample_size_ = 0;
};

}  // namespace detops::ops
