// SPDX-License-Identifier: Apache-2.0
//
// A batch of candidates in the order of their scores, each core a part of it: ordered, decoded,
// clipped, and dropped where too small. For kernels only.
#pragma once

#include "mlu/exp.h"
#include "mlu/order.h"
#include "mlu/rows.h"
#include "ops/generate_proposals_v2/mlu_select.h"

namespace detops::ops {

// This core's part of a batch: those between two ranks, or by position where there are few.
struct Part {
  int32_t *ranks, *indices;  // in NRAM, ordered
  int begin, count;          // positions in the batch
};

constexpr int kFew = 256;  // candidates that each core orders by itself

// Those of `all.other` in this core's range of ranks to the front of `all`; sets where they begin
// and how many they are.
template <class ImageTeam>
__mlu_func__ void TakePart(mlu::Pairs& all, int count, const ImageTeam& team, Part& result,
                           mlu::Nram nram) {
  // The ranks that bound parts: from a sample.
  const int cores = team.team.cores, core = team.team.core, samples = kFew;
  mlu::Pairs sample(nram, samples, false);
  const int step = count / samples;
  __bang_move(sample.keys, all.other_keys, sizeof(int32_t), sizeof(int32_t), step * sizeof(int32_t),
              samples - 1);
  mlu::OrderRoughly(sample, samples, 10);
  int32_t* const mask = all.ones;
  __bang_write_value(mask, count, int32_t{1});
  if (core > 0) {
    const int32_t bound = sample.keys[samples * core / cores];
    __bang_ge_scalar(mask, all.other_keys, bound, count);
    result.begin = count - static_cast<int>(__bang_count(mask, count));
  }
  if (core + 1 < cores) {
    const int32_t bound = sample.keys[samples * (core + 1) / cores];
    __bang_lt_scalar(all.zeros, all.other_keys, bound, count);
    __bang_and(mask, mask, all.zeros, count);
  }
  result.count = static_cast<int>(__bang_filter(all.keys, all.other_keys, mask, count));
  __bang_filter(all.values, all.other_values, mask, count);
}

// Of `count` candidates in shared.ranks and .indices. What it returns takes room from `out`, which
// may be the front of `nram`, but for 8 bytes per candidate.
template <class ImageTeam>
__mlu_func__ Part OrderPart(const ImageTeam& team, int count, mlu::Nram& out) {
  const int cores = team.team.cores, core = team.team.core;
  Part result = {out.Array<int32_t>(count), out.Array<int32_t>(count), 0, 0};
  mlu::Nram nram = out;
  mlu::Pairs part(nram, count, true);
  int32_t* const all_ranks = part.other_keys;
  int32_t* const all_indices = part.other_values;
  team.StartLoad(all_ranks, team.shared.ranks, count);
  team.StartLoad(all_indices, team.shared.indices, count);
  team.Wait();
  int first = 0;
  if (count <= kFew) {
    part.Swap();
    mlu::OrderPairs(part, count);
    first = result.begin = count * core / cores;
    result.count = count * (core + 1) / cores - first;
  } else {
    TakePart(part, count, team, result, nram);
    mlu::OrderPairs(part, result.count);
  }
  if (result.count > 0) {
    __bang_move(result.ranks, part.keys + first, result.count * sizeof(int32_t));
    __bang_move(result.indices, part.values + first, result.count * sizeof(int32_t));
  }
  return result;
}

// Decodes candidates, kTile at a time. Coordinates lie one behind the other: those along x of all
// candidates, then those along y.
template <class ImageTeam>
class Decoder {
 public:
  static constexpr int kTile = 1024;

  __mlu_func__ Decoder(const Call& call, const ImageTeam& team, mlu::Nram& nram)
      : call_(call), team_(team), table_(nram) {
    float* const size = nram.Array<float>(2);
    __memcpy_async(size, call.im_shape + 2 * team.image, 2 * sizeof(float), GDRAM2NRAM);
    size_ = size;
  }

  // The part's first `count` candidates, to shared.boxes, .scores and .boxed.
  __mlu_func__ void Decode(const Part& part, int count, mlu::Nram nram) {
    if (count <= 0) return;
    __sync_io();
    height_ = size_[0];
    width_ = size_[1];
    int written = 0;
    for (int begin = 0; begin < count; begin += kTile) {
      const int tile = count - begin < kTile ? count - begin : kTile;
      written +=
          DecodeTile(part.ranks + begin, part.indices + begin, tile, part.begin + written, nram);
    }
    float* const boxed = nram.Array<float>(count);
    __bang_write_zero(boxed, count);
    if (written > 0) __bang_write_value(boxed, written, 1.0f);
    team_.Store(team_.shared.boxed + part.begin, boxed, count);
    if (written == count) return;
    // No garbage where there are none.
    const int missing = count - written;
    float* const zeros = nram.Array<float>(4 * missing);
    __bang_write_zero(zeros, 4 * missing);
    team_.Store(team_.shared.boxes + 4 * (part.begin + written), zeros, 4 * missing);
  }

