// SPDX-License-Identifier: Apache-2.0
//
// Which boxes a point may lie in: a grid over the ground plane, with the boxes that touch each
// cell, and below cells with many boxes a tree. Where too many cells would have many boxes, there
// is one cell, and the tree does it all. The exact test follows, so too many boxes may be listed,
// but none may be missing.
#pragma once

#include <cstdint>
#include <span>

#include "core/workspace.h"
#include "math/box3d.h"
#include "ops/points_in_boxes/tree.h"
#include "runtime/cpu/threads.h"

namespace detops::ops::points_in_boxes {

FlatBox Flatten(const float* box);  // [7] cx cy cz dx dy dz heading

// Uniform cells along one axis. The first and the last extend to infinity. Cell() is monotonic in
// its argument despite rounding, so a point between a box's ends lies in a cell between theirs.
struct Axis {
  int32_t cells = 1;
  float origin = 0.0f, scale = 0.0f;  // of the inner cells, 1/width

  int32_t Cell(float x) const;
  // An interval that is certain to contain every float of the cell.
  double Low(int32_t cell) const;
  double High(int32_t cell) const;
};

class Grid {
 public:
  // Lays out arrays for `boxes` boxes and `points` points, O(boxes + points).
  Grid(core::WorkspaceLayout& layout, int64_t points, int64_t boxes);

  // For `count` boxes and `point_count` points.
  void Build(const FlatBox* boxes, int64_t count, const float* points, int64_t point_count,
             runtime::Threads& threads);

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  // For cell y * x().cells + x, where its boxes are.
  const Place* heads() const { return heads_; }
  const int32_t* lists() const { return lists_; }
  const Node* nodes() const { return tree_.nodes(); }
  // How many cells and boxes were examined to build it.
  int64_t work() const { return work_ + tree_.work(); }

 private:
  using Bounds = math::Bounds3d;
  struct Span {
    int32_t begin, end;  // cells of one row
  };
  struct Band {
    int32_t begin, end;  // cells of some rows
    int64_t entries = 0;
    int32_t first_entry = 0;
    int64_t long_entries = 0, long_lists = 0;  // those of lists that the tree is to split
  };
  void FindExtent(int64_t count);
  float Nth(int64_t n, int64_t count);  // of the sorted scratch_
  void PlaceCells(int64_t cells);
  int64_t RowsOf(const Bounds& bounds) const;
  int64_t FirstSpan(int64_t box) const { return box == 0 ? 0 : span_ends_[box - 1]; }
  void FindSpans(const FlatBox& box, const Bounds& bounds, Span* spans) const;
  bool FillLists(const FlatBox* boxes, int64_t count, runtime::Threads& threads);
  void CountEntries(int64_t spans, Band& band);
  void FillListsOf(Band& band, int64_t count);
  std::span<SamplePoint> TakeSamples(const float* points, int64_t point_count);  // by cell
  double Test(std::span<SamplePoint> samples, const FlatBox* boxes, Place place);
  // Runs body(cell, samples there) for samples sorted by cell.
  template <class Body>
  static void ForCells(std::span<SamplePoint> samples, const Body& body);
  void SplitLongLists(const FlatBox* boxes, int64_t count, const float* points,
                      int64_t point_count);
  void SplitWhole(const FlatBox* boxes, int64_t count, std::span<SamplePoint> samples,
                  double points_per_sample);

  int64_t max_cells_, max_entries_, max_tree_entries_, max_spans_;
  Bounds* bounds_;      // [boxes]
  float* scratch_;      // [boxes]
  Place* heads_;        // [cells]
  int32_t* lists_;      // [max_entries + max_tree_entries]
  Span* spans_;         // [max_spans] box after box, one for each row that the box touches
  int64_t* span_ends_;  // [boxes] where the spans of a box end
  int64_t entries_ = 0, long_entries_ = 0, long_lists_ = 0, work_ = 0;
  Bounds extent_;  // of the inner cells, on the axes x and y
  Axis x_, y_;
  Tree tree_;
};

}  // namespace detops::ops::points_in_boxes
