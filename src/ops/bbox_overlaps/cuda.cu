// SPDX-License-Identifier: Apache-2.0
//
// A block processes a range of columns, eight per thread in registers, and some rows, one after the
// other. Where all of its boxes are well-formed (see Range), an element takes fewer instructions,
// because those left out can't change a bit there; otherwise the shared formulas are used.
#include <cstdint>

#include "cuda/halves.cuh"
#include "math/box.h"
#include "math/half.h"
#include "ops/bbox_overlaps/divide.cuh"
#include "ops/bbox_overlaps/plan.h"
#include "runtime/cuda/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

using math::Box;

constexpr int kThreads = 128;
constexpr int kColumns = 8;  // per thread
constexpr int kBlockColumns = kThreads * kColumns;
// Rows per block. Few where memory is the limit, so that writes at about the same time are close
// together and the last blocks end soon. More for halves, so that loading the columns is
// negligible.
constexpr int kMinRows = 4;
template <class T>
constexpr int kMaxRows = sizeof(T) == sizeof(float) ? 16 : 96;
constexpr int kBlocks = 5;  // per multiprocessor at once

template <class T>
__device__ Box<float> LoadBox(const T* box) {
  return {math::ToFloat(box[0]), math::ToFloat(box[1]), math::ToFloat(box[2]),
          math::ToFloat(box[3])};
}
// A single load, where boxes start at multiples of their size.
__device__ Box<float> LoadAlignedBox(const float* box) {
  const float4 b = *reinterpret_cast<const float4*>(box);
  return {b.x, b.y, b.z, b.w};
}
__device__ Box<float> LoadAlignedBox(const math::Half* box) {
  const uint2 bits = *reinterpret_cast<const uint2*>(box);
  const float2 low = cuda::FromHalves(bits.x), high = cuda::FromHalves(bits.y);
  return {low.x, low.y, high.x, high.y};
}

struct Matrix {
  int64_t rows, cols;
  int rows_per_block;
};

// Boxes for which the short formula gives the same bits as BoxIoU and BoxIoF: x1 <= x2, y1 <= y2,
// no -0, no NaN, and coordinates within a range (of the whole block) in which nothing underflows or
// overflows. Then
// - the hardware's minimum and maximum agree with Min and Max;
// - a power of two that scales all coordinates below 1/2 scales every step exactly, and lengths
//   are at most 1 without an offset, so that a saturating subtraction is Max(0, .) for free;
// - the intersection is no more than either area, so the union is not below 0.
struct Range {
  uint32_t least = UINT32_MAX;  // of the magnitudes except 0: twice its bits, less 1
  float most = 0.0f;            // of the magnitudes
  int lowest = 0;               // of the bits, as integers, of which -0 has the lowest
  bool ordered = true;          // x1 <= x2 and y1 <= y2, which NaN never satisfies

  __device__ void Include(float v) {
    least = min(least, 2 * __float_as_uint(v) - 1);
    most = fmaxf(most, fabsf(v));
    lowest = min(lowest, __float_as_int(v));
  }
  __device__ void Include(const Box<float>& b) {
    Include(b.x1);
    Include(b.y1);
    Include(b.x2);
    Include(b.y2);
    ordered = ordered & (b.x1 <= b.x2) & (b.y1 <= b.y2);
  }
};

// The block's scale: 0 if not all boxes are well-formed, else the factor for their coordinates.
__device__ float ScaleOf(const Range& mine) {
  __shared__ uint32_t least[kThreads / 32], most[kThreads / 32];
  uint32_t low = mine.least, high = __float_as_uint(mine.most);
  for (int distance = 16; distance > 0; distance /= 2) {
    low = min(low, __shfl_xor_sync(0xffffffffu, low, distance));
    high = max(high, __shfl_xor_sync(0xffffffffu, high, distance));
  }
  if (threadIdx.x % 32 == 0) {
    least[threadIdx.x / 32] = low;
    most[threadIdx.x / 32] = high;
  }
  if (!__syncthreads_and(mine.ordered && mine.lowest != INT32_MIN)) return 0.0f;
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    low = min(low, least[warp]);
    high = max(high, most[warp]);
  }
  // With the largest in [1/4, 1/2) and the smallest at least 2^-27, coordinates are multiples of
  // 2^-50, areas of 2^-100, and quotients are at least that: all are normal, and remainders are
  // exact. The unscaled formula does not underflow or overflow either.
  const int exponent = static_cast<int>(high >> 23) - 127;
  const bool fits =
      exponent > -12 && exponent < 40 && static_cast<int>(low >> 24) - 127 >= exponent - 25;
  return fits ? __uint_as_float(static_cast<uint32_t>(127 - exponent - 2) << 23) : 0.0f;
}

