// SPDX-License-Identifier: Apache-2.0
#include "ops/points_in_boxes/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/points_in_boxes/footprint.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kGrain = 128;  // the least number of boxes per thread
constexpr int64_t kMostBands = 64;

// Of the footprint.
struct Corners {
  double x[4], y[4];
};
Corners CornersOf(const FlatBox& box) {
  const Footprint b(box);
  // local = (dx*c - dy*s, dx*s + dy*c), so the axes in the world are (c,-s) and (s,c).
  const double ux = b.reach_x * b.cos, uy = -b.reach_x * b.sin;
  const double vx = b.reach_y * b.sin, vy = b.reach_y * b.cos;
  return {{b.x + ux + vx, b.x - ux + vx, b.x - ux - vx, b.x + ux - vx},
          {b.y + uy + vy, b.y - uy + vy, b.y - uy - vy, b.y + uy - vy}};
}

}  // namespace

FlatBox Flatten(const float* box) {
  const math::Box3d b = math::PrepareBox3d(box);
  return {b.cx,
          b.cy,
          b.cz,
          b.cos,
          b.sin,
          math::FloatBelow(b.reach_x),
          math::FloatBelow(b.reach_y),
          math::FloatAtMost(b.reach_z)};
}

int32_t Axis::Cell(float x) const {
  const float t = (x - origin) * scale + 1.0f;
  // NaN, which inf * 0 gives on an axis of one cell, goes to the first cell.
  return t > 0.0f ? static_cast<int32_t>(std::min(t, static_cast<float>(cells - 1))) : 0;
}

// The three roundings in Cell() move an end by less than 3 units of 2^-24, relative to the distance
// from the origin and to the cell's number.
double Axis::Low(int32_t cell) const {
  if (cell == 0) return -std::numeric_limits<double>::infinity();
  const double distance = (cell - 1) / static_cast<double>(scale);
  return origin + distance - 4e-7 * (distance + 1.0 / scale) - 1e-7 * std::abs(origin);
}
double Axis::High(int32_t cell) const {
  if (cell == cells - 1) return std::numeric_limits<double>::infinity();
  const double distance = cell / static_cast<double>(scale);
  return origin + distance + 4e-7 * (distance + 1.0 / scale) + 1e-7 * std::abs(origin);
}

Grid::Grid(core::WorkspaceLayout& layout, int64_t points, int64_t boxes)
    : tree_(layout, points, boxes) {
  max_cells_ = std::clamp<int64_t>(std::max(points / 16, 4 * boxes), 64, 1 << 20);
  // Places are 32 bits wide. There is room for all boxes in one cell, which is the fallback.
  const int64_t most = std::numeric_limits<int32_t>::max();
  max_entries_ = std::min(std::max(core::CheckedMul(64, boxes, "boxes"), 4 * max_cells_), most);
  max_tree_entries_ = std::min(core::CheckedMul(16, boxes, "boxes"), most - max_entries_);
  max_spans_ = std::max(max_entries_ / 2, boxes);
  bounds_ = layout.Array<Bounds>(boxes);
  scratch_ = layout.Array<float>(boxes);
  // At most max_cells_, or 1022 in one row, and a border around them.
  heads_ = layout.Array<Place>(max_cells_ + 4 * 1024);
  lists_ = layout.Array<int32_t>(max_entries_ + max_tree_entries_);
  spans_ = layout.Array<Span>(max_spans_);
  span_ends_ = layout.Array<int64_t>(boxes);
}

void Grid::Build(const FlatBox* boxes, int64_t count, const float* points, int64_t point_count,
                 runtime::Threads& threads) {
  threads.For(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) bounds_[i] = math::BoundsOf(boxes[i]);
  });
  FindExtent(count);
  work_ = 0;
  int64_t cells = max_cells_;
  do {
    PlaceCells(cells);
    cells /= 4;
  } while (!FillLists(boxes, count, threads));
  tree_.Clear(lists_, 0, 0);
  if (long_entries_ > 0) SplitLongLists(boxes, count, points, point_count);
}

