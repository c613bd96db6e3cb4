// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the columns: a tile of columns is turned into separate arrays of x1, y1, x2, y2
// and area on the stack, then met by some rows after others, two of which may share a division.
// Large results are streamed past the caches.
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"
#include "ops/bbox_overlaps/row_pairs.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/bbox_overlaps/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "cpu/lane-inl.h"
#include "math/box.h"
#include "math/half.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

// Columns of a tile: five arrays of floats that stay in the first-level cache.
constexpr int64_t kTileColumns = 1024;
// Elements of a tile at least, enough work for a thread to be worth waking, and at most.
constexpr int64_t kTileElements = 64 * 1024;
constexpr int64_t kMostTileElements = 4 * kTileElements;
// Results above this don't stay in any cache until someone reads them.
constexpr int64_t kStreamBytes = 16 << 20;

// Only from where whole elements can reach an aligned address.
template <class T>
bool Streams(const T* ious, int64_t count) {
  return count * static_cast<int64_t>(sizeof(T)) >= kStreamBytes &&
         reinterpret_cast<uintptr_t>(ious) % sizeof(T) == 0;
}

// With room for the vector that begins at the last column: a row may start at any lane.
struct Columns {
  static constexpr int64_t kRoom = HWY_MAX_BYTES / sizeof(float);
  static constexpr int64_t kSize = kTileColumns + kRoom;
  HWY_ALIGN float x1[kSize], y1[kSize], x2[kSize], y2[kSize], area[kSize];
  int64_t first, count;  // of the matrix
  bool tame;             // all of them, see Tame
  float widest;          // x2 - x1
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

// Ordinary boxes: not turned over, with coordinates that are 0 or of ordinary size. So no sum,
// difference or product of them is infinite or NaN, no area and no union is below 0, and a maximum
// with 0 changes no bit of them.
template <bool kIoF>
struct Tame {
  // IoF divides a whole row by the same area: see Divide. With 256 bits the divider is as fast.
  static constexpr bool kOneDivisor = kIoF ? HWY_TARGET == HWY_AVX3 : false;
  // From kLeast to below kMost. For Divide: from 2^-20 on, coordinates are multiples of 2^-43, so
  // an intersection is 0 or at least 2^-86; below 2^16, areas are below 2^34. So a quotient is at
  // least 2^-120, and the last bit of a remainder 2^-133.
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
    auto tame = hn::And(ordered, small);
    if constexpr (kOneDivisor) {
      for (const FloatLane& x : {b.x1, b.y1, b.x2, b.y2}) {
        const auto below = hn::Lt(hn::Abs(x.v), hn::Set(tag, kLeast));
        tame = hn::AndNot(hn::And(below, hn::Ne(x.v, hn::Zero(tag))), tame);
      }
    }
    return hn::AllTrue(tag, tame);
  }
};

// The result and what it is made of.
template <class T>
struct Matrix {
  const T *bbox1, *bbox2;
  T* ious;
  int64_t cols;
  float offset;
  bool stream;
  int64_t step;  // from one row to the next that begins at the same place of a vector

  T* At(int64_t row, const Columns& columns) const { return ious + row * cols + columns.first; }
};

// Some columns and, for the last vector, numbers behind them. Turned ones have x and y exchanged,
// which changes no bit of an overlap of ordinary boxes.
// Inlined, it made the loops over rows slower: 8 % with halves.
template <bool kIoF, class T>
HWY_NOINLINE void FillColumns(const Matrix<T>& matrix, int64_t first, int64_t count, bool turned,
                              Columns& columns) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const FloatLane zero = Broadcast(0.0f), off = Broadcast(matrix.offset);
  const T* const boxes = matrix.bbox2 + 4 * first;
  FloatLane widest = zero;
  bool tame = true;
  for (int64_t j = 0; j < count + Columns::kRoom; j += lanes) {
    const int64_t there = std::clamp<int64_t>(count - j, 0, lanes);
    const T* from = boxes + 4 * std::min(j, count);
    T last[4 * HWY_MAX_BYTES / sizeof(float)];
    if (there < lanes) {
      std::fill(std::copy_n(from, 4 * there, last), std::end(last), T());
      from = last;
    }
    Box<FloatLane> b = LoadBoxes(from);
    b = {b.x1 + zero, b.y1 + zero, b.x2 + zero, b.y2 + zero};
    if (turned) b = {b.y1, b.x1, b.y2, b.x2};
    StoreElements(b.x1.v, columns.x1 + j);
    StoreElements(b.y1.v, columns.y1 + j);
    StoreElements(b.x2.v, columns.x2 + j);
    StoreElements(b.y2.v, columns.y2 + j);
    StoreElements(BoxArea(b, off).v, columns.area + j);
    tame = tame && Tame<kIoF>::AsColumns(b);
    widest = Max(b.x2 - b.x1, widest);
  }
  columns.first = first;
  columns.count = count;
  columns.tame = tame;
  const FloatVec widths = widest.v;
  columns.widest = hn::GetLane(hn::MaxOfLanes(FloatTag(), widths));
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

