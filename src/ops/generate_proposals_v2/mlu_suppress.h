// SPDX-License-Identifier: Apache-2.0
//
// Suppression within an image. A batch's boxes are first compared with those that earlier batches
// kept, each core some of them. Then chunk by chunk: each core compares some of the chunk's boxes
// with those kept of the batch and with those before them in the chunk, and tells the others the
// outcome, a row of bits for each; after a barrier every core decides the chunk for itself. For
// kernels only.
#pragma once

#include "ops/generate_proposals_v2/mlu_decode.h"
#include "ops/generate_proposals_v2/mlu_overlap.h"
#include "ops/generate_proposals_v2/mlu_sweep.h"

namespace detops::ops {

template <class ImageTeam>
class Suppressor {
 public:
  __mlu_func__ Suppressor(const Call& call, const ImageTeam& team, const Call::Kept& results,
                          mlu::Nram nram)
      : call_(call), team_(team), results_(results) {
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
    float* const columns = nram.Array<float>(4 * count);
    const BatchBoxes boxes = {columns, columns + count, columns + 2 * count, columns + 3 * count};
    {
      mlu::Nram rest = nram;
      float* const rows = rest.Array<float>(4 * count);
      team_.StartLoad(alive, team_.shared.boxed, count);
      team_.StartLoad(rows, team_.shared.boxes, 4 * count);
      team_.Wait();
      __bang_transpose(columns, rows, count, 4);
    }
    if (kept_ > 0) {
      CompareWithEarlier(boxes, alive, count, nram);
      team_.Load(alive, team_.shared.compared, count);
    }
    const int left = static_cast<int>(__bang_count(alive, count));
    float* const involved = nram.Array<float>(count + 31);
    if (left > kChunk) {
      Sweep<ImageTeam>(call_, team_).Run(boxes, alive, count, involved, nram);
    } else {
      __bang_move(involved, alive, count * sizeof(float));
    }
    Chunks(boxes, alive, involved, count, nram);
    Keep(boxes, alive, count, nram);
  }

 private:
  static constexpr int kChunk = Call::kChunk;
  static constexpr int kBitWords = Call::kBitWords;
  static constexpr int kFew = 128;    // numbers that are faster to go through one by one
  static constexpr int kTile = 2048;  // boxes of earlier batches in NRAM at a time

  // Positions of those among `count` elements that are not 0, plus `first`. Returns how many.
  __mlu_func__ static int Positions(int32_t* dst, const float* mask, int count, int32_t first) {
    __bang_incseq(dst, count);
    const int found =
        static_cast<int>(__bang_filter(dst, dst, reinterpret_cast<const int32_t*>(mask), count));
    if (first != 0 && found > 0) __bang_add_scalar(dst, dst, first, found);
    return found;
  }

  // dst[at + i] = boxes[positions[i]], with the areas.
  __mlu_func__ void Take(BoxArrays& dst, int at, const BatchBoxes& boxes, int all,
                         const int32_t* positions, int count, float* w, float* h) const {
    LookUp(dst.x1 + at, boxes.x1, positions, count, all);
    LookUp(dst.y1 + at, boxes.y1, positions, count, all);
    LookUp(dst.x2 + at, boxes.x2, positions, count, all);
    LookUp(dst.y2 + at, boxes.y2, positions, count, all);
    dst.SetAreas(call_, at, count, w, h);
  }

  // Each core compares its share of the batch with all boxes kept so far.
  __mlu_func__ void CompareWithEarlier(const BatchBoxes& batch, float* alive, int count,
                                       mlu::Nram nram) {
    const mlu::Share share(team_.team, count);
    const int size = static_cast<int>(share.size());
    if (size > 0) {
      float* const mine = alive + share.begin;
      int32_t* const positions = nram.Array<int32_t>(size);
      float* const rows = nram.Array<float>(4 * kTile);
      float* const columns = nram.Array<float>(4 * kTile);
      float* const w = nram.Array<float>(size > kTile ? size : kTile);
      float* const h = nram.Array<float>(size > kTile ? size : kTile);
      BoxArrays boxes(nram, size), kept(nram, kTile);
      Overlaps overlaps(call_, nram, kTile);
      const int left = Positions(positions, mine, size, static_cast<int32_t>(share.begin));
      if (left > 0) Take(boxes, 0, batch, count, positions, left, w, h);
      for (int64_t begin = 0; begin < kept_ && left > 0; begin += kTile) {
        const int tile = static_cast<int>(kept_ - begin < kTile ? kept_ - begin : kTile);
        __memcpy(rows, results_.boxes + 4 * begin, tile * sizeof(Quad), GDRAM2NRAM);
        __bang_transpose(columns, rows, tile, 4);
        __bang_move(kept.x1, columns, tile * sizeof(float));
        __bang_move(kept.y1, columns + tile, tile * sizeof(float));
        __bang_move(kept.x2, columns + 2 * tile, tile * sizeof(float));
        __bang_move(kept.y2, columns + 3 * tile, tile * sizeof(float));
        kept.SetAreas(call_, 0, tile, w, h);
        for (int i = 0; i < left; ++i) {
          if (alive[positions[i]] != 0.0f && overlaps.Find(kept, tile, OneBox(boxes, i))) {
            alive[positions[i]] = 0.0f;
          }
        }
      }
      team_.Store(team_.shared.compared + share.begin, mine, size);
    }
    team_.Sync();
  }

