// SPDX-License-Identifier: Apache-2.0
#include "ops/points_in_boxes/grid.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace detops::ops::points_in_boxes {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
// Above this mean list length, cells at quantiles are tried.
constexpr double kLongLists = 8.0;
constexpr int64_t kGrain = 128;  // the least number of boxes per thread
constexpr int64_t kMostBands = 64;

float RoundDown(double v) {
  return std::isnan(v) ? -kInf : std::nextafterf(static_cast<float>(v), -kInf);
}
float RoundUp(double v) {
  return std::isnan(v) ? kInf : std::nextafterf(static_cast<float>(v), kInf);
}

bool HoldsNothing(const FlatBox& b) {
  // Written so that NaN anywhere counts; a centre at infinity is infinitely far from any point.
  return !(b.reach_x >= 0.0f && b.reach_y >= 0.0f && b.reach_z >= 0.0f) || std::isnan(b.cos) ||
         !std::isfinite(b.cx) || !std::isfinite(b.cy) || std::isnan(b.cz);
}

// The four corners, slightly enlarged. A point that passes the float test lies within 10 rounding
// errors of the true box, relative to its size.
struct Corners {
  double x[4], y[4];
};
Corners CornersOf(const FlatBox& b) {
  const double slack = 2e-6 * (static_cast<double>(b.reach_x) + b.reach_y) + 1e-37;
  const double rx = b.reach_x + slack, ry = b.reach_y + slack;
  // local = (dx*c - dy*s, dx*s + dy*c), so the axes in the world are (c,-s) and (s,c).
  const double ux = rx * b.cos, uy = -rx * b.sin, vx = ry * b.sin, vy = ry * b.cos;
  const double cx = b.cx, cy = b.cy;
  return {{cx + ux + vx, cx - ux + vx, cx - ux - vx, cx + ux - vx},
          {cy + uy + vy, cy - uy + vy, cy - uy - vy, cy + uy - vy}};
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
  if (splits == nullptr) {
    const float t = (x - origin) * scale + 1.0f;
    // NaN, which inf * 0 gives on an axis of one cell, goes to the first cell.
    return t > 0.0f ? static_cast<int32_t>(std::min(t, static_cast<float>(cells - 1))) : 0;
  }
  int32_t cell = 0;  // how many splits are at most x
  for (int32_t step = 1 << search_steps >> 1; step > 0; step >>= 1) {
    if (splits[cell + step - 1] <= x) cell += step;
  }
  return cell;
}

// Uniform cells: the three roundings in Cell() move an end by less than 3 units of 2^-24, relative
// to the distance from the origin and to the cell's number.
double Axis::Low(int32_t cell) const {
  if (cell == 0) return -std::numeric_limits<double>::infinity();
  if (splits != nullptr) return splits[cell - 1];
  const double distance = (cell - 1) / static_cast<double>(scale);
  return origin + distance - 4e-7 * (distance + 1.0 / scale) - 1e-7 * std::abs(origin);
}
double Axis::High(int32_t cell) const {
  if (cell == cells - 1) return std::numeric_limits<double>::infinity();
  if (splits != nullptr) return splits[cell];
  const double distance = cell / static_cast<double>(scale);
  return origin + distance + 4e-7 * (distance + 1.0 / scale) + 1e-7 * std::abs(origin);
}

Grid::Grid(core::WorkspaceLayout& layout, int64_t points, int64_t boxes) {
  max_cells_ = std::clamp<int64_t>(std::max(points / 16, 4 * boxes), 64, 1 << 20);
  // Heads are 32 bits wide. There is room for all boxes in one cell, which is the fallback.
  max_entries_ = std::min<int64_t>(std::max(core::CheckedMul(64, boxes, "boxes"), 4 * max_cells_),
                                   std::numeric_limits<int32_t>::max());
  max_spans_ = std::max(max_entries_ / 2, boxes);
  max_splits_ = std::bit_ceil(static_cast<uint64_t>(
      std::clamp<int64_t>(static_cast<int64_t>(2 * std::sqrt(boxes)), 16, 1024)));
  bounds_ = layout.Array<Bounds>(boxes);
  splits_[0] = layout.Array<float>(max_splits_);
  splits_[1] = layout.Array<float>(max_splits_);
  ends_ = layout.Array<float>(core::CheckedMul(2, boxes, "boxes"));
  // Uniform cells are at most max_cells_, or 1022 in one row, and a border around them.
  const int64_t uniform_cells = max_cells_ + 4 * 1024;
  heads_ = layout.Array<int32_t>(std::max(uniform_cells, max_splits_ * max_splits_));
  lists_ = layout.Array<int32_t>(max_entries_);
  spans_ = layout.Array<Span>(max_spans_);
  span_ends_ = layout.Array<int64_t>(boxes);
}

void Grid::Build(const FlatBox* boxes, int64_t count, runtime::Threads& threads) {
  threads.For(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) bounds_[i] = BoundsOf(boxes[i]);
  });
  FillUniformly(boxes, count, threads);
  const double uniform = mean_list_length_;
  if (uniform <= kLongLists) return;
  PlaceAtQuantiles(count);
  if (FillLists(boxes, count, threads) && mean_list_length_ < uniform) return;
  FillUniformly(boxes, count, threads);
}

