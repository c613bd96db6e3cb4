// SPDX-License-Identifier: Apache-2.0
//
// Boxes binned into a grid of cells. Each cell holds the boxes that suppression has kept so far, or
// all of its boxes, to answer "which of them may overlap this one?". A box lies in the cell of its
// centre. Boxes are assigned by size to levels of square cells (sides are powers of 4), so that
// sizes and positions over any number of decades cost no more than uniform ones. Cells are numbered
// in blocks of 16 x 16, so neighbours are close in memory. Where a level has many more blocks than
// boxes to fill them, or there is no memory for all of them, blocks are hashed, and cells that
// collide are merged. Memory is O(boxes).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/workspace.h"
#include "math/box_level.h"
#include "math/quad.h"
#include "runtime/cpu/threads.h"

namespace detops::cpu {

using Bounds = math::QuadBounds;  // x1 > x2: overlaps nothing, and has no cell

class BoxCells {
 public:
  static constexpr uint32_t kNoCell = ~uint32_t{0};
  // Boxes as a structure of arrays, for comparisons in vectors.
  struct Boxes {
    const float *x1, *y1, *x2, *y2;  // [count], and readable to the end of the last vector
    const uint32_t* box;             // the same
    uint32_t count;
  };

  BoxCells(core::WorkspaceLayout& layout, int64_t capacity);

  // Finds the sizes and extents of the boxes. Both sides of each are more than 0.
  void Measure(const Bounds* boxes, int64_t count, runtime::Threads& threads);
  // Boxes per cell of the area that they span.
  double Density() const { return density_; }
  // Finds the cell of each measured box. No box is kept yet.
  void Place(const Bounds* boxes, int64_t count, runtime::Threads& threads);

  uint32_t CellOf(int64_t box) const { return cell_of_[box]; }
  // Whether each cell has so few boxes that a box may be compared with all of them, kept or not.
  bool Sparse() const { return sparse_; }
  // The boxes in the order of cells: where a cell begins and ends and, until a box is kept, which
  // box is in which slot.
  uint32_t Begin(uint32_t cell) const { return cells_[cell].begin; }
  uint32_t End(uint32_t cell) const { return cells_[cell + 1].begin; }
  uint32_t BoxAt(int64_t slot) const { return box_at_[slot]; }
  // The cells that have boxes, in ascending order.
  int64_t used() const { return used_; }
  uint32_t Used(int64_t i) const { return used_cells_[i]; }
  int64_t cells() const { return cell_count_; }

  // Called by one thread per cell. Other threads may read the cell at the same time, with or
  // without the new box.
  void Keep(uint32_t cell, const Bounds& bounds, uint32_t box);
  Boxes KeptIn(uint32_t cell) const;

  // The alternative to Keep: puts all placed boxes into their cells.
  void InsertAll(const Bounds* boxes, runtime::Threads& threads);
  // The boxes of the consecutive cells from `first` to `last`.
  Boxes AllIn(uint32_t first, uint32_t last) const;

  // How far the iteration over the cells around a box has got.
  struct Walk {
    static constexpr uint32_t kStart = ~uint32_t{0};
    int32_t level = 0;
    uint32_t x = kStart, y = kStart;
  };
  // Calls visit(cell) for all cells with boxes that may overlap `query`, possibly twice for the
  // same cell, until it returns true; returns whether it did. The walk then stays at that cell and
  // can be resumed there. Boxes whose bounds have less than `least_area` may be left out.
  template <class Visit>
  bool Any(const Bounds& query, double least_area, Walk& walk, const Visit& visit) const;
  // The same by runs of consecutive cells: visit(first, last).
  template <class Visit>
  bool AnyRun(const Bounds& query, double least_area, const Visit& visit) const;

