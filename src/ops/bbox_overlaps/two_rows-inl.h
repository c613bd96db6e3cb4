// SPDX-License-Identifier: Apache-2.0
//
// cpu:avx512-row-pairs: one division for two rows.
//
// The divider limits IoU in 512-bit vectors on Intel's processors. Of two rows with a gap between
// them, a column overlaps at most one, unless it spans the gap. So each lane takes the row that its
// column can overlap, and one division serves both rows; the overlap with the other row is 0.
// Included once for each Highway target, hence the unusual guard.
#if defined(DETOPS_OPS_BBOX_OVERLAPS_TWO_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_BBOX_OVERLAPS_TWO_ROWS_INL_H_
#undef DETOPS_OPS_BBOX_OVERLAPS_TWO_ROWS_INL_H_
#else
#define DETOPS_OPS_BBOX_OVERLAPS_TWO_ROWS_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "ops/bbox_overlaps/columns-inl.h"
#include "ops/bbox_overlaps/row_pairs.h"
#include "ops/bbox_overlaps/rows-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

// With fewer columns, finding the pairs costs more than they save.
constexpr int64_t kColumnsForPairs = 512;
static_assert(kMostTileElements / kColumnsForPairs <= RowPairs::kMostRows);

// The plans that this file is for.
bool DividesForTwo(const BboxOverlapsPlan& plan) {
  return !plan.iof && !plan.aligned && plan.offset == 0.0f && plan.cols >= kColumnsForPairs;
}

// Computes pair p, for well-formed boxes and rows with an area above 0, so that nothing is 0/0.
// Returns how many vectors had a column that spans the gap; without kSpans there are none.
template <bool kSpans, class T>
HWY_NOINLINE int64_t CompareBoth(const Matrix<T>& matrix, const RowPairs& pairs, int64_t p,
                                 const Columns& columns) {
  const RowPairs::Row &left = pairs.left[p], &right = pairs.right[p];
  T* const left_out = matrix.At(left.index, columns);
  T* const right_out = matrix.At(right.index, columns);
  const FloatTag tag;
  const FloatLane zero = Broadcast(0.0f);
  struct {
    Box<FloatLane> box;
    FloatLane area;
  } l = {}, r = {};
  l.box = {Broadcast(left.x1), Broadcast(left.y1), Broadcast(left.x2), Broadcast(left.y2)};
  r.box = {Broadcast(right.x1), Broadcast(right.y1), Broadcast(right.x2), Broadcast(right.y2)};
  l.area = Broadcast(left.area);
  r.area = Broadcast(right.area);

  // Each row with its own division.
  const auto each = [&](int64_t j, auto store) HWY_ATTR {
    const Box<FloatLane> b = columns.BoxesAt(j);
    const FloatLane area = LoadLane(columns.area + j);
    store(BoxIoU(l.box, b, l.area, area, NoOffset(), NoLeast(), zero).v, left_out + j);
    store(BoxIoU(r.box, b, r.area, area, NoOffset(), NoLeast(), zero).v, right_out + j);
  };
  const auto first = [&](int64_t j, int64_t some) HWY_ATTR {
    each(j, [&](FloatVec v, T* to) HWY_ATTR { StoreFirst(v, to, static_cast<size_t>(some)); });
  };

  int64_t spanning = 0;
  const auto whole = [&](int64_t j, auto streams) HWY_ATTR __attribute__((always_inline)) {
    const FloatVec x1 = LoadLane(columns.x1 + j).v, x2 = LoadLane(columns.x2 + j).v;
    const auto is_right = hn::Gt(x2, r.box.x1.v);
    if constexpr (kSpans) {
      const auto spans = hn::And(is_right, hn::Lt(x1, l.box.x2.v));
      if (HWY_UNLIKELY(!hn::AllFalse(tag, spans))) {
        ++spanning;
        each(j, [=](FloatVec v, T* to)
                    HWY_ATTR { streams ? StreamElements(v, to) : StoreElements(v, to); });
        return;
      }
    }
    const auto either = [&](FloatLane a, FloatLane c) HWY_ATTR __attribute__((always_inline)) {
      return FloatLane{hn::IfThenElse(is_right, c.v, a.v)};
    };
    const Box<FloatLane> a = {either(l.box.x1, r.box.x1), either(l.box.y1, r.box.y1),
                              either(l.box.x2, r.box.x2), either(l.box.y2, r.box.y2)};
    const FloatLane iou = BoxIoU(a, columns.BoxesAt(j), either(l.area, r.area),
                                 LoadLane(columns.area + j), NoOffset(), NoLeast(), zero);
    StoreSplit<streams>(iou.v, is_right, left_out + j, right_out + j);
  };

  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t count = columns.count;
  int64_t j = 0;
  if (matrix.stream) {
    j = std::min(ToWholeVector(left_out), count);
    if (j > 0) first(0, j);
    for (; j + lanes <= count; j += lanes) whole(j, std::true_type());
  } else {
    // Rows come in an order that the hardware can't predict: those of the next pair are prefetched.
    const int64_t next = std::min(p + 1, pairs.count - 1);
    const T* const next_left = matrix.At(pairs.left[next].index, columns);
    const T* const next_right = matrix.At(pairs.right[next].index, columns);
    for (; j + lanes <= count; j += lanes) {
      PrefetchToWrite(next_left + j, 1);
      PrefetchToWrite(next_right + j, 1);
      whole(j, std::false_type());
    }
  }
  if (j < count) first(j, count - j);
  return spanning;
}