Grid::Bounds Grid::BoundsOf(const FlatBox& box) {
  if (HoldsNothing(box)) return {1, 1, 0, 0};
  const Corners c = CornersOf(box);
  return {RoundDown(*std::min_element(c.x, c.x + 4)), RoundDown(*std::min_element(c.y, c.y + 4)),
          RoundUp(*std::max_element(c.x, c.x + 4)), RoundUp(*std::max_element(c.y, c.y + 4))};
}

void Grid::FillUniformly(const FlatBox* boxes, int64_t count, runtime::Threads& threads) {
  int64_t cells = max_cells_;
  do {
    PlaceUniformly(count, cells);
    cells /= 4;
  } while (!FillLists(boxes, count, threads));
}

void Grid::PlaceUniformly(int64_t count, int64_t cells) {
  // The cells cover the boxes as if none were larger than 4 medians: a few giants must not make the
  // cells large. Whatever lies beyond belongs to the outer cells.
  int64_t sizes = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Bounds& b = bounds_[i];
    if (b.x1 <= b.x2) ends_[sizes++] = std::max(b.x2 - b.x1, b.y2 - b.y1);
  }
  std::nth_element(ends_, ends_ + sizes / 2, ends_ + sizes);
  const float most = sizes == 0 ? 0.0f : 2.0f * ends_[sizes / 2];
  Bounds all = {kInf, kInf, -kInf, -kInf};
  for (int64_t i = 0; i < count; ++i) {
    const Bounds& b = bounds_[i];
    const float half_x = 0.5f * (b.x2 - b.x1), half_y = 0.5f * (b.y2 - b.y1);
    if (b.x1 > b.x2 || !std::isfinite(half_x) || !std::isfinite(half_y)) continue;
    const float x = b.x1 + half_x, y = b.y1 + half_y;
    all.x1 = std::min(all.x1, x - std::min(half_x, most));
    all.y1 = std::min(all.y1, y - std::min(half_y, most));
    all.x2 = std::max(all.x2, x + std::min(half_x, most));
    all.y2 = std::max(all.y2, y + std::min(half_y, most));
  }
  x_ = y_ = Axis{};
  const double width = static_cast<double>(all.x2) - all.x1;
  const double height = static_cast<double>(all.y2) - all.y1;
  // Square cells, as far as 1024 per axis allow, including two for whatever lies outside.
  const double side = std::sqrt(width * height / static_cast<double>(cells));
  if (!(side > 0.0) || !std::isfinite(side) || cells < 16) return;  // one cell for all
  const auto place = [&](double length, float origin, Axis& axis) {
    const double inner = std::clamp(std::floor(length / side), 1.0, 1022.0);
    const auto scale = static_cast<float>(inner / length);
    if (!std::isfinite(scale) || scale < std::numeric_limits<float>::min()) return;
    axis.cells = static_cast<int32_t>(inner) + 2;
    axis.origin = origin;
    axis.scale = scale;
  };
  place(width, all.x1, x_);
  place(height, all.y1, y_);
}

void Grid::PlaceAtQuantiles(int64_t count) {
  for (int axis = 0; axis < 2; ++axis) {
    int64_t ends = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Bounds& b = bounds_[i];
      if (b.x1 > b.x2) continue;
      ends_[ends++] = axis == 0 ? b.x1 : b.y1;
      ends_[ends++] = axis == 0 ? b.x2 : b.y2;
    }
    std::sort(ends_, ends_ + ends);
    const int64_t splits = max_splits_ - 1;
    for (int64_t i = 0; i < splits; ++i) {
      splits_[axis][i] = ends_[std::min((i + 1) * ends / (splits + 1), ends - 1)];
    }
    Axis& placed = axis == 0 ? x_ : y_;
    placed = Axis{};
    placed.cells = static_cast<int32_t>(max_splits_);
    placed.splits = splits_[axis];
    placed.search_steps = std::countr_zero(static_cast<uint64_t>(max_splits_));
  }
}

int64_t Grid::RowsOf(const Bounds& bounds) const {
  return bounds.x1 > bounds.x2 ? 0 : int64_t{y_.Cell(bounds.y2)} - y_.Cell(bounds.y1) + 1;
}

// For each row of cells: the horizontal extent of the part of the rotated rectangle within the row.
void Grid::FindSpans(const FlatBox& box, const Bounds& bounds, Span* spans) const {
  if (bounds.x1 > bounds.x2) return;
  const int32_t y1 = y_.Cell(bounds.y1), y2 = y_.Cell(bounds.y2);
  const int32_t x1 = x_.Cell(bounds.x1), x2 = x_.Cell(bounds.x2);
  const bool whole = y1 == y2 || x1 == x2 || !std::isfinite(bounds.x2 - bounds.x1) ||
                     !std::isfinite(bounds.y2 - bounds.y1);
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
    if (entries > max_entries_) return false;
  }
  threads.For(band_count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) FillListsOf(bands[i], count);
  });
  double squares = 0.0;
  for (int64_t i = 0; i < band_count; ++i) squares += bands[i].squares;
  mean_list_length_ = entries == 0 ? 0.0 : squares / static_cast<double>(entries);
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
          band.squares += static_cast<double>(length) * length;
          used += length;
          head = used - 1;
          lists_[head] = ~box;
        }
      }
    }
  }
}

}  // namespace detops::ops::points_in_boxes