// The cells cover the boxes as if none were larger than 4 medians, and none as far from the middle
// ones, which are 15 of 16, as these extend: neither a few giants nor a few outliers make the cells
// large. Whatever lies beyond belongs to the outer cells.
void Grid::FindExtent(int64_t count) {
  int64_t sizes = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Bounds& b = bounds_[i];
    if (!b.Empty()) scratch_[sizes++] = std::max(b.high[0] - b.low[0], b.high[1] - b.low[1]);
  }
  const float most = sizes == 0 ? 0.0f : 2.0f * Nth(sizes / 2, sizes);
  for (int axis = 0; axis < 2; ++axis) {
    extent_.low[axis] = kInf;
    extent_.high[axis] = -kInf;
    int64_t centres = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Bounds& b = bounds_[i];
      const float half = 0.5f * (b.high[axis] - b.low[axis]);
      if (b.Empty() || !std::isfinite(half)) continue;
      const float centre = b.low[axis] + half;
      extent_.low[axis] = std::min(extent_.low[axis], centre - std::min(half, most));
      extent_.high[axis] = std::max(extent_.high[axis], centre + std::min(half, most));
      scratch_[centres++] = centre;
    }
    if (centres == 0) continue;
    const float first = Nth(centres / 32, centres), last = Nth(centres - 1 - centres / 32, centres);
    const float beyond = (last - first) + most;
    extent_.low[axis] = std::max(extent_.low[axis], first - beyond);
    extent_.high[axis] = std::min(extent_.high[axis], last + beyond);
  }
}

float Grid::Nth(int64_t n, int64_t count) {
  std::nth_element(scratch_, scratch_ + n, scratch_ + count);
  return scratch_[n];
}

void Grid::PlaceCells(int64_t cells) {
  x_ = y_ = Axis{};
  const double width = static_cast<double>(extent_.high[0]) - extent_.low[0];
  const double height = static_cast<double>(extent_.high[1]) - extent_.low[1];
  // Square cells, as far as 1024 per axis allow, including two for whatever lies outside.
  const double side = std::sqrt(width * height / static_cast<double>(cells));
  if (!(side > 0.0) || !std::isfinite(side) || cells < 16) return;  // one cell for all
  const auto place = [&](double length, float origin, Axis& axis) {
    if (length > 1e38) return;  // Cell() must not overflow within the inner cells
    const double inner = std::clamp(std::floor(length / side), 1.0, 1022.0);
    const auto scale = static_cast<float>(inner / length);
    if (!std::isfinite(scale) || scale < std::numeric_limits<float>::min()) return;
    axis.cells = static_cast<int32_t>(inner) + 2;
    axis.origin = origin;
    axis.scale = scale;
  };
  place(width, extent_.low[0], x_);
  place(height, extent_.low[1], y_);
}

int64_t Grid::RowsOf(const Bounds& bounds) const {
  if (bounds.Empty()) return 0;
  return int64_t{y_.Cell(bounds.high[1])} - y_.Cell(bounds.low[1]) + 1;
}

// For each row of cells: the horizontal extent of the part of the rotated rectangle within the row.
void Grid::FindSpans(const FlatBox& box, const Bounds& bounds, Span* spans) const {
  if (bounds.Empty()) return;
  const int32_t y1 = y_.Cell(bounds.low[1]), y2 = y_.Cell(bounds.high[1]);
  const int32_t x1 = x_.Cell(bounds.low[0]), x2 = x_.Cell(bounds.high[0]);
  const bool whole = y1 == y2 || x1 == x2 || !std::isfinite(bounds.high[0] - bounds.low[0]) ||
                     !std::isfinite(bounds.high[1] - bounds.low[1]);
  const Corners c = CornersOf(box);
  for (int32_t y = y1; y <= y2; ++y) {
    int32_t first = x1, last = x2;
    if (!whole) {
      const double low = y_.Low(y), high = y_.High(y);
      double left = kInf, right = -kInf;
      const auto include = [&](double x) {
        left = std::min(left, x);
        right = std::max(right, x);
      };
      for (int i = 0; i < 4; ++i) {
        const double ax = c.x[i], ay = c.y[i], bx = c.x[(i + 1) % 4], by = c.y[(i + 1) % 4];
        if (ay >= low && ay <= high) include(ax);
        for (double level : {low, high}) {
          if ((ay < level) != (by < level)) include(ax + (bx - ax) * ((level - ay) / (by - ay)));
        }
      }
      if (left > right) {
        last = first - 1;  // the rounded bounds touch a row that the box itself does not
      } else {
        first = std::max(first, x_.Cell(RoundDown(left)));
        last = std::min(last, x_.Cell(RoundUp(right)));
      }
    }
    *spans++ = {y * x_.cells + first, y * x_.cells + last + 1};
  }
}

