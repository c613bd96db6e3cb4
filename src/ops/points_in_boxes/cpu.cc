// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the points. With few pairs in all, every point is tested against every box.
// Otherwise a grid tells, for a vector of points at once, which of them lie in a cell that any box
// touches; only those are tested, one by one, against the boxes of their cell or, where those are
// many, of their leaf of the tree below that cell.
#include "cpu/simd.h"
#include "ops/points_in_boxes/grid.h"
#include "ops/points_in_boxes/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/points_in_boxes/cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "cpu/lane-inl.h"

#ifndef DETOPS_POINTS_IN_BOXES_WORKSPACE_
#define DETOPS_POINTS_IN_BOXES_WORKSPACE_
namespace detops::ops::points_in_boxes {

struct Workspace {
  FlatBox* boxes;  // [boxes]
  Grid grid;

  Workspace(core::WorkspaceLayout& layout, const PointsInBoxesPlan& plan)
      : boxes(layout.Array<FlatBox>(plan.boxes)), grid(layout, plan.points, plan.boxes) {}
};

}  // namespace detops::ops::points_in_boxes
#endif

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace points_in_boxes;

// The least number of points per thread.
constexpr int64_t kGrain = 16384;
// Up to this many pairs, testing all of them costs less than building a grid.
constexpr int64_t kFewPairs = 16384;

struct Points {
  StoredFloats x, y, z;
};

HWY_INLINE Points LoadPoints(const float* p) {
  FloatVec x, y, z;
  hn::LoadInterleaved3(FloatTag(), p, x, y, z);
  return {x, y, z};
}

// Runs body(points, first, count) on vectors of points, the last one padded with zeros.
template <class Body>
HWY_INLINE void ForVectors(const float* points, int64_t begin, int64_t end, const Body& body) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes) body(LoadPoints(points + 3 * i), i, lanes);
  if (i == end) return;
  HWY_ALIGN float tail[3 * HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy(points + 3 * i, points + 3 * end, tail);
  body(LoadPoints(tail), i, end - i);
}

HWY_INLINE void StoreIndices(IntVec v, int64_t count, int32_t* p) {
  const IntTag tag;
  if (count == static_cast<int64_t>(hn::Lanes(tag))) {
    hn::StoreU(v, tag, p);
    return;
  }
  HWY_ALIGN int32_t part[HWY_MAX_BYTES / sizeof(int32_t)];
  hn::Store(v, tag, part);
  std::copy(part, part + count, p);
}

HWY_INLINE hn::Mask<FloatTag> HeldBy(const FlatBox& b, const Points& p) {
  const FloatTag tag;
  const FloatVec dx = hn::Sub(p.x, hn::Set(tag, b.cx)), dy = hn::Sub(p.y, hn::Set(tag, b.cy));
  const FloatVec dz = hn::Sub(p.z, hn::Set(tag, b.cz));
  const FloatVec c = hn::Set(tag, b.cos), s = hn::Set(tag, b.sin);
  const FloatVec local_x = hn::Sub(hn::Mul(dx, c), hn::Mul(dy, s));
  const FloatVec local_y = hn::Add(hn::Mul(dx, s), hn::Mul(dy, c));
  return hn::And(hn::Le(hn::Abs(dz), hn::Set(tag, b.reach_z)),
                 hn::And(hn::Le(hn::Abs(local_x), hn::Set(tag, b.reach_x)),
                         hn::Le(hn::Abs(local_y), hn::Set(tag, b.reach_y))));
}

void TestAll(const FlatBox* boxes, int64_t box_count, const float* points, int64_t begin,
             int64_t end, int32_t* indices) {
  const IntTag int_tag;
  ForVectors(points, begin, end, [&](const Points& p, int64_t first, int64_t count) HWY_ATTR {
    IntVec found = hn::Set(int_tag, -1);
    // From the last box to the first, so that a lower one replaces a higher one.
    for (int64_t t = box_count - 1; t >= 0; --t) {
      const auto held = hn::RebindMask(int_tag, HeldBy(boxes[t], p));
      found = hn::IfThenElse(held, hn::Set(int_tag, static_cast<int32_t>(t)), found);
    }
    StoreIndices(found, count, indices + first);
  });
}

// The lowest box of a list that contains the point, or -1.
HWY_INLINE int32_t LowestOf(const int32_t* list, const FlatBox* boxes, const float* point,
                            int64_t& tests) {
  const float x = point[0], y = point[1], z = point[2];
  while (true) {
    const int32_t entry = *list++;
    const bool last = entry < 0;
    const int32_t box = last ? ~entry : entry;
    const bool held = math::Holds(boxes[box], x, y, z);
    ++tests;
    if (held | last) return held ? box : -1;
  }
}

// The list of the boxes that a point may lie in, or kNoBoxes.
HWY_INLINE Place LeafOf(Place place, const Node* nodes, const float* point, int64_t& visited) {
  while (place < kNoBoxes) {
    const Node& node = nodes[-2 - place];
    place = node.half[point[node.axis] < node.split ? 0 : 1];
    ++visited;
  }
  return place;
}

