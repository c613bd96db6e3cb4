// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the columns: a tile of columns is converted to separate arrays of x1, y1, x2, y2
// and area on the stack, then compared with a few rows at a time. Large results are streamed past
// the caches.
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/bbox_overlaps/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ops/bbox_overlaps/columns-inl.h"
#include "ops/bbox_overlaps/rows-inl.h"
#include "ops/bbox_overlaps/two_rows-inl.h"

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

template <bool kIoF, class T>
void Pairs(const BboxOverlapsPlan& plan, const T* bbox1, const T* bbox2, T* ious,
           runtime::Threads& threads) {
  const Matrix<T> matrix = MatrixOf(plan, bbox1, bbox2, ious);
  ForBlocks(plan, matrix.stream, threads, [&](const Block& block, Columns& columns) HWY_ATTR {
    for (int64_t tile = block.first_tile; tile < block.last_tile; ++tile) {
      FillColumns<kIoF>(matrix, block.FirstColumn(tile), block.ColumnsIn(tile), false, columns);
      CompareRows<kIoF>(matrix, block.first_row, block.last_row, columns);
    }
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

#if HWY_TARGET == HWY_AVX3
// The rest runs as on cpu:avx512 instead of being refused: the tests and other callers that force
// an implementation by name expect it to take any plan.
void RunRowPairs(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, void* memory,
                 const runtime::Launch& launch) {
  if (!DividesForTwo(plan)) return Run(plan, args, memory, launch);
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    ComparePairs<math::Half>(plan, args, launch.threads);
  } else {
    ComparePairs<float>(plan, args, launch.threads);
  }
}
#endif

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

cpu::SimdKernels<BboxOverlaps> BboxOverlapsKernels() { return DETOPS_SIMD_KERNELS(Run); }
decltype(runtime::Implementation<BboxOverlaps>::run) BboxOverlapsRowPairsKernel() {
  return HWY_CHOOSE_AVX3(RunRowPairs);
}

}  // namespace detops::ops
#endif