// False when the lists would not fit. The work is in proportion to the cells that boxes touch: the
// others, which are most, are only cleared. Bands of rows are independent, one per thread.
bool Grid::FillLists(const FlatBox* boxes, int64_t count, runtime::Threads& threads) {
  int64_t spans = 0;
  for (int64_t i = 0; i < count; ++i) {
    spans += RowsOf(bounds_[i]);
    if (spans > max_spans_) return false;
    span_ends_[i] = spans;
  }
  work_ += spans + int64_t{x_.cells} * y_.cells;
  threads.For(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) FindSpans(boxes[i], bounds_[i], spans_ + FirstSpan(i));
  });

  std::array<Band, kMostBands> bands;
  const int64_t band_count =
      count <= kGrain ? 1 : std::min<int64_t>({threads.count(), kMostBands, y_.cells});
  for (int64_t i = 0; i < band_count; ++i) {
    const auto row = [&](int64_t band) { return y_.cells * band / band_count; };
    bands[i] = {static_cast<int32_t>(row(i) * x_.cells),
                static_cast<int32_t>(row(i + 1) * x_.cells)};
  }
  threads.For(band_count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) CountEntries(spans, bands[i]);
  });
  int64_t entries = 0;
  for (int64_t i = 0; i < band_count; ++i) {
    bands[i].first_entry = static_cast<int32_t>(entries);
    entries += bands[i].entries;
    work_ += bands[i].entries;
    if (entries > max_entries_) return false;
  }
  threads.For(band_count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) FillListsOf(bands[i], count);
  });
  entries_ = entries;
  long_entries_ = long_lists_ = 0;
  for (int64_t i = 0; i < band_count; ++i) {
    long_entries_ += bands[i].long_entries;
    long_lists_ += bands[i].long_lists;
  }
  return true;
}

// Leaves -1 - the length of its list in the head of each cell, unless that is more than fits.
void Grid::CountEntries(int64_t spans, Band& band) {
  std::fill(heads_ + band.begin, heads_ + band.end, -1);
  for (int64_t i = 0; i < spans; ++i) {
    const Span& span = spans_[i];
    if (span.begin >= span.end || span.begin < band.begin || span.begin >= band.end) continue;
    band.entries += span.end - span.begin;
    if (band.entries > max_entries_) return;
    for (int32_t cell = span.begin; cell < span.end; ++cell) --heads_[cell];
  }
}

// From the last box to the first, so that lists ascend; the last box of a cell reserves room for
// all of them.
void Grid::FillListsOf(Band& band, int64_t count) {
  int32_t used = band.first_entry;
  for (int64_t i = count - 1; i >= 0; --i) {
    const auto box = static_cast<int32_t>(i);
    for (int64_t j = FirstSpan(i); j < span_ends_[i]; ++j) {
      const Span& span = spans_[j];
      if (span.begin < band.begin || span.begin >= band.end) continue;
      for (int32_t cell = span.begin; cell < span.end; ++cell) {
        int32_t& head = heads_[cell];
        if (head >= 0) {
          lists_[--head] = box;
        } else {
          const int32_t length = -1 - head;
          if (length > Tree::kShort) {
            band.long_entries += length;
            ++band.long_lists;
          }
          used += length;
          head = used - 1;
          lists_[head] = ~box;
        }
      }
    }
  }
}

}  // namespace detops::ops::points_in_boxes
