// SPDX-License-Identifier: Apache-2.0
//
// The boxes that suppression has kept so far, binned spatially, for many threads at once. Boxes are
// assigned by size to levels of square cells (sides are powers of 4), cells are hashed into
// buckets, and every bucket has room for all boxes that may be inserted. Memory is O(boxes).
#pragma once

#include <cstdint>

#include "core/workspace.h"
#include "cuda/sort.h"

namespace detops::cuda {

struct KeptGrid {
  static constexpr int kLevels = 160;        // powers of 4 between the smallest and largest float
  static constexpr int kHuge = kLevels - 1;  // for bounds that are not finite: all are visited
  struct Level {
    int64_t x_low, x_high, y_low, y_high;  // cells of its boxes, as OrderedBits
    uint32_t begin, reserved, inserted;    // in level_boxes
  };
  static constexpr int kNowhere = kLevels;  // overlaps nothing
  struct Place {
    uint32_t bucket;
    int level;
  };

  int64_t capacity = 0, buckets = 0;
  int* used_levels = nullptr;        // [kLevels + 1] levels that have boxes; ends with -1
  Level* levels = nullptr;           // [kLevels]
  Place* places = nullptr;           // [capacity] by box
  uint32_t* bucket_begin = nullptr;  // [buckets] first slot
  uint32_t* bucket_count = nullptr;  // [buckets] boxes inserted
  float4* slot_bounds = nullptr;     // [capacity]
  int32_t* slot_box = nullptr;       // [capacity]
  int32_t* level_boxes = nullptr;    // [capacity] by level
  void* scan_memory = nullptr;
  size_t scan_bytes = 0;

  KeptGrid() = default;
  KeptGrid(core::WorkspaceLayout& layout, int64_t capacity);

  // Makes room for these boxes, any of which may be inserted later.
  void Reserve(Launcher& launch, const float4* bounds, int64_t count);

  __device__ static int64_t OrderedBits(double v) {
    const int64_t bits = __double_as_longlong(v);
    return bits < 0 ? bits ^ 0x7fffffffffffffff : bits;
  }
  __device__ static double FromOrderedBits(int64_t bits) {
    return __longlong_as_double(bits < 0 ? bits ^ 0x7fffffffffffffff : bits);
  }
  // 1 / side of a cell
  __device__ static double PerSide(int level) {
    return __longlong_as_double(int64_t{1023 + 150 - 2 * level} << 52);
  }
  __device__ static int LevelOf(const float4& b) {
    const double width = double{b.z} - b.x, height = double{b.w} - b.y;
    const double side = width > height ? width : height;
    if (!(side < 1e300)) return kHuge;
    const auto exponent = static_cast<int>(__double_as_longlong(side) >> 52) - 1022;
    return (exponent + 151) / 2;  // side < 2^exponent
  }
  __device__ static double CellOf(float low, float high, double per_side) {
    return floor(0.5 * (double{low} + high) * per_side);
  }
  __device__ uint32_t BucketOf(int level, int64_t x, int64_t y) const {
    uint64_t h = static_cast<uint64_t>(x >> 2) * 0x9e3779b97f4a7c15u ^
                 static_cast<uint64_t>(y) * 0xc2b2ae3d27d4eb4fu ^
                 static_cast<uint64_t>(level) * 0x165667b19e3779f9u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
    return static_cast<uint32_t>(((h << 2) | static_cast<uint64_t>(x & 3)) &
                                 static_cast<uint64_t>(buckets - 1));
  }
  __device__ Place PlaceOf(const float4& b) const {
    if (!(b.x <= b.z)) return {0, kNowhere};
    const int level = LevelOf(b);
    if (level == kHuge) return {0, level};  // found through its level
    const double per_side = PerSide(level);
    return {BucketOf(level, static_cast<int64_t>(CellOf(b.x, b.z, per_side)),
                     static_cast<int64_t>(CellOf(b.y, b.w, per_side))),
            level};
  }