 private:
  // Returns how many are left.
  __mlu_func__ int DecodeTile(const int32_t* ranks, const int32_t* indices, int count, int to,
                              mlu::Nram nram) {
    const float off = call_.offset;
    float* const anchor = nram.Array<float>(4 * count);
    float* const delta = nram.Array<float>(4 * count);
    float* const variance = nram.Array<float>(4 * count);
    float* const score = nram.Array<float>(count);
    float* const t = nram.Array<float>(4 * count);
    {
      int32_t* const offsets = nram.Array<int32_t>(count);
      int32_t* const mask = nram.Array<int32_t>(count);
      const int64_t first = team_.image * call_.anchors;
      Load(anchor, call_.anchor_boxes, indices, count, t, offsets, mask);
      Load(delta, call_.bbox_deltas + 4 * first, indices, count, t, offsets, mask);
      Load(variance, call_.variances, indices, count, t, offsets, mask);
      ScoresOf(score, ranks, count);
      // Of zeros the rank doesn't tell the sign.
      __bang_eq_scalar(mask, ranks, int32_t{-1}, count);
      if (__bang_count(mask, count) > 0) {
        mlu::GatherRows(score, call_.scores + first, indices, count, call_.anchors, offsets, mask);
      }
    }
    const int both = 2 * count;
    float* const low = anchor;
    float* const high = anchor + both;
    float* const shift = delta;
    float* const stretch = delta + both;

    __bang_sub(high, high, low, both);
    __bang_add_scalar(high, high, off, both);  // size
    __bang_mul_scalar(t, high, 0.5f, both);
    __bang_add(low, low, t, both);  // centre
    __bang_mul(shift, shift, high, both);
    __bang_mul(shift, shift, variance, both);
    __bang_add(low, low, shift, both);
    // math::StretchExponent
    __bang_mul(stretch, stretch, variance + both, both);
    __bang_minequal_scalar(stretch, stretch, 4.1351666f, both);
    __bang_maxequal_scalar(stretch, stretch, -110.0f, both);
    mlu::ExpOfVector(t, stretch, both, table_, nram);
    __bang_mul(t, t, high, both);
    __bang_mul_scalar(t, t, 0.5f, both);
    __bang_add(high, low, t, both);
    __bang_sub_scalar(high, high, off, both);
    __bang_sub(low, low, t, both);
    // math::ClipTo: a bound that is NaN is none.
    __bang_minequal_scalar(low, low, width_ - off, count);
    __bang_minequal_scalar(low + count, low + count, height_ - off, count);
    __bang_minequal_scalar(high, high, width_ - off, count);
    __bang_minequal_scalar(high + count, high + count, height_ - off, count);
    __bang_maxequal_scalar(anchor, anchor, 0.0f, 2 * both);

    // math::KeepProposal
    float* const size = delta;
    float* const mask = variance;
    __bang_sub(size, high, low, both);
    __bang_add_scalar(size, size, off, both);
    __bang_ge_scalar(mask, size, call_.smallest, both);
    __bang_and(mask, mask, mask + count, count);
    if (off != 0.0f) {
      __bang_mul_scalar(size, size, 0.5f, both);
      __bang_add(size, size, low, both);
      __bang_gt_scalar(size, size, width_, count);
      __bang_gt_scalar(size + count, size + count, height_, count);
      __bang_or(size, size, size + count, count);
      __bang_not(size, size, count);
      __bang_and(mask, mask, size, count);
    }
    const int left = static_cast<int>(__bang_filter(score, score, mask, count));
    if (left == 0) return 0;
    float* const packed = delta;
    for (int i = 0; i < 4; ++i) __bang_filter(t + i * count, anchor + i * count, mask, count);
    for (int i = 0; i < 4; ++i) __bang_move(packed + i * left, t + i * count, left * sizeof(float));
    __bang_transpose(t, packed, 4, left);
    team_.Store(team_.shared.boxes + 4 * to, t, 4 * left);
    team_.Store(team_.shared.scores + to, score, left);
    return left;
  }

  // Rows of four numbers, as four arrays.
  __mlu_func__ void Load(float* dst, const float* src, const int32_t* indices, int count,
                         float* scratch, int32_t* offsets, int32_t* mask) {
    mlu::GatherRows(reinterpret_cast<Quad*>(scratch), reinterpret_cast<const Quad*>(src), indices,
                    count, call_.anchors, offsets, mask);
    __bang_transpose(dst, scratch, count, 4);
  }

  const Call& call_;
  const ImageTeam& team_;
  mlu::ExpTable table_;
  const float* size_;  // height, width in NRAM
  float height_, width_;
};

}  // namespace detops::ops