 private:
  static constexpr int kLevels = math::kBoxLevels;
  static constexpr int kHuge = math::kHugeBoxes;  // one cell
  static constexpr uint32_t kBlockSide = 16;      // in cells
  static constexpr uint32_t kBlockCells = kBlockSide * kBlockSide;
  struct Cell {
    uint32_t begin, kept;
  };
  struct Point {
    double x, y;
  };
  // Part of a level, in units of its cell side, relative to its lowest centres.
  struct Area {
    double x1, y1, x2, y2;
    bool Empty() const { return !(x1 <= x2 && y1 <= y2); }
    double Cells() const { return (x2 - x1 + 1) * (y2 - y1 + 1); }
  };
  struct Level {
    double per_side;                      // 1 / side of a cell, a power of 4
    double cell_area;                     // at least that of the bounds of its boxes
    double x_low, x_high, y_low, y_high;  // of the centres, in cell sides
    double x_reach, y_reach;  // at most, from a centre to its box's sides; in cell sides
    int64_t boxes;
    uint32_t first_cell, cells;     // a power of 2 where blocks are hashed
    uint32_t blocks_across;         // 0 where blocks are hashed
    uint32_t first_used, end_used;  // its range of the used cells

    Level() = default;
    explicit Level(int number);
    Point CentreOf(const Bounds& b) const;  // in cell sides
    void Add(const Bounds& b);
    void Add(const Level& other);
    uint32_t CellAt(uint32_t x, uint32_t y) const;
    // The area in which the centres of boxes that may overlap `query` lie.
    Area Around(const Bounds& query) const;
    // Whether fewer cells have boxes than the area has cells: then all cells with boxes are
    // visited.
    bool VisitsAll(const Area& area) const {
      return Huge() || area.Cells() > end_used - first_used;
    }
    bool Huge() const { return per_side == 0.0; }  // of bounds that are not finite: one cell
  };

  static int LevelOf(const Bounds& b) { return math::BoxLevelOf(b.x1, b.y1, b.x2, b.y2); }
  void Arrange(Level* levels);
  void PutAt(uint32_t slot, const Bounds& bounds, uint32_t box);