// The overlap of two well-formed boxes, scaled.
template <bool kIof, bool kOffset>
struct Overlap {
  float inter;
  float areas;  // of both; IoF: of the first

  __device__ Overlap(const float4& a, float area_a, const Box<float>& b, float area_b, float off) {
    float w = fminf(a.z, b.x2) - fmaxf(a.x, b.x1);
    float h = fminf(a.w, b.y2) - fmaxf(a.y, b.y1);
    if (kOffset) {
      w += off;
      h += off;
    }
    // With an offset a length may exceed 1.
    inter = kOffset ? fmaxf(w, 0.0f) * fmaxf(h, 0.0f) : __saturatef(w) * __saturatef(h);
    areas = kIof ? area_a : area_a + area_b;
  }
  __device__ float Quotient(float least) const {
    const float base = kIof ? areas : areas - inter;
    return DivideInRange(inter, kOffset ? fmaxf(base, least) : base);
  }
  __device__ QuotientBounds Bounds(float least) const {
    return BoundQuotient(inter, areas, kIof ? 0.0f : inter, kOffset ? least : 0.0f);
  }
};

// A thread's results for a row, as they are stored.
template <class T>
struct Results;

template <>
struct Results<float> {
  float values[kColumns];

  template <class OverlapOf>
  __device__ Results(const OverlapOf& overlap_of, float least) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) values[i] = overlap_of(i).Quotient(least);
  }
  // Stores four values from column i on, or one.
  template <bool kFour>
  __device__ void Store(float* to, int i) const {
    if constexpr (kFour) {
      __stcs(reinterpret_cast<float4*>(to),
             make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]));
    } else {
      *to = values[i];
    }
  }
};

// A quotient that is known to a few units in the last place of float nearly always determines the
// half; the others are divided like floats.
template <>
struct Results<math::Half> {
  uint32_t pairs[kColumns / 2];

  template <class OverlapOf>
  __device__ Results(const OverlapOf& overlap_of, float least) {
    uint32_t highs[kColumns / 2], doubt = 0;
#pragma unroll
    for (int p = 0; p < kColumns / 2; ++p) {
      const QuotientBounds first = overlap_of(2 * p).Bounds(least);
      const QuotientBounds second = overlap_of(2 * p + 1).Bounds(least);
      pairs[p] = cuda::ToHalves(first.low, second.low);
      highs[p] = cuda::ToHalves(first.high, second.high);
      doubt |= pairs[p] ^ highs[p];
    }
    if (doubt == 0) return;
#pragma unroll
    for (int p = 0; p < kColumns / 2; ++p) {
      if (pairs[p] != highs[p]) {
        pairs[p] = cuda::ToHalves(overlap_of(2 * p).Quotient(least),
                                  overlap_of(2 * p + 1).Quotient(least));
      }
    }
  }
  template <bool kFour>
  __device__ void Store(math::Half* to, int i) const {
    if constexpr (kFour) {
      __stcs(reinterpret_cast<uint2*>(to), make_uint2(pairs[i / 2], pairs[i / 2 + 1]));
    } else {
      to->bits = static_cast<uint16_t>(pairs[i / 2] >> (i % 2 * 16));
    }
  }
};

// The columns of a thread. kWide: rows start at multiples of four elements in memory, and boxes at
// multiples of their size, so the columns are two groups of four neighbours. Otherwise they are a
// block width apart, so that a warp's stores are still coalesced.
template <bool kWide>
struct Columns {
  static constexpr int kStep = kWide ? 4 : 1;  // stored at once

  int64_t first;
  int count;  // of them that are inside the matrix