  // What all of Chunks uses.
  struct ChunkMemory {
    BoxArrays boxes;  // those kept of the batch, then the chunk
    Overlaps overlaps;
    float *w, *h;               // [kChunk] scratch
    float* zeros;               // [kChunk]
    float* keep;                // [kChunk]
    int32_t* undecided;         // [kChunk]
    int32_t* received;          // [kChunk, kRowBytes] by core: rows of bits, then outcomes
    int32_t *bits, *bits_kept;  // [kChunk, kBitWords] rows in the order of the chunk; those kept
    float* outcome;             // [kChunk]
    int32_t* kept_bits;         // [kBitWords]

    __mlu_func__ ChunkMemory(const Call& call, mlu::Nram& nram, int count)
        : boxes(nram, count + kChunk), overlaps(call, nram, count + kChunk) {
      w = nram.Array<float>(kChunk);
      h = nram.Array<float>(kChunk);
      zeros = nram.Array<float>(kChunk);
      keep = nram.Array<float>(kChunk);
      undecided = nram.Array<int32_t>(kChunk);
      received = nram.Array<int32_t>(kChunk * (kBitWords + 1));
      bits = nram.Array<int32_t>(kChunk * kBitWords);
      bits_kept = nram.Array<int32_t>(kChunk * kBitWords);
      outcome = nram.Array<float>(kChunk);
      kept_bits = nram.Array<int32_t>(kBitWords);
      __bang_write_zero(zeros, kChunk);
      __bang_write_zero(bits, kChunk * kBitWords);
    }
  };

  // A row's outcome.
  static constexpr float kFree = 0.0f, kConflicts = 1.0f, kSuppressed = 2.0f;

  // Suppresses boxes of the batch: clears `alive` for those of `involved`. Of those that can't be
  // among the results any more, nothing is decided.
  __mlu_func__ void Chunks(const BatchBoxes& boxes, float* alive, const float* involved, int count,
                           mlu::Nram nram) {
    int32_t* const positions = nram.Array<int32_t>(count);
    float* const apart = nram.Array<float>(count);
    const int left = Positions(positions, involved, count, 0);
    if (left == 0) return;
    float* const keep = nram.Array<float>(left + 1);
    __bang_write_value(keep, left + 1, 1.0f);
    __bang_sub(apart, alive, involved, count);
    int kept = 0, decided = 0;
    {
      ChunkMemory m(call_, nram, left);
      for (int chunk = 0; decided < left; ++chunk) {
        const int32_t* const here = positions + decided;
        if (kept_ + kept + (here[0] > 0 ? __bang_count(apart, here[0]) : 0) >= call_.most) break;
        const int size = left - decided < kChunk ? left - decided : kChunk;
        Take(m.boxes, kept, boxes, count, here, size, m.w, m.h);
        CompareRows(m, kept, size, chunk & 1);
        const int added = Decide(m, size, chunk & 1);
        __bang_move(keep + decided, m.keep, size * sizeof(float));
        m.boxes.Pack(kept, size, m.keep);
        kept += added;
        decided += size;
      }
    }
    if (kept == decided) return;
    if (decided - kept <= kFew) {
      __bang_not(keep, keep, decided);
      const int dropped = static_cast<int>(
          __bang_filter(positions, positions, reinterpret_cast<int32_t*>(keep), decided));
      for (int i = 0; i < dropped; ++i) alive[positions[i]] = 0.0f;
      return;
    }
    // From the order of those involved to positions.
    float* const before = nram.Array<float>(count);
    float* const scratch = nram.Array<float>(count);
    int32_t* const which = reinterpret_cast<int32_t*>(scratch);
    mlu::SumsBefore(before, involved, count, scratch);
    __bang_float2int32_tz(which, before, count, 0);
    LookUp(before, keep, which, count, left + 1);
    __bang_maskmove(alive, before, involved, count);
  }

  // Row r of the chunk is core r % cores'. Rows of a core lie one behind the other.
  __mlu_func__ void CompareRows(ChunkMemory& m, int kept, int size, int slot) {
    const int core = team_.team.core, cores = team_.team.cores, rows = kChunk / cores;
    __bang_write_value(m.outcome, rows, kSuppressed);
    for (int i = 0; i < rows; ++i) {
      const int r = i * cores + core;
      if (r >= size) break;
      m.outcome[i] = kFree;
      if (!m.overlaps.Find(m.boxes, kept + r, OneBox(m.boxes, kept + r))) continue;
      float* const hits = m.overlaps.hits;
      if (kept > 0 && __bang_count(hits, kept) > 0) {
        m.outcome[i] = kSuppressed;
        continue;
      }
      __bang_write_zero(hits + kept + r, kChunk - r);
      __bang_gt_bitindex(m.bits + i * kBitWords, hits + kept, m.zeros, kChunk);
      m.outcome[i] = kConflicts;
    }
    int32_t* const shared = SharedRows(slot);
    team_.Store(shared + core * rows * kBitWords, m.bits, rows * kBitWords);
    team_.Store(shared + kChunk * kBitWords + core * rows, reinterpret_cast<int32_t*>(m.outcome),
                rows);
    team_.Sync();
  }