// Axis::Cell for a vector.
HWY_INLINE IntVec CellsOf(const Axis& axis, FloatVec x) {
  const FloatTag tag;
  FloatVec t = hn::Add(hn::Mul(hn::Sub(x, hn::Set(tag, axis.origin)), hn::Set(tag, axis.scale)),
                       hn::Set(tag, 1));
  // NaN goes to some cell; no box there contains it.
  t = hn::IfThenElse(hn::Gt(t, hn::Zero(tag)), t, hn::Zero(tag));
  t = hn::Min(t, hn::Set(tag, static_cast<float>(axis.cells - 1)));
  return hn::ConvertTo(IntTag(), t);
}

// Returns how many tests it made, and how many nodes it visited. In blocks of 64 points: vectors
// find which of them lie in a cell with boxes, and those are tested one by one. A branch per vector
// would be mispredicted.
runtime::Work TestNear(const Grid& grid, const FlatBox* boxes, const float* points, int64_t begin,
                       int64_t end, int32_t* indices) {
  constexpr int64_t kBlock = 64, kAhead = 8 * kBlock;
  const IntTag int_tag;
  const Axis axis_x = grid.x(), axis_y = grid.y();
  const Place* const heads = grid.heads();
  const int32_t* const lists = grid.lists();
  const Node* const nodes = grid.nodes();
  int64_t tests = 0, visited = 0;
  for (int64_t block = begin; block < end; block += kBlock) {
    const int64_t block_end = std::min(block + kBlock, end);
    // The hardware prefetcher does not cross pages.
    if (block + kAhead + kBlock <= end) {
      PrefetchToRead(points + 3 * (block + kAhead), 3 * kBlock);
      PrefetchToWrite(indices + block + kAhead, kBlock);
    }
    HWY_ALIGN int32_t starts[kBlock];
    uint64_t near = 0;  // one bit per point
    const auto look_up = [&](const Points& p, int64_t first, int64_t count) HWY_ATTR {
      const IntVec cell = hn::Add(hn::Mul(CellsOf(axis_y, p.y), hn::Set(int_tag, axis_x.cells)),
                                  CellsOf(axis_x, p.x));
      const IntVec head = hn::GatherIndex(int_tag, heads, cell);
      hn::StoreU(head, int_tag, starts + (first - block));
      const auto occupied = hn::Ne(head, hn::Set(int_tag, kNoBoxes));
      near |= MaskBits(hn::RebindMask(FloatTag(), occupied)) << (first - block);
      StoreIndices(hn::Set(int_tag, -1), count, indices + first);
    };
    ForVectors(points, block, block_end, look_up);
    near &= ~uint64_t{0} >> (kBlock - (block_end - block));  // without the padding of a vector
    for (; near != 0; near &= near - 1) {
      const int slot = std::countr_zero(near);
      const int64_t point = block + slot;
      const Place list = LeafOf(starts[slot], nodes, points + 3 * point, visited);
      if (list == kNoBoxes) continue;
      indices[point] = LowestOf(lists + list, boxes, points + 3 * point, tests);
    }
  }
  return {tests, visited};
}

}  // namespace

void Run(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args, void* memory,
         const runtime::Launch& launch) {
  core::WorkspaceLayout layout(memory);
  Workspace workspace(layout, plan);
  std::atomic<int64_t> tests = 0, candidates = 0;
  for (int64_t b = 0; b < plan.batches; ++b) {
    const float* points = args.points + b * plan.points * 3;
    const float* boxes = args.boxes + b * plan.boxes * 7;
    int32_t* indices = args.points_indices + b * plan.points;
    launch.threads.For(plan.boxes, 256, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) workspace.boxes[t] = Flatten(boxes + 7 * t);
    });
    if (plan.boxes <= kFewPairs / plan.points) {
      TestAll(workspace.boxes, plan.boxes, points, 0, plan.points, indices);
      tests += plan.points * plan.boxes;
      continue;
    }
    workspace.grid.Build(workspace.boxes, plan.boxes, points, plan.points, launch.threads);
    launch.threads.For(plan.points, kGrain, [&](int64_t begin, int64_t end) {
      const runtime::Work work =
          TestNear(workspace.grid, workspace.boxes, points, begin, end, indices);
      tests += work.pairs;
      candidates += work.candidates;
    });
    candidates += workspace.grid.work();
  }
  launch.work.pairs = tests;
  launch.work.candidates = candidates;
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

int64_t PointsInBoxesCpuWorkspace(const PointsInBoxesPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  points_in_boxes::Workspace(layout, plan);
  return layout.Bytes();
}

cpu::SimdKernels<PointsInBoxes> PointsInBoxesKernels() { return DETOPS_SIMD_KERNELS(Run); }

}  // namespace detops::ops
#endif
