// SPDX-License-Identifier: Apache-2.0
#include "cpu/suppression/box_cells.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

namespace detops::cpu {
namespace {

constexpr int64_t kGrain = 1024;
constexpr int64_t kVectorRoom = 16;
// Up to this many boxes, scattered writes by one thread are faster than by several, which would
// pass cache lines back and forth.
constexpr int64_t kFewBoxes = 16384;
// The most cells per box where cells are not hashed: most of them are empty, and all are cleared
// and counted.
constexpr double kCellsPerBox = 4.0;
// Boxes are sparse where no cell has more than this many and cells with boxes have at most that
// many on average. In larger clusters most boxes are suppressed, and comparing with the kept ones
// alone is cheaper.
constexpr uint32_t kMostInSparseCell = 16;
constexpr int64_t kMeanInSparseCell = 4;
constexpr double kInf = std::numeric_limits<double>::infinity();

// The number of cells where blocks are hashed. Never more than boxes. About half as many: evenly
// spread boxes, one per cell, then share cells in pairs.
uint32_t HashedCells(int64_t boxes) {
  return std::bit_ceil(static_cast<uint32_t>(std::max<int64_t>(boxes / 2, 1)));
}

}  // namespace

BoxCells::BoxCells(core::WorkspaceLayout& layout, int64_t capacity)
    : cells_(layout.Array<Cell>(capacity + 1)),
      used_cells_(layout.Array<uint32_t>(capacity)),
      cell_of_(layout.Array<uint32_t>(capacity)),
      slot_in_cell_(layout.Array<uint32_t>(capacity)),
      x1_(layout.Array<float>(capacity + kVectorRoom)),
      y1_(layout.Array<float>(capacity + kVectorRoom)),
      x2_(layout.Array<float>(capacity + kVectorRoom)),
      y2_(layout.Array<float>(capacity + kVectorRoom)),
      box_at_(layout.Array<uint32_t>(capacity + kVectorRoom)),
      capacity_(capacity) {}

BoxCells::Level::Level(int number)
    : per_side(number == kHuge ? 0.0 : math::BoxLevelPerSide(number)),
      cell_area(1.0 / per_side / per_side),
      x_low(kInf),
      x_high(-kInf),
      y_low(kInf),
      y_high(-kInf),
      x_reach(0),
      y_reach(0),
      boxes(0),
      first_cell(0),
      cells(0),
      blocks_across(0),
      first_used(0),
      end_used(0) {}

BoxCells::Point BoxCells::Level::CentreOf(const Bounds& b) const {
  if (Huge()) return {0.0, 0.0};
  return {0.5 * (static_cast<double>(b.x1) + b.x2) * per_side,
          0.5 * (static_cast<double>(b.y1) + b.y2) * per_side};
}

void BoxCells::Level::Add(const Bounds& b) {
  const Point centre = CentreOf(b);
  x_low = std::min(x_low, centre.x);
  y_low = std::min(y_low, centre.y);
  x_high = std::max(x_high, centre.x);
  y_high = std::max(y_high, centre.y);
  x_reach = std::max(x_reach, 0.5 * (static_cast<double>(b.x2) - b.x1) * per_side);
  y_reach = std::max(y_reach, 0.5 * (static_cast<double>(b.y2) - b.y1) * per_side);
  ++boxes;
}

void BoxCells::Level::Add(const Level& other) {
  const double sides = Huge() ? 1.0 : per_side / other.per_side;
  x_low = std::min(x_low, sides * other.x_low);
  y_low = std::min(y_low, sides * other.y_low);
  x_high = std::max(x_high, sides * other.x_high);
  y_high = std::max(y_high, sides * other.y_high);
  x_reach = std::max(x_reach, sides * other.x_reach);
  y_reach = std::max(y_reach, sides * other.y_reach);
  boxes += other.boxes;
}

void BoxCells::Measure(const Bounds* boxes, int64_t count, runtime::Threads& threads) {
  static const std::array<Level, kLevels> empty = [] {
    std::array<Level, kLevels> levels;
    for (int i = 0; i < kLevels; ++i) levels[i] = Level(i);
    return levels;
  }();
  Level all[kLevels];
  std::copy(empty.begin(), empty.end(), all);
  std::mutex adding;
  threads.For(count, kGrain, [&](int64_t begin, int64_t end) {
    Level part[kLevels];
    std::copy(empty.begin(), empty.end(), part);
    for (int64_t i = begin; i < end; ++i) {
      if (boxes[i].x1 > boxes[i].x2) continue;
      part[LevelOf(boxes[i])].Add(boxes[i]);
    }
    const std::lock_guard lock(adding);
    for (int i = 0; i < kLevels; ++i) {
      if (part[i].boxes == 0) continue;  // the sum may be in another thread's cache
      all[i].Add(part[i]);
    }
  });
  Arrange(all);
}

void BoxCells::Arrange(Level* levels) {
  // A level with fewer boxes than the level above is merged into it: visiting one set of cells
  // costs less. Boxes move up only one level, or many small boxes would share a large cell.
  bool moved[kLevels] = {};
  for (int i = kHuge - 2; i >= 0; --i) {
    const Level& l = levels[i];
    moved[i] = l.boxes > 0 && l.boxes < levels[i + 1].boxes && !moved[i + 1];
    if (moved[i]) levels[i + 1].Add(l);
  }
  level_count_ = 0;
  cell_count_ = 0;
  // The cells left over when all levels are hashed.
  auto room = static_cast<double>(capacity_);
  for (int i = 0; i < kLevels; ++i) {
    if (levels[i].boxes > 0 && !moved[i]) room -= HashedCells(levels[i].boxes);
  }
  int64_t placed = 0;
  double spanned = 0;
  for (int i = kHuge; i >= 0; --i) {  // large boxes first: they overlap the most
    if (moved[i]) level_at_[i] = level_at_[i + 1];
    if (moved[i] || levels[i].boxes == 0) continue;
    level_at_[i] = static_cast<uint8_t>(level_count_);
    Level& level = levels_[level_count_++] = levels[i];
    level.first_cell = static_cast<uint32_t>(cell_count_);
    level.cells = HashedCells(level.boxes);
    const double width = level.x_high - level.x_low, height = level.y_high - level.y_low;
    const double across = std::floor(width / kBlockSide) + 1;
    const double down = std::floor(height / kBlockSide) + 1;
    const double wanted = across * down * kBlockCells;
    if (wanted <= level.cells || (wanted - level.cells <= room &&
                                  wanted <= kCellsPerBox * static_cast<double>(level.boxes))) {
      room -= std::max(wanted - level.cells, 0.0);
      level.cells = static_cast<uint32_t>(wanted);
      level.blocks_across = static_cast<uint32_t>(across);
    }
    cell_count_ += level.cells;
    placed += level.boxes;
    spanned += (width + 1) * (height + 1);
  }
  density_ = placed > 0 ? static_cast<double>(placed) / spanned : 0;
}

void BoxCells::Place(const Bounds* boxes, int64_t count, runtime::Threads& threads) {
  std::fill_n(cells_, cell_count_ + 1, Cell{0, 0});
  threads.For(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      cell_of_[i] = kNoCell;
      if (boxes[i].x1 > boxes[i].x2) continue;
      const Level& level = levels_[level_at_[LevelOf(boxes[i])]];
      const Point centre = level.CentreOf(boxes[i]);
      cell_of_[i] = level.CellAt(static_cast<uint32_t>(centre.x - level.x_low),
                                 static_cast<uint32_t>(centre.y - level.y_low));
    }
  });
  // By one thread: atomic counters pass cache lines back and forth.
  for (int64_t i = 0; i < count; ++i) {
    if (cell_of_[i] != kNoCell) slot_in_cell_[i] = cells_[cell_of_[i]].begin++;
  }
  uint32_t sum = 0, most_in_cell = 0;
  used_ = 0;
  for (int i = 0; i < level_count_; ++i) {
    Level& level = levels_[i];
    level.first_used = static_cast<uint32_t>(used_);
    for (uint32_t cell = level.first_cell; cell < level.first_cell + level.cells; ++cell) {
      const uint32_t boxes_here = cells_[cell].begin;
      cells_[cell].begin = sum;
      sum += boxes_here;
      most_in_cell = std::max(most_in_cell, boxes_here);
      used_cells_[used_] = cell;
      used_ += boxes_here > 0 ? 1 : 0;
    }
    level.end_used = static_cast<uint32_t>(used_);
  }
  cells_[cell_count_].begin = sum;
  sparse_ = most_in_cell <= kMostInSparseCell && sum <= kMeanInSparseCell * used_;
  threads.For(count, count <= kFewBoxes ? count : kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (cell_of_[i] == kNoCell) continue;
      box_at_[cells_[cell_of_[i]].begin + slot_in_cell_[i]] = static_cast<uint32_t>(i);
    }
  });
}

void BoxCells::InsertAll(const Bounds* boxes, runtime::Threads& threads) {
  threads.For(cells_[cell_count_].begin, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      PutAt(static_cast<uint32_t>(i), boxes[box_at_[i]], box_at_[i]);
    }
  });
}

}  // namespace detops::cpu