  __mlu_func__ int32_t* SharedRows(int slot) const {
    return team_.shared.rows + slot * kChunk * (kBitWords + 1);
  }

  // Sets m.keep; returns how many are kept.
  __mlu_func__ int Decide(ChunkMemory& m, int size, int slot) {
    constexpr int kRowBytes = kBitWords * sizeof(int32_t);
    const int cores = team_.team.cores, rows = kChunk / cores;
    team_.Load(m.received, SharedRows(slot), kChunk * (kBitWords + 1));
    __bang_transpose(m.outcome, reinterpret_cast<float*>(m.received) + kChunk * kBitWords, cores,
                     rows);
    __bang_eq_scalar(m.keep, m.outcome, kFree, kChunk);
    __bang_eq_scalar(m.outcome, m.outcome, kConflicts, kChunk);
    if (__bang_count(m.outcome, size) > 0) {
      __memcpy(m.bits, m.received, kRowBytes, NRAM2NRAM, cores * kRowBytes, rows - 1, kRowBytes,
               cores - 1, kRowBytes, rows - 1, rows * kRowBytes, cores - 1);
      DecideConflicts(m);
    }
    return static_cast<int>(__bang_count(m.keep, size));
  }

  // m.outcome is 1 for those that boxes before them in the chunk suppress if they are kept; of the
  // others, m.keep says that.
  __mlu_func__ void DecideConflicts(ChunkMemory& m) {
    __bang_gt_bitindex(m.kept_bits, m.keep, m.zeros, kChunk);
    // Most are suppressed by a box without conflicts.
    __bang_cycle_band(m.received, m.bits, m.kept_bits, kChunk * kBitWords, kBitWords);
    __bang_transpose(m.bits_kept, m.received, kChunk, kBitWords);
    for (int words = kBitWords / 2; words > 0; words /= 2) {
      __bang_bor(m.bits_kept, m.bits_kept, m.bits_kept + words * kChunk, words * kChunk);
    }
    __bang_not(m.bits_kept, m.bits_kept, kChunk);
    __bang_and(m.bits_kept, m.bits_kept, reinterpret_cast<int32_t*>(m.outcome), kChunk);
    __bang_incseq(m.undecided, kChunk);
    const int left = static_cast<int>(__bang_filter(m.undecided, m.undecided, m.bits_kept, kChunk));
    // The others in their order: one is kept if none of those that suppress it is.
    const uint64_t* const kept = reinterpret_cast<uint64_t*>(m.kept_bits);
    unsigned char* const kept_bytes = reinterpret_cast<unsigned char*>(m.kept_bits);
    for (int i = 0; i < left; ++i) {
      const int r = m.undecided[i];
      const uint64_t* const bits = reinterpret_cast<uint64_t*>(m.bits + r * kBitWords);
      uint64_t both = 0;
      for (int w = 0; w < kBitWords / 2; ++w) both |= bits[w] & kept[w];
      if (both != 0) continue;
      m.keep[r] = 1.0f;
      kept_bytes[r / 8] |= first_bit_lowest_ ? 1 << r % 8 : 0x80 >> r % 8;
    }
  }

  // Appends those that are left to the results, each core a share of them.
  __mlu_func__ void Keep(const BatchBoxes& boxes, const float* alive, int count, mlu::Nram nram) {
    int32_t* const positions = nram.Array<int32_t>(count);
    int64_t left = Positions(positions, alive, count, 0);
    if (left > call_.most - kept_) left = call_.most - kept_;
    const mlu::Share share(team_.team, left);
    const int size = static_cast<int>(share.size());
    if (size > 0) {
      const int first = positions[share.begin];
      const int span = positions[share.end - 1] + 1 - first;
      float* const columns = nram.Array<float>(4 * size);
      float* const rows = nram.Array<float>(4 * size);
      float* const scores = nram.Array<float>(span);
      const int32_t* const mine = positions + share.begin;
      team_.Load(scores, team_.shared.scores + first, span);
      __bang_filter(scores, scores, alive + first, span);
      LookUp(columns, boxes.x1, mine, size, count);
      LookUp(columns + size, boxes.y1, mine, size, count);
      LookUp(columns + 2 * size, boxes.x2, mine, size, count);
      LookUp(columns + 3 * size, boxes.y2, mine, size, count);
      __bang_transpose(rows, columns, 4, size);
      const int64_t to = kept_ + share.begin;
      __memcpy(results_.boxes + 4 * to, rows, size * sizeof(Quad), NRAM2GDRAM);
      __memcpy(results_.scores + to, scores, size * sizeof(float), NRAM2GDRAM);
    }
    kept_ += left;
  }

  const Call& call_;
  const ImageTeam& team_;
  const Call::Kept& results_;
  int64_t kept_ = 0;
  bool first_bit_lowest_;
};

}  // namespace detops::ops
