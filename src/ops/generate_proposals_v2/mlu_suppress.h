// SPDX-License-Identifier: Apache-2.0
//
// Suppression within an image. A batch's boxes are first compared with those that earlier batches
// kept, each core some of them. Then chunk by chunk: each core compares some of the chunk's boxes
// with those kept of the batch and with those before them in the chunk, and tells the others the
// outcome, a row of bits for each; after a barrier every core decides the chunk for itself. For
// kernels only.
#pragma once

#include "mlu/rows.h"
#include "ops/generate_proposals_v2/mlu_decode.h"
#include "ops/generate_proposals_v2/mlu_overlap.h"

namespace detops::ops {

class Suppressor {
 public:
  __mlu_func__ Suppressor(const Call& call, const TeamState& state, float* kept_boxes,
                          float* kept_scores, mlu::Nram nram)
      : call_(call), state_(state), kept_boxes_(kept_boxes), kept_scores_(kept_scores) {
    // Which bit of a mask is the first element's.
    float* const probe = nram.Array<float>(16);
    __bang_write_zero(probe, 16);
    probe[0] = 1.0f;
    unsigned char* const bits = nram.Array<unsigned char>(2);
    __bang_gt_bitindex(bits, probe, probe + 8, 8);
    first_bit_lowest_ = bits[0] == 1;
  }

  __mlu_func__ int64_t kept() const { return kept_; }

  // `count` positions of a batch.
  __mlu_func__ void Run(int count, mlu::Nram nram) {
    float* const alive = nram.Array<float>(count);  // by position: 1 for those not suppressed yet
    __memcpy(alive, state_.memory.boxed, count * sizeof(float), GDRAM2NRAM);
    if (kept_ > 0) {
      CompareWithEarlier(alive, count, nram);
      __memcpy(alive, state_.memory.compared, count * sizeof(float), GDRAM2NRAM);
    }
    Chunks(alive, count, nram);
    Keep(alive, count, nram);
  }

 private:
  static constexpr int kChunk = Call::kChunk;
  static constexpr int kBitBytes = kChunk / 8;
  static constexpr int kWords = kChunk / 64;
  static constexpr int kTile = 2048;  // boxes of earlier batches in NRAM at a time

  // Positions of `count` elements that are not 0. Returns how many.
  __mlu_func__ static int Positions(int32_t* dst, const float* mask, int count, int32_t first) {
    __bang_incseq(dst, count);
    const int found =
        static_cast<int>(__bang_filter(dst, dst, reinterpret_cast<const int32_t*>(mask), count));
    if (first != 0 && found > 0) __bang_add_scalar(dst, dst, first, found);
    return found;
  }

  // Boxes of the batch, as rows of four.
  __mlu_func__ void Gather(float* rows, const int32_t* positions, int count, int32_t* offsets) {
    __bang_mul_scalar(offsets, positions, static_cast<int32_t>(sizeof(Quad)), count);
    __gather(rows, state_.memory.boxes, reinterpret_cast<uint32_t*>(offsets), sizeof(Quad),
             GDRAM2NRAM, sizeof(Quad), count);
  }

  // Each core compares its share of the batch with all boxes kept so far.
  __mlu_func__ void CompareWithEarlier(float* alive, int count, mlu::Nram nram) {
    const mlu::Share share(state_.team, count);
    const int size = static_cast<int>(share.size());
    if (size > 0) {
      float* const mine = alive + share.begin;
      int32_t* const positions = nram.Array<int32_t>(size);
      float* const columns = nram.Array<float>(4 * (size > kTile ? size : kTile));
      float* const rows = nram.Array<float>(4 * (size > kTile ? size : kTile));
      BoxArrays boxes(nram, size), kept(nram, kTile);
      Overlaps overlaps(call_, nram, kTile);
      const int left = Positions(positions, mine, size, static_cast<int32_t>(share.begin));
      if (left > 0) {
        Gather(rows, positions, left, reinterpret_cast<int32_t*>(columns));
        boxes.Take(call_, rows, 0, left, columns);
      }
      for (int64_t begin = 0; begin < kept_ && left > 0; begin += kTile) {
        const int tile = static_cast<int>(kept_ - begin < kTile ? kept_ - begin : kTile);
        __memcpy(rows, kept_boxes_ + 4 * begin, tile * sizeof(Quad), GDRAM2NRAM);
        kept.Take(call_, rows, 0, tile, columns);
        for (int i = 0; i < left; ++i) {
          if (alive[positions[i]] != 0.0f && overlaps.Find(kept, tile, OneBox(boxes, i))) {
            alive[positions[i]] = 0.0f;
          }
        }
      }
      __memcpy(state_.memory.compared + share.begin, mine, size * sizeof(float), NRAM2GDRAM);
    }
    state_.team.Sync();
  }

