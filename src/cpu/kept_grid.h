// SPDX-License-Identifier: Apache-2.0
//
// The boxes that suppression has kept so far, by place, for the question "which of them may overlap
// this one?". Boxes go by their size into levels of square cells (sides of powers of 4), so that
// sizes and places over any number of decades cost no more than even ones; cells are hashed, so
// the plane has no ends. Memory is O(boxes).
#pragma once

#include <cmath>
#include <cstdint>

#include "core/workspace.h"

namespace detops::cpu {

struct Bounds {
  float x1, y1, x2, y2;  // x1 > x2: overlaps nothing, and is never inserted

  bool Overlaps(const Bounds& o) const {
    return (x1 < o.x2) & (o.x1 < x2) & (y1 < o.y2) & (o.y1 < y2);
  }
};

class KeptGrid {
 public:
  KeptGrid(core::WorkspaceLayout& layout, int64_t capacity);

  // Makes room for these boxes, of which any may be inserted later, in any order. Both sides of
  // each are more than 0.
  void Reserve(const Bounds* boxes, int64_t count);
  void Insert(int64_t box);

  // Calls visit(box) for every inserted box that overlaps `query`, until it returns true; whether
  // it did. Adds to `looks` the cells and boxes it looked at. May be called from several threads
  // while nothing is inserted.
  template <class Visit>
  bool Any(const Bounds& query, int64_t& looks, const Visit& visit) const;

 private:
  static constexpr int kMaxLevels = 160;  // powers of 4 between the smallest and the largest float
  static constexpr int kHuge = kMaxLevels - 1;  // for bounds that are not finite: one list
  struct Level {
    double per_side;                      // 1 / side of a cell, a power of 4
    double x_low, x_high, y_low, y_high;  // cells that its boxes lie in
    int32_t inserted;                     // how many
    int32_t newest;                       // the head of the list through next_, or -1
  };
  struct Bucket {
    uint32_t begin, count;  // of its inserted boxes in slots_
  };
  struct Slot {
    Bounds bounds;
    int32_t box;
  };

  static int LevelOf(const Bounds& b);
  uint32_t BucketOf(int level, int64_t x, int64_t y) const;
  uint32_t BucketOf(int level, const Bounds& b) const;
  template <class Visit>
  bool AnyInList(const Level& level, const Bounds& query, int64_t& looks, const Visit& visit) const;

  const Bounds* boxes_ = nullptr;
  int64_t bucket_capacity_;
  uint32_t bucket_mask_ = 0;
  Bucket* buckets_;      // [mask + 1]
  Slot* slots_;          // [capacity]
  uint32_t* bucket_of_;  // [capacity]
  uint8_t* level_of_;    // [capacity]
  int32_t* next_;        // [capacity] of the same level
  Level* levels_;        // [kMaxLevels]
  int used_levels_[kMaxLevels];
  int used_level_count_ = 0;
};

inline uint32_t KeptGrid::BucketOf(int level, int64_t x, int64_t y) const {
  // Four neighbours along x share a cache line.
  uint64_t h = static_cast<uint64_t>(x >> 2) * 0x9e3779b97f4a7c15u ^
               static_cast<uint64_t>(y) * 0xc2b2ae3d27d4eb4fu ^
               static_cast<uint64_t>(level) * 0x165667b19e3779f9u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  return static_cast<uint32_t>((h << 2) | static_cast<uint64_t>(x & 3)) & bucket_mask_;
}

template <class Visit>
bool KeptGrid::AnyInList(const Level& level, const Bounds& query, int64_t& looks,
                         const Visit& visit) const {
  for (int32_t box = level.newest; box >= 0; box = next_[box]) {
    ++looks;
    if (boxes_[box].Overlaps(query) && visit(box)) return true;
  }
  return false;
}

template <class Visit>
bool KeptGrid::Any(const Bounds& query, int64_t& looks, const Visit& visit) const {
  for (int i = 0; i < used_level_count_; ++i) {
    const int level_index = used_levels_[i];
    const Level& level = levels_[level_index];
    if (level.inserted == 0) continue;
    // A box of this level is at most a side long, so its centre lies within half a side.
    constexpr double kReach = 0.5 + 1e-6;  // with more than all the rounding here
    const double x1 = std::fmax(std::floor(query.x1 * level.per_side - kReach), level.x_low);
    const double x2 = std::fmin(std::floor(query.x2 * level.per_side + kReach), level.x_high);
    const double y1 = std::fmax(std::floor(query.y1 * level.per_side - kReach), level.y_low);
    const double y2 = std::fmin(std::floor(query.y2 * level.per_side + kReach), level.y_high);
    if (level_index != kHuge && !(x1 <= x2 && y1 <= y2)) continue;
    // Where there are fewer boxes than cells to look into, all of them are looked at.
    if (level_index == kHuge || (x2 - x1 + 1) * (y2 - y1 + 1) > level.inserted) {
      if (AnyInList(level, query, looks, visit)) return true;
      continue;
    }
    for (auto y = static_cast<int64_t>(y1); y <= static_cast<int64_t>(y2); ++y) {
      for (auto x = static_cast<int64_t>(x1); x <= static_cast<int64_t>(x2); ++x) {
        const Bucket bucket = buckets_[BucketOf(level_index, x, y)];
        const Slot* slot = slots_ + bucket.begin;
        looks += 1 + bucket.count;
        for (uint32_t n = 0; n < bucket.count; ++n, ++slot) {
          if (slot->bounds.Overlaps(query) && visit(slot->box)) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace detops::cpu