// Elements from here to the next address that is aligned to a whole vector of them.
template <class T>
HWY_INLINE int64_t ToWholeVector(const T* p) {
  const auto bytes = static_cast<uintptr_t>(FloatLanes() * sizeof(T));
  return static_cast<int64_t>((-reinterpret_cast<uintptr_t>(p)) % bytes / sizeof(T));
}

// Rows that meet a vector of columns while it is in registers. Where a vector is no whole line of
// the cache, rows in turn would stream halves of lines, which is slower.
constexpr int64_t kRows = HWY_TARGET == HWY_AVX3 ? 4 : 1;

// GCC 12 crashes where Meet is inlined with vectors of SVE.
#undef DETOPS_INLINE_MEET
#if HWY_TARGET == HWY_SVE_256
#define DETOPS_INLINE_MEET HWY_NOINLINE
#else
#define DETOPS_INLINE_MEET HWY_INLINE
#endif

// a / b, rounded as a division does it, with y = 1/b rounded and what it lacks, (1 - b*y) * y. The
// first quotient is one of the two floats around the true one; its remainder, which is exact, then
// leads to the nearest. Processors do these four several times as fast as one division. For
// 0 <= a <= b, where nothing on the way is too small for a float: see Tame.
HWY_INLINE FloatLane Divide(FloatLane a, FloatLane b, FloatLane y, FloatLane lack) {
  const FloatVec q = hn::MulAdd(a.v, y.v, hn::Mul(a.v, lack.v));
  return {hn::MulAdd(hn::NegMulAdd(b.v, q, a.v), y.v, q)};
}

