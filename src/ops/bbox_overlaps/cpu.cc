// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the columns: a tile of columns is converted to separate arrays of x1, y1, x2, y2
// and area on the stack, then compared with a few rows at a time, two of which may share a
// division. Large results are streamed past the caches.
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/bbox_overlaps/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "ops/bbox_overlaps/columns-inl.h"
#include "ops/bbox_overlaps/two_rows-inl.h"

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

template <bool kIoF, class T>
void Pairs(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
           runtime::Threads& threads) {
  const bool stream = Streams(ious, plan.rows * plan.cols);
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t step = stream ? lanes / std::gcd(lanes, plan.cols) : 1;
  const Matrix<T> matrix = {bbox1, bbox2, ious, plan.cols, plan.offset, stream, step};
  const int64_t width = std::min(plan.cols, kTileColumns);
  // Taller tiles where there are enough of them: more rows for the same work on columns.
  const int64_t elements =
      std::clamp(plan.rows * plan.cols / (16 * threads.count()), kTileElements, kMostTileElements);
  const int64_t height = std::max<int64_t>(elements / width, 16);
  const int64_t down = (plan.rows + height - 1) / height;
  const int64_t across = (plan.cols + width - 1) / width;
  // Horizontally adjacent tiles have the same pairs of rows, so a thread takes several.
  const int64_t parts = std::clamp<int64_t>(32 * threads.count() / down, 1, across);
  threads.For(down * parts, 1, [&](int64_t begin, int64_t end) HWY_ATTR {
    Columns columns;
    for (int64_t job = begin; job < end; ++job) {
      const int64_t part = job % parts;
      const int64_t first_row = job / parts * height;
      const int64_t last_row = std::min(first_row + height, plan.rows);
      RowPairs pairs;
      if constexpr (kDividesForTwo<kIoF>) {
        if (plan.offset == 0.0f && width >= kColumnsForPairs) {
          FindPairs(matrix, first_row, last_row, pairs);
        }
      }
      bool paired = pairs.count > pairs.others;  // which are computed one by one
      for (int64_t tile = across * part / parts; tile < across * (part + 1) / parts; ++tile) {
        const int64_t first_col = tile * width;
        const int64_t count = std::min(width, plan.cols - first_col);
        const bool transposed = paired && pairs.transposed;
        FillColumns<kIoF>(matrix, first_col, count, transposed, columns);
        bool compared = false;
        if constexpr (kDividesForTwo<kIoF>) {
          if (paired && columns.well_formed)
            compared = paired = ComparePairs(matrix, pairs, columns);
          if (compared && pairs.others == 0) continue;
        }
        if (transposed) FillColumns<kIoF>(matrix, first_col, count, false, columns);
        if (compared) {
          for (int64_t i = 0; i < pairs.others; ++i) {
            CompareRows<kIoF>(matrix, pairs.other[i], pairs.other[i] + 1, columns);
          }
        } else {
          CompareRows<kIoF>(matrix, first_row, last_row, columns);
        }
      }
    }
    if (stream) hwy::FlushStream();
  });
}

// How many boxes ahead aligned pairs prefetch, where boxes come from memory: the hardware
// prefetcher alone keeps fewer cache lines in flight than the memory could deliver.
constexpr int64_t kAhead = 256;

template <bool kIoF, class T>
void Aligned(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
             runtime::Threads& threads) {
  const FloatLane off = Broadcast(plan.offset), zero = Broadcast(0.0f);
  const bool stream = Streams(ious, plan.rows);
  threads.For(plan.rows, kTileElements, [&](int64_t begin, int64_t end) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(FloatLanes());
    const auto overlap = [&](const T* p1, const T* p2) HWY_ATTR {
      const Box<FloatLane> a = LoadBoxes(p1), b = LoadBoxes(p2);
      return Overlap<kIoF>(a, b, BoxArea(a, off), BoxArea(b, off), off, off, zero).v;
    };
    int64_t i = begin;
    if (stream && begin + lanes <= end) {
      // The first vector as a whole, then from the first aligned address on: the two may overlap.
      StoreElements(overlap(bbox1 + 4 * i, bbox2 + 4 * i), ious + i);
      i += ToWholeVector(ious + i);
      for (; i + lanes <= end; i += lanes) {
        if (i + kAhead + lanes <= end) {
          PrefetchToRead(bbox1 + 4 * (i + kAhead), 4 * lanes);
          PrefetchToRead(bbox2 + 4 * (i + kAhead), 4 * lanes);
        }
        StreamElements(overlap(bbox1 + 4 * i, bbox2 + 4 * i), ious + i);
      }
      hwy::FlushStream();
    }
    for (; i + lanes <= end; i += lanes) {
      StoreElements(overlap(bbox1 + 4 * i, bbox2 + 4 * i), ious + i);
    }
    if (i >= end) return;
    T tail1[4 * HWY_MAX_BYTES / sizeof(float)] = {}, tail2[4 * HWY_MAX_BYTES / sizeof(float)] = {};
    std::copy(bbox1 + 4 * i, bbox1 + 4 * end, tail1);
    std::copy(bbox2 + 4 * i, bbox2 + 4 * end, tail2);
    StoreFirst(overlap(tail1, tail2), ious + i, static_cast<size_t>(end - i));
  });
}

template <class T>
void RunTyped(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args,
              runtime::Threads& threads) {
  const auto* bbox1 = static_cast<const T*>(args.bbox1);
  const auto* bbox2 = static_cast<const T*>(args.bbox2);
  auto* ious = static_cast<T*>(args.ious);
  if (plan.aligned) {
    plan.iof ? Aligned<true>(plan, bbox1, bbox2, ious, threads)
             : Aligned<false>(plan, bbox1, bbox2, ious, threads);
  } else {
    plan.iof ? Pairs<true>(plan, bbox1, bbox2, ious, threads)
             : Pairs<false>(plan, bbox1, bbox2, ious, threads);
  }
}

}  // namespace

void Run(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, void*,
         const runtime::Launch& launch) {
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    RunTyped<math::Half>(plan, args, launch.threads);
  } else {
    RunTyped<float>(plan, args, launch.threads);
  }
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

cpu::SimdKernels<BboxOverlaps> BboxOverlapsKernels() { return DETOPS_SIMD_KERNELS(Run); }

}  // namespace detops::ops
#endif
