// SPDX-License-Identifier: Apache-2.0
//
// Rows compared with the columns of a tile, and the tiles of a matrix on all threads. Compiled once
// for each Highway target, hence the unusual guard.
#if defined(DETOPS_OPS_BBOX_OVERLAPS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_BBOX_OVERLAPS_ROWS_INL_H_
#undef DETOPS_OPS_BBOX_OVERLAPS_ROWS_INL_H_
#else
#define DETOPS_OPS_BBOX_OVERLAPS_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "ops/bbox_overlaps/columns-inl.h"
#include "ops/bbox_overlaps/plan.h"
#include "runtime/cpu/threads.h"

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

// Results above this size don't stay in any cache until they are read.
constexpr int64_t kStreamBytes = 16 << 20;

// Only where a whole number of elements leads to an aligned address.
template <class T>
bool Streams(const T* ious, int64_t count) {
  return count * static_cast<int64_t>(sizeof(T)) >= kStreamBytes &&
         reinterpret_cast<uintptr_t>(ious) % sizeof(T) == 0;
}

template <bool kIoF, class Offset, class Least, class Zero>
HWY_INLINE FloatLane Overlap(const Box<FloatLane>& a, const Box<FloatLane>& b, FloatLane area_a,
                             FloatLane area_b, Offset off, Least least, Zero zero) {
  if constexpr (kIoF) {
    return BoxIoF(a, b, area_a, off, least, zero);
  } else {
    return BoxIoU(a, b, area_a, area_b, off, least, zero);
  }
}

// Rows that are compared with a vector of columns while it is in registers. Where a vector is
// smaller than a cache line, alternating between rows would stream partial lines, which is slower.
constexpr int64_t kRows = HWY_TARGET == HWY_AVX3 ? 4 : 1;

// GCC 12 crashes where Compare is inlined with SVE vectors.
#undef DETOPS_INLINE_COMPARE
#if HWY_TARGET == HWY_SVE_256
#define DETOPS_INLINE_COMPARE HWY_NOINLINE
#else
#define DETOPS_INLINE_COMPARE HWY_INLINE
#endif

// a / b, rounded as a division rounds, given y, which is 1/b rounded, and its residual (1 - b*y) *
// y. The first quotient is one of the two floats around the true one; its remainder, which is
// exact, then leads to the nearest. Processors do these four operations several times as fast as
// one division. For 0 <= a <= b, where no intermediate result is too small for a float: see
// WellFormed.
HWY_INLINE FloatLane Divide(FloatLane a, FloatLane b, FloatLane y, FloatLane residual) {
  const FloatVec q = hn::MulAdd(a.v, y.v, hn::Mul(a.v, residual.v));
  return {hn::MulAdd(hn::NegMulAdd(b.v, q, a.v), y.v, q)};
}

// Compares kCount rows, `apart` from each other, with the columns. To be streamed they must all
// begin at the same offset within a vector.
template <int64_t kCount, bool kIoF, bool kWellFormed, class Offset, class Least, class Zero,
          class T>
DETOPS_INLINE_COMPARE void Compare(const Box<float> (&boxes)[kCount], const Columns& columns,
                                   float offset, Offset off, Least least, Zero zero, bool stream,
                                   T* out, int64_t apart) {
  constexpr bool kByMultiplying = kWellFormed && WellFormed<kIoF>::kOneDivisor;
  const auto lanes = static_cast<int64_t>(FloatLanes());
  struct {
    Box<FloatLane> box;
    FloatLane area;
  } rows[kCount] = {};  // else GCC emits a constructor for no target, where NEON's can't be inlined
  for (int64_t r = 0; r < kCount; ++r) {
    rows[r] = {{Broadcast(boxes[r].x1), Broadcast(boxes[r].y1), Broadcast(boxes[r].x2),
                Broadcast(boxes[r].y2)},
               Broadcast(BoxArea(boxes[r], offset))};
  }
  FloatLane reciprocals[kCount] = {}, residuals[kCount] = {};
  for (int64_t r = 0; kByMultiplying && r < kCount; ++r) {
    const FloatLane one = Broadcast(1.0f), y = one / rows[r].area;
    reciprocals[r] = y;
    residuals[r] = {hn::Mul(hn::NegMulAdd(rows[r].area.v, y.v, one.v), y.v)};
  }
  // Otherwise GCC would not inline it.
  const auto at = [&](int64_t j, auto store) HWY_ATTR __attribute__((always_inline)) {
    const Box<FloatLane> b = columns.BoxesAt(j);
    const FloatLane area = LoadLane(columns.area + j);
    for (int64_t r = 0; r < kCount; ++r) {
      T* const to = out + r * apart + j;
      if constexpr (kByMultiplying) {
        const FloatLane inter = BoxIntersection(rows[r].box, b, off, zero);
        store(Divide(inter, rows[r].area, reciprocals[r], residuals[r]).v, to);
      } else {
        store(Overlap<kIoF>(rows[r].box, b, rows[r].area, area, off, least, zero).v, to);
      }
    }
  };

  const int64_t count = columns.count;
  int64_t j = 0;
  if (stream) {
    j = std::min(ToWholeVector(out), count);
    if (j > 0) {
      at(0, [&](FloatVec v, T* to) HWY_ATTR { StoreFirst(v, to, static_cast<size_t>(j)); });
    }
    for (; j + lanes <= count; j += lanes) {
      at(j, [](FloatVec v, T* to) HWY_ATTR { StreamElements(v, to); });
    }
  } else {
    for (; j + lanes <= count; j += lanes) {
      at(j, [](FloatVec v, T* to) HWY_ATTR { StoreElements(v, to); });
    }
  }
  if (j < count) {
    at(j, [&](FloatVec v, T* to) HWY_ATTR { StoreFirst(v, to, static_cast<size_t>(count - j)); });
  }
}

