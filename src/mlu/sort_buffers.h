// SPDX-License-Identifier: Apache-2.0
//
// What mlu/sort.h sorts in: for the workspace on the host, and for kernels.
#pragma once

#include <stdint.h>

namespace detops::mlu {

struct KeyValue {
  uint32_t key, value;
};

constexpr int kSortPiece = 4096;  // elements that a core orders at once

// The pieces in which an array is sorted: one per core, or several.
struct SortPieces {
  int size;
  int64_t number;

  SortPieces(int64_t count, int cores) {
    const int64_t even = (count + cores - 1) / cores;
    size = static_cast<int>(even < 1 ? 1 : even < kSortPiece ? even : kSortPiece);
    number = (count + size - 1) / size;
    total = count;
  }
  int Count(int64_t piece) const {
    const int64_t rest = total - piece * size;
    return static_cast<int>(rest < size ? rest : size);
  }

 private:
  int64_t total;
};

// Of a sort of `count` elements, at most 2^31 - 1.
struct SortBuffers {
  int64_t count;
  KeyValue* pairs[2];  // [count]
  int32_t* counts;     // [SortPieces::number * 256]

  // Layout: core::WorkspaceLayout. The counts suffice for teams of up to `cores`.
  template <class Layout>
  static SortBuffers Make(Layout& layout, int64_t count, int cores) {
    SortBuffers result;
    result.count = count;
    result.pairs[0] = layout.template Array<KeyValue>(count);
    result.pairs[1] = layout.template Array<KeyValue>(count);
    result.counts = layout.template Array<int32_t>(SortPieces(count, cores).number * 256);
    return result;
  }
};

}  // namespace detops::mlu
