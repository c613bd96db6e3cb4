// SPDX-License-Identifier: Apache-2.0
//
// Boxes of bbox2 as the columns of a tile: a structure of arrays from which vectors are loaded.
// Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_OPS_BBOX_OVERLAPS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_BBOX_OVERLAPS_COLUMNS_INL_H_
#undef DETOPS_OPS_BBOX_OVERLAPS_COLUMNS_INL_H_
#else
#define DETOPS_OPS_BBOX_OVERLAPS_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cpu/lane-inl.h"
#include "math/box.h"
#include "math/half.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

// Columns per tile: five arrays of floats that stay in the first-level cache.
constexpr int64_t kTileColumns = 1024;
// The least number of elements per tile, enough work to be worth waking a thread, and the most.
constexpr int64_t kTileElements = 64 * 1024;
constexpr int64_t kMostTileElements = 4 * kTileElements;

// With room for the vector that begins at the last column: a row may start at any lane.
struct Columns {
  static constexpr int64_t kRoom = HWY_MAX_BYTES / sizeof(float);
  static constexpr int64_t kSize = kTileColumns + kRoom;
  HWY_ALIGN float x1[kSize], y1[kSize], x2[kSize], y2[kSize], area[kSize];
  int64_t first, count;  // in the matrix
  bool well_formed;      // all of them, see WellFormed
  float widest;          // x2 - x1

  HWY_INLINE Box<FloatLane> BoxesAt(int64_t j) const {
    return {LoadLane(x1 + j), LoadLane(y1 + j), LoadLane(x2 + j), LoadLane(y2 + j)};
  }
};

// Adding 0 makes -0 a +0, which changes no result: see NoOffset.
template <class T>
HWY_INLINE Box<float> BoxAt(const T* boxes, int64_t i) {  // [.,4]
  return {math::ToFloat(boxes[4 * i]) + 0.0f, math::ToFloat(boxes[4 * i + 1]) + 0.0f,
          math::ToFloat(boxes[4 * i + 2]) + 0.0f, math::ToFloat(boxes[4 * i + 3]) + 0.0f};
}

// Boxes as four vectors of coordinates.
HWY_INLINE Box<FloatLane> LoadBoxes(const float* boxes) {
  FloatVec x1, y1, x2, y2;
  hn::LoadInterleaved4(FloatTag(), boxes, x1, y1, x2, y2);
  return {{x1}, {y1}, {x2}, {y2}};
}
HWY_INLINE Box<FloatLane> LoadBoxes(const math::Half* boxes) {
  HWY_ALIGN float wide[4 * HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < 4; ++i) {
    StoreElements(LoadElements(boxes + i * FloatLanes()), wide + i * FloatLanes());
  }
  return LoadBoxes(wide);
}

// Well-formed boxes: not inverted, with coordinates that are 0 or of moderate size. Then no sum,
// difference or product of them is infinite or NaN, no area and no union is below 0, and a maximum
// with 0 changes no bit of them.
template <bool kIoF>
struct WellFormed {
  // IoF divides a whole row by the same area: see Divide. In 256-bit vectors the divider is as
  // fast.
  static constexpr bool kOneDivisor = kIoF ? HWY_TARGET == HWY_AVX3 : false;
  // Magnitudes are from kLeast to below kMost. For Divide: from 2^-20 on, coordinates are multiples
  // of 2^-43, so an intersection is 0 or at least 2^-86; below 2^16, areas are below 2^34. So a
  // quotient is at least 2^-120, and the last bit of a remainder at least 2^-133.
  static constexpr float kLeast = kOneDivisor ? 0x1p-20f : 0.0f;
  static constexpr float kMost = kOneDivisor ? 0x1p16f : 0x1p60f;

