// SPDX-License-Identifier: Apache-2.0
//
// Between the host side (mlu.cc) and the kernels (mlu.mlu).
#pragma once

#include <stdint.h>

#include "mlu/card.h"

namespace detops::ops::points_in_boxes {

// The boxes of a batch are indexed in pieces. Each index is a tree that divides space by planes,
// with words of up to 32 boxes in its leaves.
constexpr int64_t kMostBoxes = 4096;  // of a piece
constexpr int kMostDepth = 6;
constexpr int kWordsPerLeaf = 4;       // what there is room for; a leaf nearer to the root has more
constexpr int64_t kBoxesPerLeaf = 96;  // at most, on average, if no box lies in two leaves
constexpr int kBoxesPerWord = 32;
constexpr int kSlabs = 64;  // along each axis

struct SlabAxis {
  float origin, scale;
};

struct Node {
  // 0 to 2: points whose coordinate is below `plane` are in the first child, which is node 2i of
  // node i, the others in the second. Of a leaf kLeaf.
  int32_t axis;
  float plane;
  int32_t boxes, first_word;
  SlabAxis slabs[3];  // of a leaf
  int32_t unused[6];
};
constexpr int64_t kNodeHead = 16;  // bytes before `slabs`
constexpr int32_t kLeaf = -1;

// A word: for each slab along each axis, which of its boxes extend into it.
struct WordSlabs {
  int32_t boxes[3][kSlabs];
};

// What the test of a point needs of a box. A memory unit, so that to fetch one costs one.
struct BoxRecord {
  float cx, cy, cz, cos, sin, reach_x, reach_y, reach_z;  // as math::FlatBox
  int32_t box;
  int32_t unused[7];
};
constexpr int kRecordWords = 9;  // that are used

struct Index {
  Node* nodes;         // [2 << depth] the root is node 1
  WordSlabs* words;    // [kWordsPerLeaf << depth]
  BoxRecord* records;  // [kWordsPerLeaf << depth][kBoxesPerWord]
};

}  // namespace detops::ops::points_in_boxes

namespace detops::ops {

struct PointsInBoxesMlu {
  int64_t batches, points, boxes;  // points and boxes of one batch
  int64_t pieces, boxes_per_piece;
  int depth;                       // of all trees
  int tasks_per_leaf;              // that build its words
  int64_t units, points_per_unit;  // of one batch; a unit is what a core processes at a time
  const float* all_points;         // [batches,points,3]
  const float* all_boxes;          // [batches,boxes,7]
  int32_t* points_indices;         // [batches,points]
  points_in_boxes::Index indexes;  // [batches,pieces] of each array
};

// The most points of a unit.
constexpr int64_t MostPoints(int arch) { return arch == 592 ? 10432 : 16384; }

// Builds the indexes; for boxes > 0.
template <int kArch>
void LaunchBuildIndexes(const mlu::Grid& grid, const PointsInBoxesMlu& call);
template <>
void LaunchBuildIndexes<592>(const mlu::Grid& grid, const PointsInBoxesMlu& call);
template <>
void LaunchBuildIndexes<372>(const mlu::Grid& grid, const PointsInBoxesMlu& call);

template <int kArch>
void LaunchFindBoxes(const mlu::Grid& grid, const PointsInBoxesMlu& call);
template <>
void LaunchFindBoxes<592>(const mlu::Grid& grid, const PointsInBoxesMlu& call);
template <>
void LaunchFindBoxes<372>(const mlu::Grid& grid, const PointsInBoxesMlu& call);

}  // namespace detops::ops