// kCount rows, `apart` from each other, against the columns. To be streamed they must all begin at
// the same place of a vector.
template <int64_t kCount, bool kIoF, bool kTame, class Offset, class Least, class Zero, class T>
DETOPS_INLINE_MEET void Meet(const Box<float> (&boxes)[kCount], const Columns& columns,
                             float offset, Offset off, Least least, Zero zero, bool stream, T* out,
                             int64_t apart) {
  constexpr bool kByMultiplying = kTame && Tame<kIoF>::kOneDivisor;
  const auto lanes = static_cast<int64_t>(FloatLanes());
  struct {
    Box<FloatLane> box;
    FloatLane area;
  } rows[kCount] = {};  // else GCC makes a constructor, for no target, that NEON's can't go into
  for (int64_t r = 0; r < kCount; ++r) {
    rows[r] = {{Broadcast(boxes[r].x1), Broadcast(boxes[r].y1), Broadcast(boxes[r].x2),
                Broadcast(boxes[r].y2)},
               Broadcast(BoxArea(boxes[r], offset))};
  }
  FloatLane reciprocals[kCount] = {}, lacks[kCount] = {};
  for (int64_t r = 0; kByMultiplying && r < kCount; ++r) {
    const FloatLane one = Broadcast(1.0f), y = one / rows[r].area;
    reciprocals[r] = y;
    lacks[r] = {hn::Mul(hn::NegMulAdd(rows[r].area.v, y.v, one.v), y.v)};
  }
  // Left alone, GCC calls it.
  const auto at = [&](int64_t j, auto store) HWY_ATTR __attribute__((always_inline)) {
    const Box<FloatLane> b = {LoadLane(columns.x1 + j), LoadLane(columns.y1 + j),
                              LoadLane(columns.x2 + j), LoadLane(columns.y2 + j)};
    const FloatLane area = LoadLane(columns.area + j);
    for (int64_t r = 0; r < kCount; ++r) {
      T* const to = out + r * apart + j;
      if constexpr (kByMultiplying) {
        const FloatLane inter = BoxIntersection(rows[r].box, b, off, zero);
        store(Divide(inter, rows[r].area, reciprocals[r], lacks[r]).v, to);
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

// Rows from `first` to before `last`, some at a time.
template <bool kIoF, class T>
HWY_INLINE void MeetRows(const Matrix<T>& matrix, int64_t first, int64_t last,
                         const Columns& columns) {
  const int64_t step = matrix.step;
  // The row, and those behind it that are met with it.
  const auto meet = [&](int64_t i, auto rows) HWY_ATTR {
    Box<float> boxes[rows];
    bool tame = matrix.offset == 0.0f && columns.tame;
    for (int64_t r = 0; r < rows; ++r) {
      boxes[r] = BoxAt(matrix.bbox1, i + r * step);
      tame = tame && Tame<kIoF>::AsRow(boxes[r]);
    }
    T* out = matrix.At(i, columns);
    if (tame) {
      Meet<rows, kIoF, true>(boxes, columns, 0.0f, NoOffset(), NoLeast(), BroadcastAtLeast(0.0f),
                             matrix.stream, out, step * matrix.cols);
    } else {
      const FloatLane off = Broadcast(matrix.offset);
      Meet<rows, kIoF, false>(boxes, columns, matrix.offset, off, off, Broadcast(0.0f),
                              matrix.stream, out, step * matrix.cols);
    }
  };
  for (int64_t some = first; some < last; some += kRows * step) {
    for (int64_t i = some; i < std::min(some + step, last); ++i) {
      if (i + (kRows - 1) * step < last) {
        meet(i, std::integral_constant<int64_t, kRows>());
      } else {
        for (int64_t one = i; one < last; one += step) {
          meet(one, std::integral_constant<int64_t, 1>());
        }
      }
    }
  }
}

// ---- one division for two rows ----------------------------------------------------------------
//
// The divider is what limits IoU in vectors of 512 bits on Intel's processors. Of two rows with a
// gap between them, a column meets one at most, unless it spans the gap. So each lane takes the row
// that its column can meet, and one division serves both; with the other row the overlap is 0.
template <bool kIoF>
constexpr bool kDividesForTwo = HWY_TARGET == HWY_AVX3 && !kIoF;

// With fewer columns, to find the pairs costs more than they save.
constexpr int64_t kColumnsForPairs = 512;
static_assert(kMostTileElements / kColumnsForPairs <= RowPairs::kMostRows);

// Pair p, for ordinary boxes, and rows with an area above 0, so that nothing is 0/0. Returns how
// many vectors had a column that spans the gap; without kSpans there is none.
template <bool kSpans, class T>
HWY_NOINLINE int64_t MeetBoth(const Matrix<T>& matrix, const RowPairs& pairs, int64_t p,
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

  // Both rows by themselves.
  const auto each = [&](int64_t j, auto store) HWY_ATTR {
    const Box<FloatLane> b = {LoadLane(columns.x1 + j), LoadLane(columns.y1 + j),
                              LoadLane(columns.x2 + j), LoadLane(columns.y2 + j)};
    const FloatLane area = LoadLane(columns.area + j);
    store(BoxIoU(l.box, b, l.area, area, NoOffset(), NoLeast(), zero).v, left_out + j);
    store(BoxIoU(r.box, b, r.area, area, NoOffset(), NoLeast(), zero).v, right_out + j);
  };
  const auto first = [&](int64_t j, int64_t some) HWY_ATTR {
    each(j, [&](FloatVec v, T* to) HWY_ATTR { StoreFirst(v, to, static_cast<size_t>(some)); });
  };

  int64_t spanning = 0;
  const auto all = [&](int64_t j, auto streams) HWY_ATTR __attribute__((always_inline)) {
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
    // BoxIoU of either row, but the height is left negative where it is: then the quotient is
    // negative too, or -0, and becomes the 0 that it should be when it is stored.
    const auto either = [&](FloatLane a, FloatLane b) HWY_ATTR __attribute__((always_inline)) {
      return hn::IfThenElse(is_right, b.v, a.v);
    };
    const FloatVec from_x = hn::Max(either(l.box.x1, r.box.x1), x1);
    const FloatVec to_x = hn::Min(either(l.box.x2, r.box.x2), x2);
    const FloatVec from_y = hn::Max(either(l.box.y1, r.box.y1), LoadLane(columns.y1 + j).v);
    const FloatVec to_y = hn::Min(either(l.box.y2, r.box.y2), LoadLane(columns.y2 + j).v);
    const FloatVec w = hn::Max(hn::Sub(to_x, from_x), zero.v);
    const FloatVec inter = hn::Mul(w, hn::Sub(to_y, from_y));
    const FloatVec areas = hn::Add(either(l.area, r.area), LoadLane(columns.area + j).v);
    StoreParted<streams>(hn::Div(inter, hn::Sub(areas, inter)), is_right, left_out + j,
                         right_out + j);
  };

  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t count = columns.count;
  int64_t j = 0;
  if (matrix.stream) {
    j = std::min(ToWholeVector(left_out), count);
    if (j > 0) first(0, j);
    for (; j + lanes <= count; j += lanes) all(j, std::true_type());
  } else {
    // Rows come in no order that a processor could foresee: those of the next pair are asked for.
    const int64_t next = std::min(p + 1, pairs.count - 1);
    const T* const next_left = matrix.At(pairs.left[next].index, columns);
    const T* const next_right = matrix.At(pairs.right[next].index, columns);
    for (; j + lanes <= count; j += lanes) {
      PrefetchToWrite(next_left + j, 1);
      PrefetchToWrite(next_right + j, 1);
      all(j, std::false_type());
    }
  }
  if (j < count) first(j, count - j);
  return spanning;
}

// Of the rows from `first` to before `last`.
template <class T>
HWY_NOINLINE void FindPairs(const Matrix<T>& matrix, int64_t first, int64_t last, RowPairs& pairs) {
  RowPairs::Row rows[RowPairs::kMostRows];
  int64_t count = 0;
  for (int64_t place = first; place < std::min(first + matrix.step, last); ++place) {
    for (int64_t i = place; i < last; i += matrix.step) {
      const Box<float> b = BoxAt(matrix.bbox1, i);
      const float area = BoxArea(b, 0.0f);
      if (Tame<false>::AsRow(b) && area > 0.0f) {
        rows[count++] = {b.x1, b.y1, b.x2, b.y2, area, i};
      } else {
        pairs.AddOther(i);
      }
    }
  }
  pairs.Add(rows, count, matrix.step);
}

// False, with some rows done, where so many columns span gaps that pairs save nothing.
template <class T>
HWY_INLINE bool MeetPairs(const Matrix<T>& matrix, const RowPairs& pairs, const Columns& columns) {
  int64_t spanning = 0;
  for (int64_t p = 0; p < pairs.count; ++p) {
    // Rounding keeps the order: what holds for the differences holds for the numbers.
    if (pairs.right[p].x1 - pairs.left[p].x2 > columns.widest) {
      MeetBoth<false>(matrix, pairs, p, columns);
    } else {
      spanning += MeetBoth<true>(matrix, pairs, p, columns);
    }
    // A quarter of all vectors, but the first pairs may be the worst.
    if (4 * static_cast<int64_t>(FloatLanes()) * spanning > (p + 8) * columns.count) return false;
  }
  return true;
}

template <bool kIoF, class T>
void Pairs(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
           cpu::Threads& threads) {
  const bool stream = Streams(ious, plan.rows * plan.cols);
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t step = stream ? lanes / std::gcd(lanes, plan.cols) : 1;
  const Matrix<T> matrix = {bbox1, bbox2, ious, plan.cols, plan.offset, stream, step};
  const int64_t width = std::min(plan.cols, kTileColumns);
  // Higher tiles where there are enough of them: more rows for the same work on columns.
  const int64_t elements =
      std::clamp(plan.rows * plan.cols / (16 * threads.count()), kTileElements, kMostTileElements);
  const int64_t height = std::max<int64_t>(elements / width, 16);
  const int64_t down = (plan.rows + height - 1) / height;
  const int64_t across = (plan.cols + width - 1) / width;
  // Tiles beside each other have the same pairs of rows, so a thread takes several.
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
      bool paired = pairs.count > pairs.others;  // which are met one by one
      for (int64_t tile = across * part / parts; tile < across * (part + 1) / parts; ++tile) {
        const int64_t first_col = tile * width;
        const int64_t count = std::min(width, plan.cols - first_col);
        const bool turned = paired && pairs.turned;
        FillColumns<kIoF>(matrix, first_col, count, turned, columns);
        bool met = false;
        if constexpr (kDividesForTwo<kIoF>) {
          if (paired && columns.tame) met = paired = MeetPairs(matrix, pairs, columns);
          if (met && pairs.others == 0) continue;
        }
        if (turned) FillColumns<kIoF>(matrix, first_col, count, false, columns);
        if (met) {
          for (int64_t i = 0; i < pairs.others; ++i) {
            MeetRows<kIoF>(matrix, pairs.other[i], pairs.other[i] + 1, columns);
          }
        } else {
          MeetRows<kIoF>(matrix, first_row, last_row, columns);
        }
      }
    }
    if (stream) hwy::FlushStream();
  });
}

// Boxes that aligned pairs ask for ahead of time, where they come from memory: left to itself, a
// processor has fewer lines of them on their way than the memory could send.
constexpr int64_t kAhead = 256;

template <bool kIoF, class T>
void Aligned(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
             cpu::Threads& threads) {
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
      // The first vector whole, then from the first aligned one on: they may share elements.
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
void RunTyped(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, cpu::Threads& threads) {
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
         const core::Launch& launch) {
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    RunTyped<math::Half>(plan, args, launch.threads);
  } else {
    RunTyped<float>(plan, args, launch.threads);
  }
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace detops::ops {

cpu::SimdKernels<BboxOverlaps> BboxOverlapsKernels() { return DETOPS_SIMD_KERNELS(Run); }

}  // namespace detops::ops
#endif