  // What all of Chunks uses.
  struct ChunkMemory {
    BoxArrays boxes;  // those kept of the batch, then the chunk
    Overlaps overlaps;
    float *rows, *columns;     // [4 * kChunk]
    float* zeros;              // [kChunk]
    float* keep;               // [kChunk]
    int32_t* conflicting;      // [kChunk]
    int8_t* bits;              // [kChunk, kBitBytes]
    float* outcome;            // [kChunk] behind the bits
    float* outcomes;           // [kChunk] in the order of the chunk
    unsigned char* kept_bits;  // [kBitBytes]

    __mlu_func__ ChunkMemory(const Call& call, mlu::Nram& nram, int count)
        : boxes(nram, count + kChunk), overlaps(call, nram, count + kChunk) {
      rows = nram.Array<float>(4 * kChunk);
      columns = nram.Array<float>(4 * kChunk);
      zeros = nram.Array<float>(kChunk);
      keep = nram.Array<float>(kChunk);
      conflicting = nram.Array<int32_t>(kChunk);
      bits = nram.Array<int8_t>(kChunk * Call::kRowBytes);
      outcome = reinterpret_cast<float*>(bits + kChunk * kBitBytes);
      outcomes = nram.Array<float>(kChunk);
      kept_bits = nram.Array<unsigned char>(kBitBytes);
      __bang_write_zero(zeros, kChunk);
      __bang_write_zero(bits, kChunk * Call::kRowBytes);
    }
  };

  // A row's outcome.
  static constexpr float kFree = 0.0f, kConflicts = 1.0f, kSuppressed = 2.0f;

  __mlu_func__ void Chunks(float* alive, int count, mlu::Nram nram) {
    int32_t* const positions = nram.Array<int32_t>(count);
    const int left = Positions(positions, alive, count, 0);
    ChunkMemory m(call_, nram, left);
    int kept = 0;
    for (int begin = 0, chunk = 0; begin < left; begin += kChunk, ++chunk) {
      if (kept_ + kept >= call_.most) {
        // Enough: what follows is not needed.
        __bang_write_zero(alive + positions[begin], count - positions[begin]);
        break;
      }
      const int size = left - begin < kChunk ? left - begin : kChunk;
      Gather(m.rows, positions + begin, size, reinterpret_cast<int32_t*>(m.columns));
      m.boxes.Take(call_, m.rows, kept, size, m.columns);
      CompareRows(m, kept, size, chunk & 1);
      const int added = Decide(m, size, chunk & 1);
      if (added < size) {
        for (int i = 0; i < size; ++i) {
          if (m.keep[i] == 0.0f) alive[positions[begin + i]] = 0.0f;
        }
      }
      m.boxes.Pack(kept, size, m.keep);
      kept += added;
    }
  }

