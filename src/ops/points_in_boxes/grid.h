// SPDX-License-Identifier: Apache-2.0
//
// Which boxes a point may lie in: a grid over the ground plane, with the boxes that touch each
// cell. The exact test follows, so the grid may list too many boxes but must never miss one.
#pragma once

#include <cstdint>

#include "core/workspace.h"
#include "math/box3d.h"
#include "runtime/cpu/threads.h"

namespace detops::ops::points_in_boxes {

using math::FlatBox;

FlatBox Flatten(const float* box);  // [7] cx cy cz dx dy dz heading

// Cells along one axis. The first and the last extend to infinity. Cell() is monotonic in its
// argument despite rounding, so a point between a box's ends lies in a cell between theirs.
struct Axis {
  int32_t cells = 1;
  // Uniform cells: origin and 1/width of the inner ones.
  float origin = 0.0f, scale = 0.0f;
  // Otherwise, cells between these sorted values; search_steps is log2 of their number + 1.
  const float* splits = nullptr;
  int32_t search_steps = 0;

  int32_t Cell(float x) const;
  // An interval that is certain to contain every float of the cell.
  double Low(int32_t cell) const;
  double High(int32_t cell) const;
};

class Grid {
 public:
  // Lays out arrays for `boxes` boxes and `points` points, O(boxes + points).
  Grid(core::WorkspaceLayout& layout, int64_t points, int64_t boxes);

  // Uniform cells; where most boxes would lie in few of those (sizes or positions over many
  // decades), cells at quantiles of the boxes' ends.
  void Build(const FlatBox* boxes, int64_t count, runtime::Threads& threads);

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  // For cell y * x().cells + x: where its list of boxes starts, or -1. Lists ascend; the last entry
  // is ~box.
  const int32_t* heads() const { return heads_; }
  const int32_t* lists() const { return lists_; }

 private:
  struct Bounds {
    float x1, y1, x2, y2;
  };
  struct Span {
    int32_t begin, end;  // cells of one row
  };
  struct Band {
    int32_t begin, end;  // cells of some rows
    int64_t entries = 0;
    int32_t first_entry = 0;
    double squares = 0.0;  // sum of the squares of the lengths of its lists
  };
  static Bounds BoundsOf(const FlatBox& box);
  void FillUniformly(const FlatBox* boxes, int64_t count, runtime::Threads& threads);
  void PlaceUniformly(int64_t count, int64_t cells);
  void PlaceAtQuantiles(int64_t count);
  int64_t RowsOf(const Bounds& bounds) const;
  int64_t FirstSpan(int64_t box) const { return box == 0 ? 0 : span_ends_[box - 1]; }
  void FindSpans(const FlatBox& box, const Bounds& bounds, Span* spans) const;
  bool FillLists(const FlatBox* boxes, int64_t count, runtime::Threads& threads);
  void CountEntries(int64_t spans, Band& band);
  void FillListsOf(Band& band, int64_t count);

  int64_t max_cells_, max_entries_, max_spans_, max_splits_;
  Bounds* bounds_;      // [boxes]; x1 > x2 for a box that contains nothing
  float* splits_[2];    // [max_splits] for x and y
  float* ends_;         // [2 * boxes] scratch for sorting
  int32_t* heads_;      // [cells]
  int32_t* lists_;      // [max_entries]
  Span* spans_;         // [max_spans] box after box, one for each row that the box touches
  int64_t* span_ends_;  // [boxes] where the spans of a box end
  // The mean length of the list that an entry is in: the tests that a point inside some box needs.
  double mean_list_length_ = 0.0;
  Axis x_, y_;
};

}  // namespace detops::ops::points_in_boxes
