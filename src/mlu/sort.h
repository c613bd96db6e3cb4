// SPDX-License-Identifier: Apache-2.0
//
// A radix sort by the cores of a union task. For kernels only; sort_buffers.h is for both sides.
//
// For each digit of eight bits, pieces of the array are split into 256 runs within NRAM, one bit
// after another; a table of the runs' lengths says where in the result each run begins; and the
// elements are scattered there. All of that is in vectors: positions are looked up in a table.
#pragma once

#include "mlu/rows.h"
#include "mlu/sort_buffers.h"
#include "mlu/team.h"

namespace detops::mlu {

namespace sort_internal {

constexpr int kDigits = 256;
constexpr int kTableRows = 32;  // of the table of counts, that are in NRAM at a time

// A piece in NRAM. Every split goes from one of two buffers to the other.
struct Piece {
  int32_t *now, *other;   // [2, size] keys, values; as much again for what a filter leaves behind
  int32_t *ones, *zeros;  // masks
  int32_t* digits;        // of the keys, as numbers
  float* digit_floats;    // the same
  float* lengths;         // scratch
};

__mlu_func__ void Swap(int32_t*& a, int32_t*& b) {
  int32_t* const t = a;
  a = b;
  b = t;
}

// Orders the piece by bits [bit, bit + 8) of the keys; equal ones stay in their order.
__mlu_func__ void SplitByDigit(Piece& piece, int count, int bit) {
  for (int i = 0; i < 8; ++i) {
    int32_t* const from = piece.now;
    int32_t* const to = piece.other;
    __bang_band_scalar(piece.ones, from, static_cast<int32_t>(uint32_t{1} << (bit + i)), count);
    __bang_not(piece.zeros, piece.ones, count);
    const int low = __bang_filter(to, from, piece.zeros, count);
    if (low == count) continue;
    __bang_collect(to + low, from, piece.ones, count);
    __bang_collect(to + count, from + count, piece.zeros, count);
    __bang_collect(to + count + low, from + count, piece.ones, count);
    Swap(piece.now, piece.other);
  }
  // The bytes of the keys, as planes.
  unsigned char* const planes = reinterpret_cast<unsigned char*>(piece.ones);
  __bang_transpose(planes, reinterpret_cast<unsigned char*>(piece.now), count, 4);
  __bang_uchar2float(piece.digit_floats, planes + bit / 8 * count, count);
  __bang_float2int32_tz(piece.digits, piece.digit_floats, count, 0);
}

// Writes the lengths of the piece's runs to a row of the table of counts, which is all zeros.
__mlu_func__ void WriteRunLengths(const Piece& piece, int count, int32_t* row) {
  // Where runs end, and which digit they have.
  float* const mask = reinterpret_cast<float*>(piece.ones);
  float* const ends = reinterpret_cast<float*>(piece.zeros);
  float* const digits = reinterpret_cast<float*>(piece.other);
  float* const lengths = piece.lengths;
  __bang_write_value(mask + count - 1, 1, 1.0f);
  if (count > 1) __bang_ne(mask, piece.digit_floats, piece.digit_floats + 1, count - 1);
  const int runs = __bang_filter(digits, piece.digit_floats, mask, count);
  __bang_incseq(lengths, count);
  __bang_collect(ends, lengths, mask, count);
  __bang_add_scalar(ends, ends, 1.0f, runs);
  __bang_move(lengths, ends, sizeof(float));
  if (runs > 1) __bang_sub(lengths + 1, ends + 1, ends, runs - 1);
  __bang_mul_scalar(digits, digits, 4.0f, runs);
  int32_t* const offsets = reinterpret_cast<int32_t*>(ends);
  int32_t* const whole = reinterpret_cast<int32_t*>(mask);
  __bang_float2int32_tz(offsets, digits, runs, 0);
  __bang_float2int32_tz(whole, lengths, runs, 0);
  __scatter(row, whole, reinterpret_cast<uint32_t*>(offsets), sizeof(int32_t), NRAM2GDRAM,
            sizeof(int32_t), runs);
}

// The sums of all elements before each of kDigits; `other` is scratch. Returns which has the
// result.
__mlu_func__ int32_t* SumsBefore(int32_t* sums, int32_t* other) {
  __bang_write_value(other, 1, int32_t{0});
  __bang_move(other + 1, sums, (kDigits - 1) * sizeof(int32_t));
  Swap(sums, other);
  for (int distance = 1; distance < kDigits; distance *= 2) {
    __bang_move(other, sums, distance * sizeof(int32_t));
    __bang_add(other + distance, sums + distance, sums, kDigits - distance);
    Swap(sums, other);
  }
  return sums;
}

}  // namespace sort_internal

// The bytes of NRAM that a sort needs.
constexpr int kSortNramBytes =
    11 * kSortPiece * 4 + (sort_internal::kTableRows + 6) * sort_internal::kDigits * 4 + 2048;

// Sorts buffers.pairs[0] by the lowest `bits` bits of the keys, ascending; equal keys stay in their
// order. Returns the one of buffers.pairs that has the result. To be called by all cores, after a
// barrier behind the writing of the pairs; there is one at the end, too.
__mlu_func__ KeyValue* Sort(const Team& team, const SortBuffers& buffers, int bits, Nram nram) {
  using namespace sort_internal;
  const SortPieces all(buffers.count, team.cores);
  Piece piece;
  piece.now = nram.Array<int32_t>(3 * kSortPiece);
  piece.other = nram.Array<int32_t>(3 * kSortPiece);
  piece.ones = nram.Array<int32_t>(kSortPiece);
  piece.zeros = nram.Array<int32_t>(kSortPiece);
  piece.digits = nram.Array<int32_t>(kSortPiece);
  piece.digit_floats = nram.Array<float>(kSortPiece);
  piece.lengths = nram.Array<float>(kSortPiece);
  int32_t* const table = nram.Array<int32_t>(kTableRows * kDigits);
  int32_t* const total = nram.Array<int32_t>(kDigits);  // of all pieces
  int32_t* const first = nram.Array<int32_t>(kDigits);  // where the runs of a piece go
  int32_t* const length = nram.Array<int32_t>(kDigits);
  int32_t* const scratch[2] = {nram.Array<int32_t>(kDigits), nram.Array<int32_t>(kDigits)};
  int32_t* const zeros = nram.Array<int32_t>(kDigits);
  __bang_write_zero(zeros, kDigits);

  const Share mine(team, all.number);
  const bool stays = mine.size() == 1;  // a piece that is split once per digit
  KeyValue* from = buffers.pairs[0];
  KeyValue* to = buffers.pairs[1];
  const auto load_and_split = [&](int64_t p, int bit) {
    const int count = all.Count(p);
    __memcpy(piece.other, from + p * all.size, count * sizeof(KeyValue), GDRAM2NRAM);
    __bang_transpose(piece.now, piece.other, count, 2);
    SplitByDigit(piece, count, bit);
  };
  for (int bit = 0; bit < bits; bit += 8) {
    for (int64_t p = mine.begin; p < mine.end; ++p) {
      int32_t* const row = buffers.counts + p * kDigits;
      __memcpy(row, zeros, kDigits * sizeof(int32_t), NRAM2GDRAM);
      load_and_split(p, bit);
      WriteRunLengths(piece, all.Count(p), row);
    }
    team.Sync();
    __bang_write_zero(total, kDigits);
    __bang_write_zero(first, kDigits);
    for (int64_t begin = 0; begin < all.number; begin += kTableRows) {
      const int rows = all.number - begin < kTableRows ? all.number - begin : kTableRows;
      __memcpy(table, buffers.counts + begin * kDigits, rows * kDigits * sizeof(int32_t),
               GDRAM2NRAM);
      for (int i = 0; i < rows; ++i) {
        if (begin + i < mine.begin) __bang_add(first, first, table + i * kDigits, kDigits);
        __bang_add(total, total, table + i * kDigits, kDigits);
      }
    }
    __bang_add(first, first, SumsBefore(total, scratch[0]), kDigits);
    for (int64_t p = mine.begin; p < mine.end; ++p) {
      const int count = all.Count(p);
      if (!stays) load_and_split(p, bit);
      __memcpy(length, buffers.counts + p * kDigits, kDigits * sizeof(int32_t), GDRAM2NRAM);
      // An element goes as far behind the start of its run as it is in the piece.
      __bang_move(scratch[0], length, kDigits * sizeof(int32_t));
      int32_t* const local = SumsBefore(scratch[0], scratch[1]);
      int32_t* const shift = local == scratch[0] ? scratch[1] : scratch[0];
      __bang_sub(shift, first, local, kDigits);
      __bang_add(first, first, length, kDigits);
      int32_t* const place = piece.ones;
      __bang_lut_s32(place, piece.digits, shift, count, kDigits);
      __bang_incseq(piece.zeros, count);
      __bang_add(place, place, piece.zeros, count);
      __bang_transpose(piece.other, piece.now, 2, count);
      ScatterRows(to, reinterpret_cast<const KeyValue*>(piece.other), place, count, buffers.count,
                  piece.zeros, piece.digits);
    }
    team.Sync();
    KeyValue* const t = from;
    from = to;
    to = t;
  }
  return from;
}

}  // namespace detops::mlu