  // Row r of the chunk is core r % cores'. Rows of a core lie one behind the other.
  __mlu_func__ void CompareRows(ChunkMemory& m, int kept, int size, int slot) {
    const int cores = state_.team.cores, rows = kChunk / cores;
    __bang_write_value(m.outcome, rows, kSuppressed);
    for (int i = 0; i < rows; ++i) {
      const int r = i * cores + state_.team.core;
      if (r >= size) break;
      m.outcome[i] = kFree;
      if (!m.overlaps.Find(m.boxes, kept + r, OneBox(m.boxes, kept + r))) continue;
      float* const hits = m.overlaps.hits;
      if (kept > 0 && __bang_count(hits, kept) > 0) {
        m.outcome[i] = kSuppressed;
        continue;
      }
      __bang_write_zero(hits + kept + r, kChunk - r);
      __bang_gt_bitindex(m.bits + i * kBitBytes, hits + kept, m.zeros, kChunk);
      m.outcome[i] = kConflicts;
    }
    int8_t* const shared = SharedRows(slot);
    __memcpy(shared + state_.team.core * rows * kBitBytes, m.bits, rows * kBitBytes, NRAM2GDRAM);
    __memcpy(shared + kChunk * kBitBytes + state_.team.core * rows * sizeof(float), m.outcome,
             rows * sizeof(float), NRAM2GDRAM);
    state_.team.Sync();
  }

  __mlu_func__ int8_t* SharedRows(int slot) const {
    return state_.memory.rows + slot * kChunk * Call::kRowBytes;
  }

  // Sets m.keep; returns how many are kept.
  __mlu_func__ int Decide(ChunkMemory& m, int size, int slot) {
    const int cores = state_.team.cores, rows = kChunk / cores;
    __memcpy(m.bits, SharedRows(slot), kChunk * Call::kRowBytes, GDRAM2NRAM);
    __bang_transpose(m.outcomes, m.outcome, cores, rows);
    __bang_eq_scalar(m.keep, m.outcomes, kFree, kChunk);
    __bang_eq_scalar(m.outcomes, m.outcomes, kConflicts, kChunk);
    __bang_incseq(m.conflicting, kChunk);
    const int conflicts = static_cast<int>(__bang_filter(
        m.conflicting, m.conflicting, reinterpret_cast<int32_t*>(m.outcomes), kChunk));
    if (conflicts > 0) {
      // In their order: a box is kept if none of those that suppress it is.
      __bang_gt_bitindex(m.kept_bits, m.keep, m.zeros, kChunk);
      const uint64_t* const kept = reinterpret_cast<uint64_t*>(m.kept_bits);
      for (int i = 0; i < conflicts; ++i) {
        const int r = m.conflicting[i];
        const int row = r % cores * rows + r / cores;
        const uint64_t* const bits = reinterpret_cast<uint64_t*>(m.bits + row * kBitBytes);
        uint64_t both = 0;
        for (int w = 0; w < kWords; ++w) both |= bits[w] & kept[w];
        if (both != 0) continue;
        m.keep[r] = 1.0f;
        m.kept_bits[r / 8] |= first_bit_lowest_ ? 1 << r % 8 : 0x80 >> r % 8;
      }
    }
    return static_cast<int>(__bang_count(m.keep, size));
  }

  // Appends those that are left to the results, each core a share of them.
  __mlu_func__ void Keep(const float* alive, int count, mlu::Nram nram) {
    int32_t* const positions = nram.Array<int32_t>(count);
    int64_t left = Positions(positions, alive, count, 0);
    if (left > call_.most - kept_) left = call_.most - kept_;
    const mlu::Share share(state_.team, left);
    const int size = static_cast<int>(share.size());
    if (size > 0) {
      int32_t* const offsets = nram.Array<int32_t>(size);
      float* const rows = nram.Array<float>(4 * size);
      float* const scores = nram.Array<float>(size);
      const int32_t* const mine = positions + share.begin;
      Gather(rows, mine, size, offsets);
      __bang_mul_scalar(offsets, mine, static_cast<int32_t>(sizeof(float)), size);
      __gather(scores, state_.memory.scores, reinterpret_cast<uint32_t*>(offsets), sizeof(float),
               GDRAM2NRAM, sizeof(float), size);
      const int64_t to = kept_ + share.begin;
      __memcpy(kept_boxes_ + 4 * to, rows, size * sizeof(Quad), NRAM2GDRAM);
      __memcpy(kept_scores_ + to, scores, size * sizeof(float), NRAM2GDRAM);
    }
    kept_ += left;
  }

  const Call& call_;
  const TeamState& state_;
  float* kept_boxes_;  // of the image, in GDRAM
  float* kept_scores_;
  int64_t kept_ = 0;
  bool first_bit_lowest_;
};

}  // namespace detops::ops
