// SPDX-License-Identifier: Apache-2.0
//
// A band of a map from GDRAM to SRAM, by all cores of a cluster (BANG C).
#pragma once

#include <stdint.h>

#include "ops/border_align_forward/mlu_memory.h"

namespace detops::ops::border_align {

class BandLoader {
 public:
  // `scratch` is NRAM for 8 vectors, `zeros` at least one vector of weights.
  __mlu_func__ BandLoader(const BorderAlignMlu& call, const Part& part, const BorderAlignBand& band,
                          int8_t* sram, float* scratch, const float* zeros)
      : call_(call),
        part_(part),
        band_(band),
        input_(call, part),
        sram_(sram),
        scratch_(scratch),
        zeros_(zeros) {}

  __mlu_func__ void Load() {
    const int64_t lines = band_.lines + 1;
    const int64_t first = lines * coreId / coreDim, last = lines * (coreId + 1) / coreDim;
    for (int64_t line = first; line < Least(last, 2); ++line) {
      __memcpy_async(To(line, band_.zero_pixel), zeros_, band_.pixel_bytes, NRAM2SRAM,
                     band_.pixel_bytes, 0, 1);
    }
    if (call_.half) {
      LoadHalves(first, last);
    } else {
      for (int64_t line = first; line < last; ++line) LoadFloats(line);
    }
  }

 private:
  static constexpr int64_t kMostStride = 0x7FFFFFFF, kMostSegments = 65536;  // of a copy

  __mlu_func__ int64_t Length() const { return call_.axes[part_.border % 2].size; }
  __mlu_func__ int8_t* To(int64_t line, int64_t pixel) const {
    return sram_ + (line * band_.line_pixels + pixel) * band_.pixel_bytes;
  }
  __mlu_func__ const int8_t* From(int64_t line, int64_t pixel) const {
    const int64_t last = call_.axes[1 - part_.border % 2].size - 1;
    return input_.map + Least(band_.first_line + line, last) * input_.across + pixel * input_.along;
  }

  __mlu_func__ void LoadFloats(int64_t line) {
    const int64_t bytes = part_.channels * sizeof(float);
    const int64_t length = Length();
    const int64_t most = input_.along <= kMostStride ? kMostSegments : 1;
    for (int64_t pixel = 0; pixel < length; pixel += most) {
      __memcpy_async(To(line, pixel), From(line, pixel), bytes, GDRAM2SRAM, band_.pixel_bytes,
                     input_.along * (most > 1), Least(most, length - pixel) - 1);
    }
    __memcpy_async(To(line, length), From(line, length - 1), bytes, GDRAM2SRAM);
  }

  struct Piece {
    int64_t line, pixel;
    int pixels;
  };

  // Through NRAM, where they are widened, piece by piece: the next one is loaded while one is
  // widened and stored.
  __mlu_func__ void LoadHalves(int64_t first_line, int64_t last_line) {
    const int64_t length = Length();
    int64_t most = Least(4 * ThisCut::kVector / part_.channels, kMostSegments);
    if (input_.along > kMostStride) most = 1;
    const int64_t pieces_per_line = (length + most - 1) / most;
    const int64_t last = last_line * pieces_per_line;
    const auto piece_at = [&](int64_t i) {
      Piece piece;
      piece.line = i / pieces_per_line;
      piece.pixel = i % pieces_per_line * most;
      piece.pixels = Least(most, length - piece.pixel);
      return piece;
    };
    int64_t i = first_line * pieces_per_line;
    if (i == last) return;
    Piece next = piece_at(i);
    LoadPiece(next, 0);
    for (int parity = 0; i < last; parity = 1 - parity) {
      const Piece piece = next;
      ComputeWaitsForIo();
      IoWaitsForMove();  // for the piece before, whose buffer the next one goes to
      if (++i < last) {
        next = piece_at(i);
        LoadPiece(next, 1 - parity);
      }
      StorePiece(piece, parity);
    }
  }

  __mlu_func__ float* Buffer(int parity) const { return scratch_ + parity * 4 * ThisCut::kVector; }

  // To where the floats that they become end.
  __mlu_func__ half* Halves(const Piece& piece, int parity) const {
    return reinterpret_cast<half*>(Buffer(parity)) + piece.pixels * part_.channels;
  }

  __mlu_func__ void LoadPiece(const Piece& piece, int parity) {
    const int bytes = part_.channels * sizeof(half);
    __memcpy_async(Halves(piece, parity), From(piece.line, piece.pixel), bytes, GDRAM2NRAM, bytes,
                   piece.pixels > 1 ? input_.along : 0, piece.pixels - 1);
  }

  __mlu_func__ void StorePiece(const Piece& piece, int parity) {
    const int count = piece.pixels * part_.channels;
    const int bytes = part_.channels * sizeof(float);
    float* const floats = Buffer(parity);
    __bang_half2float(floats, Halves(piece, parity), count);
    CopiesWaitForCompute();
    __memcpy_async(To(piece.line, piece.pixel), floats, bytes, NRAM2SRAM, band_.pixel_bytes, bytes,
                   piece.pixels - 1);
    if (piece.pixel + piece.pixels == Length()) {
      __memcpy_async(To(piece.line, Length()), floats + count - part_.channels, bytes, NRAM2SRAM);
    }
  }

  const BorderAlignMlu& call_;
  const Part& part_;
  const BorderAlignBand& band_;
  const InputLayout input_;
  int8_t* const sram_;
  float* const scratch_;
  const float* const zeros_;
};

}  // namespace detops::ops::border_align