  static HWY_INLINE bool AsRow(const Box<float>& b) {
    const auto is_tiny = [](float x) { return x != 0.0f && std::abs(x) < kLeast; };
    if (!(b.x1 <= b.x2 && b.y1 <= b.y2 && b.x1 > -kMost && b.y1 > -kMost && b.x2 < kMost &&
          b.y2 < kMost)) {
      return false;
    }
    return !kOneDivisor || (BoxArea(b, 0.0f) > 0.0f && !is_tiny(b.x1) && !is_tiny(b.y1) &&
                            !is_tiny(b.x2) && !is_tiny(b.y2));
  }

  static HWY_INLINE bool AsColumns(const Box<FloatLane>& b) {
    const FloatTag tag;
    const auto ordered = hn::And(hn::Le(b.x1.v, b.x2.v), hn::Le(b.y1.v, b.y2.v));
    const auto small = hn::And(hn::Gt(hn::Min(b.x1.v, b.y1.v), hn::Set(tag, -kMost)),
                               hn::Lt(hn::Max(b.x2.v, b.y2.v), hn::Set(tag, kMost)));
    auto well_formed = hn::And(ordered, small);
    if constexpr (kOneDivisor) {
      for (const FloatLane& x : {b.x1, b.y1, b.x2, b.y2}) {
        const auto below = hn::Lt(hn::Abs(x.v), hn::Set(tag, kLeast));
        well_formed = hn::AndNot(hn::And(below, hn::Ne(x.v, hn::Zero(tag))), well_formed);
      }
    }
    return hn::AllTrue(tag, well_formed);
  }
};

// The result and its inputs.
template <class T>
struct Matrix {
  const T *bbox1, *bbox2;
  T* ious;
  int64_t cols;
  float offset;
  bool stream;
  int64_t step;  // from one row to the next that begins at the same offset within a vector

  T* At(int64_t row, const Columns& columns) const { return ious + row * cols + columns.first; }
};

// Loads some columns and pads the last vector. Transposed columns have x and y exchanged, which
// changes no bit of an overlap of well-formed boxes. Inlining made the loops over rows slower: 8 %
// with halves.
template <bool kIoF, class T>
HWY_NOINLINE void FillColumns(const Matrix<T>& matrix, int64_t first, int64_t count,
                              bool transposed, Columns& columns) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const FloatLane zero = Broadcast(0.0f), off = Broadcast(matrix.offset);
  const T* const boxes = matrix.bbox2 + 4 * first;
  FloatLane widest = zero;
  bool well_formed = true;
  for (int64_t j = 0; j < count + Columns::kRoom; j += lanes) {
    const int64_t present = std::clamp<int64_t>(count - j, 0, lanes);
    const T* from = boxes + 4 * std::min(j, count);
    T last[4 * HWY_MAX_BYTES / sizeof(float)];
    if (present < lanes) {
      std::fill(std::copy_n(from, 4 * present, last), std::end(last), T());
      from = last;
    }
    Box<FloatLane> b = LoadBoxes(from);
    b = {b.x1 + zero, b.y1 + zero, b.x2 + zero, b.y2 + zero};
    if (transposed) b = {b.y1, b.x1, b.y2, b.x2};
    StoreElements(b.x1.v, columns.x1 + j);
    StoreElements(b.y1.v, columns.y1 + j);
    StoreElements(b.x2.v, columns.x2 + j);
    StoreElements(b.y2.v, columns.y2 + j);
    StoreElements(BoxArea(b, off).v, columns.area + j);
    well_formed = well_formed && WellFormed<kIoF>::AsColumns(b);
    widest = Max(b.x2 - b.x1, widest);
  }
  columns.first = first;
  columns.count = count;
  columns.well_formed = well_formed;
  const FloatVec widths = widest.v;
  columns.widest = hn::GetLane(hn::MaxOfLanes(FloatTag(), widths));
}

// Elements from here to the next address that is aligned to a whole vector of them.
template <class T>
HWY_INLINE int64_t ToWholeVector(const T* p) {
  const auto bytes = static_cast<uintptr_t>(FloatLanes() * sizeof(T));
  return static_cast<int64_t>((-reinterpret_cast<uintptr_t>(p)) % bytes / sizeof(T));
}

}  // namespace
}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
