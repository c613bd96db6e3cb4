// SPDX-License-Identifier: Apache-2.0
//
// Splits long lists of boxes: a binary tree over space whose leaves are lists again. A list is
// split along x, y or z at a median of its boxes' centres or ends. Ranks and not distances decide,
// so that neither an outlier nor sizes over many decades matter. What is worth splitting, and
// where, is decided with a sample of the points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/workspace.h"
#include "math/box3d.h"

namespace detops::ops::points_in_boxes {

using math::Bounds3d;
using math::FlatBox;

// Where a point's boxes are. A list ascends, and its last entry is ~box.
//   0 and above   the list that starts there
//   kNoBoxes      none
//   below         node -2 - place, which tells the two halves of its region apart
using Place = int32_t;
constexpr Place kNoBoxes = -1;
inline int32_t BoxOf(int32_t entry) { return entry < 0 ? ~entry : entry; }

struct Node {
  float split;  // along `axis`; a point below it goes to half[0], any other to half[1]
  int32_t axis;
  Place half[2];
};

struct SamplePoint {
  float at[3];
  int32_t cell;
  // How much of its cell's list is tested before a box contains it: 1 if none does.
  float share;
};

class Tree {
 public:
  // Lists up to this length are left as they are.
  static constexpr int64_t kShort = 16;

  // Lays out arrays for `boxes` boxes, O(boxes).
  Tree(core::WorkspaceLayout& layout, int64_t points, int64_t boxes);

  // Starts with no nodes; new lists go to the entries of `lists` from `used` to `end`.
  void Clear(int32_t* lists, int64_t used, int64_t end);
  // To be filled: [SampleCount(points)].
  SamplePoint* samples() { return samples_; }
  static int64_t SampleCount(int64_t points) { return std::min<int64_t>(points / 32, 16384); }
  // Notes the list that *place tells, of a cell within [low, high) on the axes x and y, with the
  // samples in that cell.
  void Add(Place* place, int64_t length, const float (&low)[2], const float (&high)[2],
           std::span<SamplePoint> samples);
  // Splits the list that costs most, until all are short, no split is worth it, or memory or time
  // is spent. One sample stands for `points_per_sample` points.
  void Split(const FlatBox* boxes, const Bounds3d* bounds, double points_per_sample);

  const Node* nodes() const { return nodes_; }
  // How many boxes all splits examined.
  int64_t work() const { return work_; }

 private:
  struct Part {  // a list that may still be split
    Place* place;
    int32_t length;
    int32_t tries;  // how often in a row it may be split without becoming much shorter
    int32_t first_sample, samples;
    bool owned;     // no other part has the same list
    double weight;  // of the samples, by their shares
    Bounds3d region;

    double Cost() const { return length * weight; }
    bool operator<(const Part& other) const { return Cost() < other.Cost(); }
  };
  struct Cut {
    int axis = -1;
    float at = 0.0f;
    double cost = 0.0;
  };
  void Clip(const Part& part, const FlatBox* boxes, const Bounds3d* bounds);
  Cut Choose(const Part& part, double points_per_sample);
  // A cut that need not make the lists shorter: they may become so further down.
  Cut Halve(const Part& part) const;
  void Consider(const Part& part, int axis, float at, Cut& best) const;
  void Apply(const Part& part, const Cut& cut, const FlatBox* boxes);
  void Push(const Part& part);
  template <class Key>
  float Median(const Key& key);

  int64_t most_nodes_, most_parts_, most_work_;
  Node* nodes_;           // [most_nodes]
  Part* parts_;           // [most_parts] a heap, the most expensive list first
  SamplePoint* samples_;  // those of a part follow each other
  // Of the part that is being split, scratch:
  int32_t* clipped_boxes_;  // [boxes] those that touch its region
  Bounds3d* clipped_;       // [boxes] bounds of what lies in the region
  float* keys_;             // [boxes]
  int32_t* halves_[2];      // [boxes] each
  int64_t clipped_count_ = 0;

  int32_t* lists_ = nullptr;
  int64_t used_ = 0, end_ = 0, node_count_ = 0, part_count_ = 0, work_ = 0;
};

}  // namespace detops::ops::points_in_boxes