// Compares the rows from `first` to before `last`, some at a time.
template <bool kIoF, class T>
HWY_INLINE void CompareRows(const Matrix<T>& matrix, int64_t first, int64_t last,
                            const Columns& columns) {
  const int64_t step = matrix.step;
  // Row i, and the later rows that are compared together with it.
  const auto compare = [&](int64_t i, auto rows) HWY_ATTR {
    Box<float> boxes[rows];
    bool well_formed = matrix.offset == 0.0f && columns.well_formed;
    for (int64_t r = 0; r < rows; ++r) {
      boxes[r] = BoxAt(matrix.bbox1, i + r * step);
      well_formed = well_formed && WellFormed<kIoF>::AsRow(boxes[r]);
    }
    T* out = matrix.At(i, columns);
    if (well_formed) {
      Compare<rows, kIoF, true>(boxes, columns, 0.0f, NoOffset(), NoLeast(), BroadcastAtLeast(0.0f),
                                matrix.stream, out, step * matrix.cols);
    } else {
      const FloatLane off = Broadcast(matrix.offset);
      Compare<rows, kIoF, false>(boxes, columns, matrix.offset, off, off, Broadcast(0.0f),
                                 matrix.stream, out, step * matrix.cols);
    }
  };
  for (int64_t some = first; some < last; some += kRows * step) {
    for (int64_t i = some; i < std::min(some + step, last); ++i) {
      if (i + (kRows - 1) * step < last) {
        compare(i, std::integral_constant<int64_t, kRows>());
      } else {
        for (int64_t one = i; one < last; one += step) {
          compare(one, std::integral_constant<int64_t, 1>());
        }
      }
    }
  }
}

template <class T>
Matrix<T> MatrixOf(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious) {
  const bool stream = Streams(ious, plan.rows * plan.cols);
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t step = stream ? lanes / std::gcd(lanes, plan.cols) : 1;
  return {bbox1, bbox2, ious, plan.cols, plan.offset, stream, step};
}

// Some rows, and the tiles of columns that they are compared with.
struct Block {
  int64_t first_row, last_row, first_tile, last_tile;
  int64_t width, cols;

  int64_t FirstColumn(int64_t tile) const { return tile * width; }
  int64_t ColumnsIn(int64_t tile) const { return std::min(width, cols - FirstColumn(tile)); }
};

// Calls compare(block, columns) on all threads; `columns` is room for a tile.
template <class CompareBlock>
HWY_INLINE void ForBlocks(const BboxOverlapsPlan& plan, bool stream, runtime::Threads& threads,
                          const CompareBlock& compare) {
  const int64_t width = std::min(plan.cols, kTileColumns);
  // Taller tiles where there are enough of them: more rows for the same work on columns.
  const int64_t elements =
      std::clamp(plan.rows * plan.cols / (16 * threads.count()), kTileElements, kMostTileElements);
  const int64_t height = std::max<int64_t>(elements / width, 16);
  const int64_t down = (plan.rows + height - 1) / height;
  const int64_t across = (plan.cols + width - 1) / width;
  // A thread takes several horizontally adjacent tiles: what is found out about the rows is the
  // same for all of them.
  const int64_t parts = std::clamp<int64_t>(32 * threads.count() / down, 1, across);
  // Fewer pairs take less than 100 µs, which is about what it costs to wake up another thread and
  // to wait for what it has begun.
  constexpr int64_t kWorthSharing = 1 << 20;
  const int64_t grain = plan.rows * plan.cols < kWorthSharing ? down * parts : 1;
  threads.For(down * parts, grain, [&](int64_t begin, int64_t end) HWY_ATTR {
    Columns columns;
    for (int64_t job = begin; job < end; ++job) {
      const int64_t first_row = job / parts * height, part = job % parts;
      compare(Block{first_row, std::min(first_row + height, plan.rows), across * part / parts,
                    across * (part + 1) / parts, width, plan.cols},
              columns);
    }
    if (stream) hwy::FlushStream();
  });
}

}  // namespace
}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
