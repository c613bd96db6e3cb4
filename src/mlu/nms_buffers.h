// SPDX-License-Identifier: Apache-2.0
//
// What mlu/greedy_nms.h works in: for the workspace on the host, and for kernels.
#pragma once

#include <stdint.h>

#include "mlu/sort_buffers.h"

namespace detops::mlu {

// Boxes in an order in which neighbours are near each other, in tiles of which the bounds are
// known. Behind the last box, what is left of its tile is empty.
struct BoxSet {
  static constexpr int kFields = 6;  // x1 y1 x2 y2; as bits: the key, lowest first, and the index
  static constexpr int kTile = 64;   // boxes
  static constexpr int kSmallTile = 8;

  int64_t stride, tile_stride;
  float* fields;  // [kFields, stride]
  float* tiles;   // [4, tile_stride]: x1 y1 x2 y2

  template <class Layout>
  static BoxSet Make(Layout& layout, int64_t count, int tile) {
    BoxSet result;
    result.stride = (count + tile - 1) / tile * tile;
    result.tile_stride = result.stride / tile;
    result.fields = layout.template Array<float>(kFields * result.stride);
    result.tiles = layout.template Array<float>(4 * result.tile_stride);
    return result;
  }
};

// Two boxes: their positions in their sets, and their indices. The first may suppress the second.
struct PairLists {
  int32_t *ahead, *behind, *ahead_index, *behind_index;  // [capacity] for each core
  int64_t capacity;

  PairLists From(int64_t first) const {
    return {ahead + first, behind + first, ahead_index + first, behind_index + first,
            capacity - first};
  }
  PairLists OfCore(int core) const {
    PairLists result = From(core * capacity);
    result.capacity = capacity;
    return result;
  }
};
struct EdgeLists {
  int32_t *ahead, *behind;  // [capacity] for each core
  int64_t capacity;

  EdgeLists OfCore(int core) const {
    return {ahead + core * capacity, behind + core * capacity, capacity};
  }
};

struct NmsBuffers {
  int64_t count;
  BoxSet boxes;        // all, and later those that are undecided
  BoxSet chunk, rest;  // of these, the highest-scoring and the others
  BoxSet kept;         // of the chunk; in small tiles
  // Of each box of a set:
  int32_t* state[2];    // [count] what has become of it, in one round and in the one before
  int32_t* suppressed;  // [count] whether a kept box suppresses it
  int32_t* blocked;     // [count] the last round in which an undecided box might have done so
  int32_t* kept_index;  // [count] by index: 1 where kept
  PairLists pairs;      // examined at a time
  EdgeLists edges;      // pairs of the chunk whose second the first suppresses, if it is kept
  int32_t* counters;    // [kCounters, cores]

  static constexpr int kCounters = 12;
  static constexpr int kLeastPairs = 6144;  // per core
  static constexpr int kLeastEdges = 8192;

  template <class Layout>
  static NmsBuffers Make(Layout& layout, int64_t count, int cores) {
    NmsBuffers result;
    result.count = count;
    result.boxes = BoxSet::Make(layout, count, BoxSet::kTile);
    result.chunk = BoxSet::Make(layout, count, BoxSet::kTile);
    result.rest = BoxSet::Make(layout, count, BoxSet::kTile);
    result.kept = BoxSet::Make(layout, count, BoxSet::kSmallTile);
    for (int32_t*& state : result.state) state = layout.template Array<int32_t>(count);
    result.suppressed = layout.template Array<int32_t>(count);
    result.blocked = layout.template Array<int32_t>(count);
    result.kept_index = layout.template Array<int32_t>(count);
    const int64_t share = (count + cores - 1) / cores;
    result.pairs.capacity = 2 * share < kLeastPairs ? kLeastPairs : 2 * share;
    for (int32_t** list : {&result.pairs.ahead, &result.pairs.behind, &result.pairs.ahead_index,
                           &result.pairs.behind_index}) {
      *list = layout.template Array<int32_t>(result.pairs.capacity * cores);
    }
    result.edges.capacity = 4 * share < kLeastEdges ? kLeastEdges : 4 * share;
    for (int32_t** list : {&result.edges.ahead, &result.edges.behind}) {
      *list = layout.template Array<int32_t>(result.edges.capacity * cores);
    }
    result.counters = layout.template Array<int32_t>(kCounters * cores);
    return result;
  }
};

}  // namespace detops::mlu
