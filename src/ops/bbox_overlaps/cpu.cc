// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the columns: a tile of columns is turned into separate arrays of x1, y1, x2, y2
// and area on the stack, then met by some rows after others. Large results are streamed past the
// caches.
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"

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
// Elements of a tile at least: enough work for a thread to be worth waking.
constexpr int64_t kTileElements = 64 * 1024;
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
  bool tame;  // all of them, see Tame
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

// `count` columns and, for the last vector, numbers behind them.
// Inlined, it made the loops over rows slower: 8 % with halves.
template <bool kIoF, class T>
HWY_NOINLINE void FillColumns(const T* boxes, int64_t count, float offset, Columns& columns) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const FloatLane zero = Broadcast(0.0f), off = Broadcast(offset);
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
    StoreElements(b.x1.v, columns.x1 + j);
    StoreElements(b.y1.v, columns.y1 + j);
    StoreElements(b.x2.v, columns.x2 + j);
    StoreElements(b.y2.v, columns.y2 + j);
    StoreElements(BoxArea(b, off).v, columns.area + j);
    tame = tame && Tame<kIoF>::AsColumns(b);
  }
  columns.tame = tame;
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

// kCount rows, `apart` from each other, against `count` columns. To be streamed they must all begin
// at the same place of a vector.
template <int64_t kCount, bool kIoF, bool kTame, class Offset, class Least, class Zero, class T>
DETOPS_INLINE_MEET void Meet(const Box<float> (&boxes)[kCount], const Columns& columns,
                             int64_t count, float offset, Offset off, Least least, Zero zero,
                             bool stream, T* out, int64_t apart) {
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

  int64_t j = 0;
  if (stream) {
    const auto vector_bytes = static_cast<uintptr_t>(lanes) * sizeof(T);
    const uintptr_t past = reinterpret_cast<uintptr_t>(out) % vector_bytes;
    if (past != 0) {
      j = std::min(static_cast<int64_t>((vector_bytes - past) / sizeof(T)), count);
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

template <bool kIoF, class T>
void Pairs(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
           cpu::Threads& threads) {
  const int64_t width = std::min(plan.cols, kTileColumns);
  // Higher ones where there are enough of them: more rows for the same work on columns.
  const int64_t elements =
      std::clamp(plan.rows * plan.cols / (16 * threads.count()), kTileElements, 4 * kTileElements);
  const int64_t height = std::max<int64_t>(elements / width, 16);
  const int64_t tiles_across = (plan.cols + width - 1) / width;
  const int64_t tiles = tiles_across * ((plan.rows + height - 1) / height);
  const bool stream = Streams(ious, plan.rows * plan.cols);
  // From one row to the next that begins at the same place of a vector.
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t step = stream ? lanes / std::gcd(lanes, plan.cols) : 1;
  threads.For(tiles, 1, [&](int64_t begin, int64_t end) HWY_ATTR {
    Columns columns;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first_row = tile / tiles_across * height;
      const int64_t first_col = tile % tiles_across * width;
      const int64_t last_row = std::min(first_row + height, plan.rows);
      const int64_t count = std::min(width, plan.cols - first_col);
      FillColumns<kIoF>(bbox2 + 4 * first_col, count, plan.offset, columns);
      // The row, and those behind it that are met with it.
      const auto meet = [&](int64_t i, auto rows) HWY_ATTR {
        Box<float> boxes[rows];
        bool tame = plan.offset == 0.0f && columns.tame;
        for (int64_t r = 0; r < rows; ++r) {
          boxes[r] = BoxAt(bbox1, i + r * step);
          tame = tame && Tame<kIoF>::AsRow(boxes[r]);
        }
        T* out = ious + i * plan.cols + first_col;
        if (tame) {
          Meet<rows, kIoF, true>(boxes, columns, count, 0.0f, NoOffset(), NoLeast(),
                                 BroadcastAtLeast(0.0f), stream, out, step * plan.cols);
        } else {
          Meet<rows, kIoF, false>(boxes, columns, count, plan.offset, Broadcast(plan.offset),
                                  Broadcast(plan.offset), Broadcast(0.0f), stream, out,
                                  step * plan.cols);
        }
      };
      for (int64_t first = first_row; first < last_row; first += kRows * step) {
        for (int64_t i = first; i < std::min(first + step, last_row); ++i) {
          if (i + (kRows - 1) * step < last_row) {
            meet(i, std::integral_constant<int64_t, kRows>());
          } else {
            for (int64_t one = i; one < last_row; one += step) {
              meet(one, std::integral_constant<int64_t, 1>());
            }
          }
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
      const auto vector_bytes = static_cast<uintptr_t>(lanes) * sizeof(T);
      StoreElements(overlap(bbox1 + 4 * i, bbox2 + 4 * i), ious + i);
      i +=
          static_cast<int64_t>((-reinterpret_cast<uintptr_t>(ious + i)) % vector_bytes / sizeof(T));
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
