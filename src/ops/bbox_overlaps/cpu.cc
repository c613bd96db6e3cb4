// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the columns: a tile of columns is turned into separate arrays of x1, y1, x2, y2
// and area on the stack, then met by one row after another. Large results are streamed past the
// caches.
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/bbox_overlaps/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

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
};

// Adding 0 makes -0 a +0, which changes no result: see NoOffset.
template <class T>
HWY_INLINE Box<float> BoxAt(const T* boxes, int64_t i) {  // [.,4]
  return {math::ToFloat(boxes[4 * i]) + 0.0f, math::ToFloat(boxes[4 * i + 1]) + 0.0f,
          math::ToFloat(boxes[4 * i + 2]) + 0.0f, math::ToFloat(boxes[4 * i + 3]) + 0.0f};
}

template <class T>
void FillColumns(const T* boxes, int64_t count, float offset, Columns& columns) {
  for (int64_t j = 0; j < count; ++j) {
    const Box<float> b = BoxAt(boxes, j);
    columns.x1[j] = b.x1;
    columns.y1[j] = b.y1;
    columns.x2[j] = b.x2;
    columns.y2[j] = b.y2;
    columns.area[j] = BoxArea(b, offset);
  }
  // The last vector reads whole: give it numbers.
  for (int64_t j = count; j < count + Columns::kRoom; ++j) {
    columns.x1[j] = columns.y1[j] = columns.x2[j] = columns.y2[j] = columns.area[j] = 0.0f;
  }
}

template <bool kIoF, class Offset>
HWY_INLINE FloatLane Overlap(const Box<FloatLane>& a, const Box<FloatLane>& b, FloatLane area_a,
                             FloatLane area_b, Offset off, FloatLane least, FloatLane zero) {
  if constexpr (kIoF) {
    return BoxIoF(a, b, area_a, off, least, zero);
  } else {
    return BoxIoU(a, b, area_a, area_b, off, least, zero);
  }
}

// GCC 12 crashes where Row is inlined with vectors of SVE.
#undef DETOPS_INLINE_ROW
#if HWY_TARGET == HWY_SVE_256
#define DETOPS_INLINE_ROW HWY_NOINLINE
#else
#define DETOPS_INLINE_ROW HWY_INLINE
#endif

// One row against `count` columns.
template <bool kIoF, class Offset, class T>
DETOPS_INLINE_ROW void Row(const Box<float>& box, const Columns& columns, int64_t count,
                           float offset, Offset off, bool stream, T* out) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const Box<FloatLane> a = {Broadcast(box.x1), Broadcast(box.y1), Broadcast(box.x2),
                            Broadcast(box.y2)};
  const FloatLane area_a = Broadcast(BoxArea(box, offset));
  const FloatLane least = Broadcast(offset), zero = Broadcast(0.0f);
  const auto at = [&](int64_t j) HWY_ATTR {
    const Box<FloatLane> b = {LoadLane(columns.x1 + j), LoadLane(columns.y1 + j),
                              LoadLane(columns.x2 + j), LoadLane(columns.y2 + j)};
    return Overlap<kIoF>(a, b, area_a, LoadLane(columns.area + j), off, least, zero).v;
  };

  int64_t j = 0;
  if (stream) {
    const auto vector_bytes = static_cast<uintptr_t>(lanes) * sizeof(T);
    const uintptr_t past = reinterpret_cast<uintptr_t>(out) % vector_bytes;
    if (past != 0) {
      const auto head = static_cast<int64_t>((vector_bytes - past) / sizeof(T));
      j = std::min(head, count);
      StoreFirst(at(0), out, static_cast<size_t>(j));
    }
    for (; j + lanes <= count; j += lanes) StreamElements(at(j), out + j);
  } else {
    for (; j + lanes <= count; j += lanes) StoreElements(at(j), out + j);
  }
  if (j < count) StoreFirst(at(j), out + j, static_cast<size_t>(count - j));
}

template <bool kIoF, class T>
void Pairs(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
           cpu::Threads& threads) {
  const int64_t width = std::min(plan.cols, kTileColumns);
  const int64_t height = std::max<int64_t>(kTileElements / width, 16);
  const int64_t tiles_across = (plan.cols + width - 1) / width;
  const int64_t tiles = tiles_across * ((plan.rows + height - 1) / height);
  const bool stream = Streams(ious, plan.rows * plan.cols);
  threads.For(tiles, 1, [&](int64_t begin, int64_t end) HWY_ATTR {
    Columns columns;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first_row = tile / tiles_across * height;
      const int64_t first_col = tile % tiles_across * width;
      const int64_t last_row = std::min(first_row + height, plan.rows);
      const int64_t count = std::min(width, plan.cols - first_col);
      FillColumns(bbox2 + 4 * first_col, count, plan.offset, columns);
      for (int64_t i = first_row; i < last_row; ++i) {
        T* out = ious + i * plan.cols + first_col;
        const Box<float> box = BoxAt(bbox1, i);
        if (plan.offset == 0.0f) {
          Row<kIoF>(box, columns, count, plan.offset, NoOffset(), stream, out);
        } else {
          Row<kIoF>(box, columns, count, plan.offset, Broadcast(plan.offset), stream, out);
        }
      }
    }
    if (stream) hwy::FlushStream();
  });
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