// Finds pairs among the rows from `first` to before `last`.
template <class T>
HWY_NOINLINE void FindPairs(const Matrix<T>& matrix, int64_t first, int64_t last, RowPairs& pairs) {
  RowPairs::Row rows[RowPairs::kMostRows];
  int64_t count = 0;
  for (int64_t start = first; start < std::min(first + matrix.step, last); ++start) {
    for (int64_t i = start; i < last; i += matrix.step) {
      const Box<float> b = BoxAt(matrix.bbox1, i);
      const float area = BoxArea(b, 0.0f);
      if (WellFormed<false>::AsRow(b) && area > 0.0f) {
        rows[count++] = {b.x1, b.y1, b.x2, b.y2, area, i};
      } else {
        pairs.AddOther(i);
      }
    }
  }
  pairs.Add(rows, count, matrix.step);
}

// Returns false, with some rows computed, where so many columns span gaps that pairs save nothing.
template <class T>
HWY_INLINE bool CompareAllPairs(const Matrix<T>& matrix, const RowPairs& pairs,
                                const Columns& columns) {
  int64_t spanning = 0;
  for (int64_t p = 0; p < pairs.count; ++p) {
    // Rounding is monotonic: a relation between the rounded differences also holds for the exact
    // ones.
    if (pairs.right[p].x1 - pairs.left[p].x2 > columns.widest) {
      CompareBoth<false>(matrix, pairs, p, columns);
    } else {
      spanning += CompareBoth<true>(matrix, pairs, p, columns);
    }
    // The limit is a quarter of all vectors, with some tolerance, as the first pairs may be the
    // worst.
    if (4 * static_cast<int64_t>(FloatLanes()) * spanning > (p + 8) * columns.count) return false;
  }
  return true;
}

template <class T>
void ComparePairs(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args,
                  runtime::Threads& threads) {
  const Matrix<T> matrix = MatrixOf(plan, static_cast<const T*>(args.bbox1),
                                    static_cast<const T*>(args.bbox2), static_cast<T*>(args.ious));
  ForBlocks(plan, matrix.stream, threads, [&](const Block& block, Columns& columns) HWY_ATTR {
    RowPairs pairs;
    FindPairs(matrix, block.first_row, block.last_row, pairs);
    bool paired = pairs.count > pairs.others;  // which are computed one by one
    for (int64_t tile = block.first_tile; tile < block.last_tile; ++tile) {
      const int64_t first = block.FirstColumn(tile), count = block.ColumnsIn(tile);
      const bool transposed = paired && pairs.transposed;
      FillColumns<false>(matrix, first, count, transposed, columns);
      const bool compare = paired && columns.well_formed;
      const bool compared = compare && CompareAllPairs(matrix, pairs, columns);
      if (compare) paired = compared;
      if (compared && pairs.others == 0) continue;
      if (transposed) FillColumns<false>(matrix, first, count, false, columns);
      if (!compared) CompareRows<false>(matrix, block.first_row, block.last_row, columns);
      for (int64_t i = 0; compared && i < pairs.others; ++i) {
        CompareRows<false>(matrix, pairs.other[i], pairs.other[i] + 1, columns);
      }
    }
  });
}

}  // namespace
}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