  __device__ void Insert(const Place& place, const float4& bounds, int32_t box) const {
    if (place.level == kNowhere) return;
    // Nearly all boxes are of the same level: one lane adds for all lanes with that level.
    Level& level = levels[place.level];
    const unsigned same = __match_any_sync(__activemask(), place.level);
    const auto lane = threadIdx.x % 32;
    const auto leader = static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1);
    uint32_t at = 0;
    if (lane == leader) at = atomicAdd(&level.inserted, static_cast<uint32_t>(__popc(same)));
    // All loads and atomics are issued before the first result is used.
    const uint32_t in_bucket = atomicAdd(&bucket_count[place.bucket], 1u);
    const uint32_t slot = bucket_begin[place.bucket] + in_bucket;
    slot_bounds[slot] = bounds;
    slot_box[slot] = box;
    at = __shfl_sync(same, at, static_cast<int>(leader));
    level_boxes[level.begin + at + __popc(same & ((1u << lane) - 1))] = box;
  }

  // Calls visit(candidate or -1, its bounds) for every inserted box that may overlap the query,
  // with all lanes of the warp together, one candidate per lane, until it returns true. Boxes whose
  // bounds have less than `least_area` may be left out.
  template <class Visit>
  __device__ bool Any(const float4& query, double least_area, const float4* bounds,
                      const Visit& visit) const;
};

template <class Visit>
__device__ bool KeptGrid::Any(const float4& query, double least_area, const float4* bounds,
                              const Visit& visit) const {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  for (const int* used = used_levels; *used >= 0; ++used) {
    const int l = *used;
    const Level level = levels[l];
    if (level.inserted == 0) continue;
    // A box of this level is no longer than a cell side, so its centre lies within half a side of
    // the query.
    constexpr double kReach = 0.5 + 1e-6;  // includes more than all rounding errors here
    const double per_side = PerSide(l);
    if (least_area * per_side * per_side > 1.0) continue;  // more than the area of a cell
    const double x1 = fmax(floor(query.x * per_side - kReach), FromOrderedBits(level.x_low));
    const double x2 = fmin(floor(query.z * per_side + kReach), FromOrderedBits(level.x_high));
    const double y1 = fmax(floor(query.y * per_side - kReach), FromOrderedBits(level.y_low));
    const double y2 = fmin(floor(query.w * per_side + kReach), FromOrderedBits(level.y_high));
    if (l != kHuge && !(x1 <= x2 && y1 <= y2)) continue;
    const double cells = (x2 - x1 + 1) * (y2 - y1 + 1);
    // Where there are fewer boxes than cells to visit, all boxes are visited.
    if (l == kHuge || cells > level.inserted) {
      for (uint32_t n = 0; n < level.inserted; n += 32) {
        const bool some = n + lane < level.inserted;
        const int32_t box = some ? level_boxes[level.begin + n + lane] : -1;
        if (visit(box, some ? bounds[box] : float4{})) return true;
      }
      continue;
    }
    const auto columns = static_cast<int64_t>(x2 - x1 + 1);
    for (int64_t first = 0; first < static_cast<int64_t>(cells); first += 32) {
      const int64_t cell = first + lane;
      uint32_t begin = 0, count = 0;  // slots of this lane's cell
      if (cell < static_cast<int64_t>(cells)) {
        const uint32_t bucket = BucketOf(l, static_cast<int64_t>(x1) + cell % columns,
                                         static_cast<int64_t>(y1) + cell / columns);
        begin = bucket_begin[bucket];
        count = bucket_count[bucket];
      }
      // All boxes of all these cells, distributed among the lanes: box number n belongs to the last
      // cell that starts at or before n.
      uint32_t end = count;
      for (int distance = 1; distance < 32; distance *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, end, distance);
        if (lane >= distance) end += before;
      }
      const uint32_t all = __shfl_sync(0xffffffffu, end, 31);
      for (uint32_t n = 0; n < all; n += 32) {
        const bool some = n + lane < all;
        int owner = 0;
        for (int step = 16; step > 0; step /= 2) {
          if (__shfl_sync(0xffffffffu, end, owner + step - 1) <= n + lane) owner += step;
        }
        const uint32_t slot = __shfl_sync(0xffffffffu, begin + count - end, owner) + n + lane;
        if (visit(some ? slot_box[slot] : -1, some ? slot_bounds[slot] : float4{})) return true;
      }
    }
  }
  return false;
}

}  // namespace detops::cuda