  __device__ Columns(int64_t begin, int64_t cols) : first(begin + threadIdx.x * kStep), count(0) {
    while (count < kColumns && first + From(count) < cols) count += kStep;
  }
  // The distance of column i from the first.
  __device__ static constexpr int From(int i) { return i / kStep * (kThreads * kStep) + i % kStep; }
};

// For any boxes. A separate function, so that its registers don't count towards the common case.
template <class T, bool kWide, bool kIof, bool kOffset>
__device__ __noinline__ void ExactRows(int64_t first_row, int rows, int64_t cols,
                                       Columns<kWide> columns, const T* bbox1, const T* bbox2,
                                       T* ious) {
  constexpr float kOff = kOffset ? 1.0f : 0.0f;
  for (int i = 0; i < columns.count; ++i) {
    const int64_t column = columns.first + columns.From(i);
    const Box<float> b = LoadBox(bbox2 + 4 * column);
    const float area_b = math::BoxArea(b, kOff);
    for (int64_t row = first_row; row < first_row + rows; ++row) {
      const Box<float> a = LoadBox(bbox1 + 4 * row);
      const float area_a = math::BoxArea(a, kOff);
      ious[row * cols + column] =
          math::FromFloat<T>(kIof ? math::BoxIoF(a, b, area_a, kOff, kOff, 0.0f)
                                  : math::BoxIoU(a, b, area_a, area_b, kOff, kOff, 0.0f));
    }
  }
}

template <class T, bool kWide, bool kIof, bool kOffset>
__global__ void __launch_bounds__(kThreads, kBlocks)
    PairsKernel(Matrix matrix, const T* bbox1, const T* bbox2, T* ious) {
  cuda::BeginKernel();
  constexpr float kOff = kOffset ? 1.0f : 0.0f;
  static_assert(kMaxRows<T> <= kThreads);
  __shared__ float4 row_box[kMaxRows<T> + 1];  // one more, which is read but not used
  __shared__ float row_area[kMaxRows<T> + 1];

  // Row blocks in y and z: y alone is limited to 65535.
  const int64_t first_row = (int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * matrix.rows_per_block;
  if (first_row >= matrix.rows) return;
  const int rows = static_cast<int>(min(int64_t{matrix.rows_per_block}, matrix.rows - first_row));
  const Columns<kWide> columns(int64_t{blockIdx.x} * kBlockColumns, matrix.cols);

  Range range;
  Box<float> b[kColumns];
  float area[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const T* from = i < columns.count ? bbox2 + 4 * (columns.first + columns.From(i)) : bbox2;
    b[i] = kWide ? LoadAlignedBox(from) : LoadBox(from);
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    range.Include(b[i]);
    area[i] = math::BoxArea(b[i], kOff);
  }
  Box<float> a = {};
  if (threadIdx.x < rows) {
    const T* from = bbox1 + 4 * (first_row + threadIdx.x);
    a = kWide ? LoadAlignedBox(from) : LoadBox(from);
    range.Include(a);
  }
  if (kOffset) range.Include(1.0f);
  const float scale = ScaleOf(range);
  if (scale == 0.0f) {
    ExactRows<T, kWide, kIof, kOffset>(first_row, rows, matrix.cols, columns, bbox1, bbox2, ious);
    return;
  }

  const float off = kOff * scale, least = off * scale;
  if (threadIdx.x < rows) {
    row_box[threadIdx.x] = make_float4(a.x1 * scale, a.y1 * scale, a.x2 * scale, a.y2 * scale);
    row_area[threadIdx.x] = math::BoxArea(a, kOff) * (scale * scale);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    b[i] = {b[i].x1 * scale, b[i].y1 * scale, b[i].x2 * scale, b[i].y2 * scale};
    area[i] *= scale * scale;
  }
  T* to = ious + first_row * matrix.cols + columns.first;
  float4 next_box = row_box[0];
  float next_area = row_area[0];
  for (int r = 0; r < rows; ++r, to += matrix.cols) {
    const float4 a_box = next_box;
    const float a_area = next_area;
    next_box = row_box[r + 1];  // loaded while this row is computed
    next_area = row_area[r + 1];
    const auto overlap_of = [&](int i) {
      return Overlap<kIof, kOffset>(a_box, a_area, b[i], area[i], off);
    };
    const Results<T> results(overlap_of, least);
#pragma unroll
    for (int i = 0; i < kColumns; i += columns.kStep) {
      if (i < columns.count) results.template Store<kWide>(to + columns.From(i), i);
    }
  }
}

template <class T>
__global__ void AlignedKernel(int64_t count, bool iof, float offset, const T* bbox1, const T* bbox2,
                              T* ious) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const Box<float> a = LoadBox(bbox1 + 4 * i), b = LoadBox(bbox2 + 4 * i);
    const float area_a = math::BoxArea(a, offset);
    ious[i] = math::FromFloat<T>(
        iof ? math::BoxIoF(a, b, area_a, offset, offset, 0.0f)
            : math::BoxIoU(a, b, area_a, math::BoxArea(b, offset), offset, offset, 0.0f));
  }
}