  Cell* cells_;             // [capacity + 1]
  uint32_t* used_cells_;    // [capacity]
  uint32_t* cell_of_;       // [capacity]
  uint32_t* slot_in_cell_;  // [capacity]
  // [capacity and a vector] bounds and indices of the boxes kept, those of a cell from its begin
  // on; before any is kept, the indices of all boxes
  float *x1_, *y1_, *x2_, *y2_;
  uint32_t* box_at_;
  const int64_t capacity_;
  int64_t cell_count_ = 0, used_ = 0;
  int level_count_ = 0;
  double density_ = 0;
  bool sparse_ = false;
  Level levels_[kLevels];      // those with boxes come first
  uint8_t level_at_[kLevels];  // index into levels_, by level number
};

inline void BoxCells::PutAt(uint32_t slot, const Bounds& bounds, uint32_t box) {
  x1_[slot] = bounds.x1;
  y1_[slot] = bounds.y1;
  x2_[slot] = bounds.x2;
  y2_[slot] = bounds.y2;
  box_at_[slot] = box;
}

inline void BoxCells::Keep(uint32_t cell, const Bounds& bounds, uint32_t box) {
  Cell& c = cells_[cell];
  PutAt(c.begin + c.kept, bounds, box);
  std::atomic_ref(c.kept).store(c.kept + 1, std::memory_order_release);
}

inline BoxCells::Boxes BoxCells::KeptIn(uint32_t cell) const {
  const uint32_t begin = cells_[cell].begin;
  const uint32_t count = std::atomic_ref(cells_[cell].kept).load(std::memory_order_acquire);
  return {x1_ + begin, y1_ + begin, x2_ + begin, y2_ + begin, box_at_ + begin, count};
}

inline BoxCells::Boxes BoxCells::AllIn(uint32_t first, uint32_t last) const {
  const uint32_t begin = Begin(first);
  return {x1_ + begin, y1_ + begin, x2_ + begin, y2_ + begin, box_at_ + begin, End(last) - begin};
}

inline uint32_t BoxCells::Level::CellAt(uint32_t x, uint32_t y) const {
  const uint32_t block_x = x / kBlockSide, block_y = y / kBlockSide;
  const uint32_t in_block = y % kBlockSide * kBlockSide + x % kBlockSide;
  if (blocks_across > 0) {
    return first_cell + (block_y * blocks_across + block_x) * kBlockCells + in_block;
  }
  uint64_t hash = block_x * 0x9e3779b97f4a7c15u ^ block_y * 0xc2b2ae3d27d4eb4fu;
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9u;
  hash >>= 32;
  // The position in the block is mixed in too. Without that, boxes at the same position of every
  // block would collide.
  const uint64_t number = hash * kBlockCells + (in_block ^ hash >> 24);
  return first_cell + (static_cast<uint32_t>(number) & (cells - 1));
}

inline BoxCells::Area BoxCells::Level::Around(const Bounds& query) const {
  constexpr double kRounding = 1e-6;  // more than all rounding errors here
  const double x = x_reach + kRounding, y = y_reach + kRounding;
  return {std::max(query.x1 * per_side - x, x_low) - x_low,
          std::max(query.y1 * per_side - y, y_low) - y_low,
          std::min(query.x2 * per_side + x, x_high) - x_low,
          std::min(query.y2 * per_side + y, y_high) - y_low};
}

template <class Visit>
bool BoxCells::Any(const Bounds& query, double least_area, Walk& walk, const Visit& visit) const {
  for (; walk.level < level_count_; walk = {walk.level + 1}) {
    const Level& level = levels_[walk.level];
    if (level.cell_area < least_area) break;  // the levels after it are smaller still
    const Area area = level.Around(query);
    if (!level.Huge() && area.Empty()) continue;
    const bool starts = walk.x == Walk::kStart;
    if (level.VisitsAll(area)) {
      for (uint32_t n = starts ? level.first_used : walk.x; n < level.end_used; ++n) {
        if (visit(used_cells_[n])) {
          walk.x = n;
          return true;
        }
      }
      continue;
    }
    const auto left = static_cast<uint32_t>(area.x1), right = static_cast<uint32_t>(area.x2);
    const auto top = static_cast<uint32_t>(area.y1), bottom = static_cast<uint32_t>(area.y2);
    uint32_t x = starts ? left : walk.x;
    for (uint32_t y = starts ? top : walk.y; y <= bottom; ++y, x = left) {
      for (; x <= right; ++x) {
        if (visit(level.CellAt(x, y))) {
          walk.x = x;
          walk.y = y;
          return true;
        }
      }
    }
  }
  return false;
}

template <class Visit>
bool BoxCells::AnyRun(const Bounds& query, double least_area, const Visit& visit) const {
  for (int i = 0; i < level_count_; ++i) {
    const Level& level = levels_[i];
    if (level.cell_area < least_area) break;
    const Area area = level.Around(query);
    if (!level.Huge() && area.Empty()) continue;
    if (level.VisitsAll(area)) {
      if (visit(level.first_cell, level.first_cell + level.cells - 1)) return true;
      continue;
    }
    const auto left = static_cast<uint32_t>(area.x1), right = static_cast<uint32_t>(area.x2);
    const auto top = static_cast<uint32_t>(area.y1), bottom = static_cast<uint32_t>(area.y2);
    for (uint32_t y = top; y <= bottom; ++y) {
      for (uint32_t x = left; x <= right; ++x) {
        const uint32_t first = level.CellAt(x, y), before = x;
        if (level.blocks_across > 0) x = std::min(right, x | (kBlockSide - 1));  // the block's row
        if (visit(first, first + (x - before))) return true;
      }
    }
  }
  return false;
}

}  // namespace detops::cpu
