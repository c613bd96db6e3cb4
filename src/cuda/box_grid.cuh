// SPDX-License-Identifier: Apache-2.0
//
// A list of boxes in the order of scores, binned spatially, for warps to search. Boxes are assigned
// by size to levels of square cells (sides are powers of 4), and cells are hashed into buckets. A
// bucket has its boxes in the order of scores, so that a search may stop at those that come too
// late. Memory is O(boxes).
#pragma once

#include <cstdint>

#include "core/workspace.h"
#include "cuda/sort.h"
#include "math/box_level.h"

namespace detops::cuda {

constexpr unsigned kAllLanes = 0xffffffffu;

struct BoxGrid {
  static constexpr int kLevels = math::kBoxLevels;
  static constexpr int kHuge = math::kHugeBoxes;  // these are all visited
  struct Level {
    int64_t x_low, x_high, y_low, y_high;  // cells of its boxes, as OrderedBits
    uint32_t begin, count, listed;         // in level_boxes
  };
  struct Range {
    uint32_t begin, end;
  };

  int64_t capacity = 0;
  uint32_t buckets = 0;               // a power of 2
  int* used_levels = nullptr;         // [kLevels + 1] levels that have boxes; ends with -1
  Level* levels = nullptr;            // [kLevels]
  Range* ranges = nullptr;            // [buckets] of slots
  float4* slot_bounds = nullptr;      // [capacity]
  const int32_t* slot_box = nullptr;  // [capacity]
  int32_t* level_boxes = nullptr;     // [capacity] by level, in any order
  PairSorter sorter;

  BoxGrid() = default;
  BoxGrid(core::WorkspaceLayout& layout, int64_t capacity);

  // Takes all boxes; those with x1 > x2 overlap nothing.
  void Build(Launcher& launch, const float4* bounds, int64_t count);

  __device__ static int64_t OrderedBits(double v) {
    const int64_t bits = __double_as_longlong(v);
    return bits < 0 ? bits ^ 0x7fffffffffffffff : bits;
  }
  __device__ static double FromOrderedBits(int64_t bits) {
    return __longlong_as_double(bits < 0 ? bits ^ 0x7fffffffffffffff : bits);
  }
  __device__ static double CellOf(float low, float high, double per_side) {
    return floor(0.5 * (double{low} + high) * per_side);
  }
  // Of a box that is neither huge nor overlaps nothing.
  __device__ uint32_t BucketOf(int level, const float4& b) const {
    const double per_side = math::BoxLevelPerSide(level);
    return BucketOf(level, static_cast<int64_t>(CellOf(b.x, b.z, per_side)),
                    static_cast<int64_t>(CellOf(b.y, b.w, per_side)));
  }
  __device__ uint32_t BucketOf(int level, int64_t x, int64_t y) const {
    uint64_t h = static_cast<uint64_t>(x >> 2) * 0x9e3779b97f4a7c15u ^
                 static_cast<uint64_t>(y) * 0xc2b2ae3d27d4eb4fu ^
                 static_cast<uint64_t>(level) * 0x165667b19e3779f9u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
    return static_cast<uint32_t>((h << 2) | static_cast<uint64_t>(x & 3)) & (buckets - 1);
  }

  // Calls visit(box or -1, its bounds) for every box from `after` + 1 to `limit` - 1 that may
  // overlap the query, with all lanes of the warp together, one box per lane. `limit` may fall
  // meanwhile. Boxes whose bounds have less than `least_area` may be left out.
  template <class Visit>
  __device__ void Search(const float4& query, double least_area, int32_t after,
                         const int32_t& limit, const float4* bounds, const Visit& visit) const;
  // The same by one lane, for boxes before `limit`; gives up, with false, where there are many
  // cells or boxes, or visit returns false.
  template <class Visit>
  __device__ bool SearchAlone(const float4& query, double least_area, int32_t limit,
                              const Visit& visit) const;

 private:
  // The cells of a level that a query may find boxes in.
  struct Area {
    double x1, y1, x2, y2;
    __device__ bool Empty() const { return !(x1 <= x2 && y1 <= y2); }
    __device__ double Cells() const { return (x2 - x1 + 1) * (y2 - y1 + 1); }
  };
  __device__ static Area AreaOf(int l, const Level& level, const float4& query) {
    // A box of this level is no longer than a cell side, so its centre lies within half a side of
    // the query.
    constexpr double kReach = 0.5 + 1e-6;  // includes more than all rounding errors here
    const double per_side = math::BoxLevelPerSide(l);
    return {fmax(floor(query.x * per_side - kReach), FromOrderedBits(level.x_low)),
            fmax(floor(query.y * per_side - kReach), FromOrderedBits(level.y_low)),
            fmin(floor(query.z * per_side + kReach), FromOrderedBits(level.x_high)),
            fmin(floor(query.w * per_side + kReach), FromOrderedBits(level.y_high))};
  }
  // Whether all boxes of a level have less area than that.
  __device__ static bool AreSmaller(int l, double least_area) {
    const double per_side = math::BoxLevelPerSide(l);
    return least_area * per_side * per_side > 1.0;  // more than the area of a cell
  }