template <class T>
using Kernel = void (*)(Matrix, const T*, const T*, T*);

template <class T, bool kWide>
Kernel<T> Choose(bool iof, bool offset) {
  if (iof) return offset ? PairsKernel<T, kWide, true, true> : PairsKernel<T, kWide, true, false>;
  return offset ? PairsKernel<T, kWide, false, true> : PairsKernel<T, kWide, false, false>;
}

template <class T>
void Run(const BboxOverlapsPlan& plan, cuda::Launcher& launch, const T* bbox1, const T* bbox2,
         T* ious) {
  if (plan.aligned) {
    launch("bbox_overlaps, aligned", AlignedKernel<T>, cuda::BlocksFor(plan.rows, 256, 1 << 20),
           256, plan.rows, plan.iof, plan.offset, bbox1, bbox2, ious);
    return;
  }
  const auto aligned = [](const T* p) {
    return reinterpret_cast<uintptr_t>(p) % (4 * sizeof(T)) == 0;
  };
  const bool wide = plan.cols % 4 == 0 && aligned(ious) && aligned(bbox1) && aligned(bbox2);
  const int64_t column_blocks = (plan.cols + kBlockColumns - 1) / kBlockColumns;
  const int64_t at_once = std::max<int64_t>(kBlocks * launch.multiprocessors() / column_blocks, 1);
  // A grid has at most 65535^2 rows of blocks; larger matrices are processed in parts.
  const int64_t most_rows = int64_t{65535} * 65535 * kMinRows;
  for (int64_t first = 0; first < plan.rows; first += most_rows) {
    const int64_t rows = std::min(plan.rows - first, most_rows);
    // About as many blocks as run at once, or a multiple of that, so that they end together.
    const int64_t most_at_once = at_once * kMaxRows<T>;
    const int64_t wanted = (rows + most_at_once - 1) / most_at_once * at_once;
    const int64_t rows_per_block =
        std::clamp<int64_t>((rows + wanted - 1) / wanted, kMinRows, kMaxRows<T>);
    const int64_t row_blocks = (rows + rows_per_block - 1) / rows_per_block;
    const int64_t z = (row_blocks + 65534) / 65535, y = (row_blocks + z - 1) / z;
    const bool offset = plan.offset != 0.0f;
    launch("bbox_overlaps",
           wide ? Choose<T, true>(plan.iof, offset) : Choose<T, false>(plan.iof, offset),
           dim3(static_cast<unsigned>(column_blocks), static_cast<unsigned>(y),
                static_cast<unsigned>(z)),
           kThreads, {rows, plan.cols, static_cast<int>(rows_per_block)}, bbox1 + 4 * first, bbox2,
           ious + first * plan.cols);
  }
}

void BboxOverlapsRun(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, void*,
                     const runtime::Launch& launch) {
  cuda::Launcher launcher(launch);
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    Run(plan, launcher, static_cast<const math::Half*>(args.bbox1),
        static_cast<const math::Half*>(args.bbox2), static_cast<math::Half*>(args.ious));
  } else {
    Run(plan, launcher, static_cast<const float*>(args.bbox1),
        static_cast<const float*>(args.bbox2), static_cast<float*>(args.ious));
  }
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::BboxOverlaps>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::BboxOverlaps> implementation = {
      "cuda:simt", UsableEverywhere, SupportsAll<ops::BboxOverlapsPlan>,
      NoWorkspace<ops::BboxOverlapsPlan>, ops::BboxOverlapsRun};
  return implementation;
}