  template <class Visit>
  __device__ void SearchCells(const Range& mine, int32_t after, const int32_t& limit,
                              const Visit& visit) const;
};

// `mine` is the range of a lane's cell. All boxes of all these cells are distributed among the
// lanes: number n belongs to the first cell that ends behind n.
template <class Visit>
__device__ void BoxGrid::SearchCells(const Range& mine, int32_t after, const int32_t& limit,
                                     const Visit& visit) const {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  uint32_t begin = mine.begin;
  if (after >= 0) {  // past those that come too early
    for (uint32_t size = mine.end - begin; size > 0;) {
      const uint32_t half = size / 2;
      const bool early = slot_box[begin + half] <= after;
      begin += early ? half + 1 : 0;
      size = early ? size - half - 1 : half;
    }
  }
  uint32_t end = mine.end - begin;
  for (int distance = 1; distance < 32; distance *= 2) {
    const uint32_t before = __shfl_up_sync(kAllLanes, end, distance);
    if (lane >= distance) end += before;
  }
  const uint32_t first = mine.end - end;  // the slot of number 0, if this cell had them all
  const uint32_t all = __shfl_sync(kAllLanes, end, 31);
  for (uint32_t n = 0; n < all;) {
    const bool some = n + lane < all;
    int owner = 0;
    for (int step = 16; step > 0; step /= 2) {
      if (__shfl_sync(kAllLanes, end, owner + step - 1) <= n + lane) owner += step;
    }
    const uint32_t slot = __shfl_sync(kAllLanes, first, owner) + n + lane;
    const int32_t box = some ? slot_box[slot] : INT32_MAX;
    const bool wanted = box < limit;
    if (__any_sync(kAllLanes, wanted)) {
      visit(wanted ? box : -1, wanted ? slot_bounds[slot] : float4{});
      n += 32;
    } else {
      // What follows in the cell of the last of these comes later still.
      n = __shfl_sync(kAllLanes, end, __shfl_sync(kAllLanes, owner, min(31u, all - n - 1)));
    }
  }
}

template <class Visit>
__device__ void BoxGrid::Search(const float4& query, double least_area, int32_t after,
                                const int32_t& limit, const float4* bounds,
                                const Visit& visit) const {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  for (const int* used = used_levels; *used >= 0; ++used) {
    const int l = *used;
    const Level level = levels[l];
    if (AreSmaller(l, least_area)) continue;
    const Area area = AreaOf(l, level, query);
    if (l != kHuge && area.Empty()) continue;
    const double cells = area.Cells();
    // Where there are fewer boxes than cells to visit, all boxes are visited.
    if (l == kHuge || cells > level.count) {
      for (uint32_t n = 0; n < level.count; n += 32) {
        const int32_t box = n + lane < level.count ? level_boxes[level.begin + n + lane] : -1;
        const bool wanted = box > after && box < limit;
        if (!__any_sync(kAllLanes, wanted)) continue;
        visit(wanted ? box : -1, wanted ? bounds[box] : float4{});
      }
      continue;
    }
    const auto columns = static_cast<int64_t>(area.x2 - area.x1 + 1);
    for (int64_t begin = 0; begin < static_cast<int64_t>(cells); begin += 32) {
      const int64_t cell = begin + lane;
      Range mine = {0, 0};
      if (cell < static_cast<int64_t>(cells)) {
        mine = ranges[BucketOf(l, static_cast<int64_t>(area.x1) + cell % columns,
                               static_cast<int64_t>(area.y1) + cell / columns)];
      }
      SearchCells(mine, after, limit, visit);
    }
  }
}

template <class Visit>
__device__ bool BoxGrid::SearchAlone(const float4& query, double least_area, int32_t limit,
                                     const Visit& visit) const {
  constexpr double kMostCells = 16;
  constexpr uint32_t kMostBoxes = 64;  // of a cell
  for (const int* used = used_levels; *used >= 0; ++used) {
    const int l = *used;
    if (l == kHuge) return false;
    if (AreSmaller(l, least_area)) continue;
    const Area area = AreaOf(l, levels[l], query);
    if (area.Empty()) continue;
    if (area.Cells() > kMostCells) return false;
    const auto x1 = static_cast<int64_t>(area.x1), x2 = static_cast<int64_t>(area.x2);
    const auto y1 = static_cast<int64_t>(area.y1), y2 = static_cast<int64_t>(area.y2);
    for (int64_t y = y1; y <= y2; ++y) {
      for (int64_t x = x1; x <= x2; ++x) {
        const Range range = ranges[BucketOf(l, x, y)];
        // Loads don't wait for each other.
        constexpr uint32_t kAtOnce = 4;
        int32_t box[kAtOnce] = {};
        float4 bounds[kAtOnce];
        for (uint32_t slot = range.begin; slot < range.end && box[kAtOnce - 1] < limit;
             slot += kAtOnce) {
          if (slot - range.begin >= kMostBoxes) return false;
#pragma unroll
          for (uint32_t i = 0; i < kAtOnce; ++i) {
            const uint32_t at = min(slot + i, range.end - 1);
            box[i] = slot + i < range.end ? slot_box[at] : INT32_MAX;
            bounds[i] = slot_bounds[at];
          }
#pragma unroll
          for (uint32_t i = 0; i < kAtOnce; ++i) {
            if (box[i] < limit && !visit(box[i], bounds[i])) return false;
          }
        }
      }
    }
  }
  return true;
}

}  // namespace detops::cuda
