// SPDX-License-Identifier: Apache-2.0
//
// A block computes a tile of rows x columns: each thread holds eight columns in registers and walks
// down the rows. A tile whose boxes are all ordinary (below) takes fewer instructions an element,
// because what they leave out can't change a bit there; any other takes the shared formulas.
#include <cstdint>

#include "cuda/kernels.h"
#include "cuda/launch.h"
#include "math/box.h"
#include "math/half.h"
#include "ops/bbox_overlaps/divide.cuh"

namespace detops::ops {
namespace {

using math::Box;

constexpr int kThreads = 128;
constexpr int kColumns = 8;  // of a thread
constexpr int kTileColumns = kThreads * kColumns;
constexpr int kMaxTileRows = 32;

template <class T>
__device__ Box<float> LoadBox(const T* boxes, int64_t i) {
  return {math::ToFloat(boxes[4 * i]), math::ToFloat(boxes[4 * i + 1]),
          math::ToFloat(boxes[4 * i + 2]), math::ToFloat(boxes[4 * i + 3])};
}

struct Tile {
  int64_t rows, cols;  // of the whole matrix
  int rows_a_tile;
};

// Boxes for which the short formula gives the same bits as BoxIoU and BoxIoF: x1 <= x2, y1 <= y2,
// no -0, no NaN, and coordinates within a range (of the whole tile) in which nothing underflows or
// overflows. Then
// - the hardware's minimum and maximum agree with Min and Max;
// - a power of two that scales all coordinates below 1/2 scales every step exactly, and lengths
//   are at most 1, so that a saturating subtraction is Max(0, .) for free;
// - the intersection is no more than either area, so the union is not below 0.
struct Range {
  uint32_t least = 0x7f800000u, most = 0;  // of the magnitudes but 0, as bits
  bool ordinary = true;

  __device__ void Include(float v) {
    const uint32_t bits = __float_as_uint(v) & 0x7fffffffu;
    if (bits != 0) least = min(least, bits);
    most = max(most, bits);
    ordinary = ordinary && __float_as_uint(v) != 0x80000000u;
  }
  __device__ void Include(const Box<float>& b) {
    Include(b.x1);
    Include(b.y1);
    Include(b.x2);
    Include(b.y2);
    ordinary = ordinary && b.x1 <= b.x2 && b.y1 <= b.y2;
  }
};

// The block's: 0 if not all boxes are ordinary, else the factor for their coordinates.
__device__ float ScaleOf(Range mine) {
  __shared__ uint32_t least[kThreads / 32], most[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    mine.least = min(mine.least, __shfl_xor_sync(0xffffffffu, mine.least, distance));
    mine.most = max(mine.most, __shfl_xor_sync(0xffffffffu, mine.most, distance));
  }
  if (threadIdx.x % 32 == 0) {
    least[threadIdx.x / 32] = mine.least;
    most[threadIdx.x / 32] = mine.most;
  }
  if (!__syncthreads_and(mine.ordinary)) return 0.0f;
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    mine.least = min(mine.least, least[warp]);
    mine.most = max(mine.most, most[warp]);
  }
  // With the largest in [1/4, 1/2) and the smallest from 2^-27 on, coordinates are multiples of
  // 2^-50, areas of 2^-100, and quotients at least that: all normal, remainders exact. Nor does the
  // unscaled formula underflow or overflow.
  const int exponent = static_cast<int>(mine.most >> 23) - 127;
  const bool fits =
      exponent > -12 && exponent < 40 && static_cast<int>(mine.least >> 23) - 127 >= exponent - 25;
  return fits ? __uint_as_float(static_cast<uint32_t>(127 - exponent - 2) << 23) : 0.0f;
}

template <class T>
__device__ void StoreGroup(T* to, const float* values);  // four, aligned
template <>
__device__ void StoreGroup<float>(float* to, const float* v) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(v[0], v[1], v[2], v[3]));
}
template <>
__device__ void StoreGroup<math::Half>(math::Half* to, const float* v) {
  ushort4 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits.x) : "f"(v[0]));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits.y) : "f"(v[1]));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits.z) : "f"(v[2]));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits.w) : "f"(v[3]));
  __stcs(reinterpret_cast<ushort4*>(to), bits);
}

// kWide: rows start at multiples of four elements in memory, so a thread's columns are two groups
// of four neighbours. Otherwise they lie a block apart, and a warp's stores still meet.
template <class T, bool kWide>
struct Columns {
  __device__ static int64_t At(int64_t first, int i) {
    return kWide ? first + (i / 4) * (kThreads * 4) + threadIdx.x * 4 + i % 4
                 : first + i * kThreads + threadIdx.x;
  }
  __device__ static void Store(T* row, int64_t first, int64_t cols, const float* values) {
    if constexpr (kWide) {
      for (int g = 0; g < kColumns; g += 4) {
        if (At(first, g) < cols) StoreGroup(row + At(first, g), values + g);
      }
    } else {
      for (int i = 0; i < kColumns; ++i) {
        if (At(first, i) < cols) row[At(first, i)] = math::FromFloat<T>(values[i]);
      }
    }
  }
};

// Any boxes. Apart, so that its registers don't burden the common case.
template <class T, bool kWide, bool kIof, bool kOffset>
__device__ __noinline__ void ExactTile(const Tile& tile, int64_t first_row, int rows,
                                       int64_t first_col, const T* bbox1, const T* bbox2, T* ious) {
  constexpr float kOff = kOffset ? 1.0f : 0.0f;
  for (int i = 0; i < kColumns; ++i) {
    const int64_t column = Columns<T, kWide>::At(first_col, i);
    if (column >= tile.cols) continue;
    const Box<float> b = LoadBox(bbox2, column);
    const float area_b = math::BoxArea(b, kOff);
    for (int64_t row = first_row; row < first_row + rows; ++row) {
      const Box<float> a = LoadBox(bbox1, row);
      const float area_a = math::BoxArea(a, kOff);
      ious[row * tile.cols + column] =
          math::FromFloat<T>(kIof ? math::BoxIoF(a, b, area_a, kOff, kOff, 0.0f)
                                  : math::BoxIoU(a, b, area_a, area_b, kOff, kOff, 0.0f));
    }
  }
}

template <class T, bool kWide, bool kIof, bool kOffset>
__global__ void __launch_bounds__(kThreads, 5)
    PairsKernel(Tile tile, const T* bbox1, const T* bbox2, T* ious) {
  cuda::BeginKernel();
  using Columns = Columns<T, kWide>;
  constexpr float kOff = kOffset ? 1.0f : 0.0f;
  __shared__ float4 row_box[kMaxTileRows];
  __shared__ float row_area[kMaxTileRows];

  // Row tiles in y and z: y alone has 65535.
  const int64_t row_tile = int64_t{blockIdx.z} * gridDim.y + blockIdx.y;
  const int64_t first_row = row_tile * tile.rows_a_tile;
  if (first_row >= tile.rows) return;
  const int rows = static_cast<int>(min(int64_t{tile.rows_a_tile}, tile.rows - first_row));
  const int64_t first_col = int64_t{blockIdx.x} * kTileColumns;

  Range range;
  Box<float> b[kColumns];
  float area[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const int64_t column = Columns::At(first_col, i);
    b[i] = LoadBox(bbox2, min(column, tile.cols - 1));
    range.Include(b[i]);
    area[i] = math::BoxArea(b[i], kOff);
  }
  if (threadIdx.x < rows) {
    const Box<float> a = LoadBox(bbox1, first_row + threadIdx.x);
    range.Include(a);
    row_box[threadIdx.x] = make_float4(a.x1, a.y1, a.x2, a.y2);
    row_area[threadIdx.x] = math::BoxArea(a, kOff);
  }
  if (kOffset) range.Include(1.0f);
  const float scale = ScaleOf(range);
  if (scale == 0.0f) {
    ExactTile<T, kWide, kIof, kOffset>(tile, first_row, rows, first_col, bbox1, bbox2, ious);
    return;
  }

  const float off = kOff * scale, least = off * scale;
  __syncthreads();
  if (threadIdx.x < rows) {
    float4& a = row_box[threadIdx.x];
    a = make_float4(a.x * scale, a.y * scale, a.z * scale, a.w * scale);
    row_area[threadIdx.x] *= scale * scale;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    b[i] = {b[i].x1 * scale, b[i].y1 * scale, b[i].x2 * scale, b[i].y2 * scale};
    area[i] *= scale * scale;
  }
  T* row = ious + first_row * tile.cols;
  float values[kColumns];
  for (int r = 0; r < rows; ++r, row += tile.cols) {
    const float4 a = row_box[r];
    const float area_a = row_area[r];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      float w = fminf(a.z, b[i].x2) - fmaxf(a.x, b[i].x1);
      float h = fminf(a.w, b[i].y2) - fmaxf(a.y, b[i].y1);
      if (kOffset) {
        w += off;
        h += off;
      }
      const float inter = __saturatef(w) * __saturatef(h);
      float base = kIof ? area_a : (area_a + area[i]) - inter;
      if (kOffset) base = fmaxf(base, least);
      values[i] = DivideOrdinary(inter, base);
    }
    Columns::Store(row, first_col, tile.cols, values);
  }
}

template <class T>
__global__ void AlignedKernel(int64_t count, bool iof, float offset, const T* bbox1, const T* bbox2,
                              T* ious) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const Box<float> a = LoadBox(bbox1, i), b = LoadBox(bbox2, i);
    const float area_a = math::BoxArea(a, offset);
    ious[i] = math::FromFloat<T>(
        iof ? math::BoxIoF(a, b, area_a, offset, offset, 0.0f)
            : math::BoxIoU(a, b, area_a, math::BoxArea(b, offset), offset, offset, 0.0f));
  }
}

template <class T>
using Kernel = void (*)(Tile, const T*, const T*, T*);

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
  const bool wide = plan.cols % 4 == 0 && reinterpret_cast<uintptr_t>(ious) % (4 * sizeof(T)) == 0;
  // Small matrices get lower tiles, so that every multiprocessor has a few.
  const int64_t column_tiles = (plan.cols + kTileColumns - 1) / kTileColumns;
  Tile tile = {plan.rows, plan.cols, kMaxTileRows};
  while (tile.rows_a_tile > 4 &&
         column_tiles * (plan.rows / tile.rows_a_tile) < 2 * launch.multiprocessors()) {
    tile.rows_a_tile /= 2;
  }
  const int64_t row_tiles = (plan.rows + tile.rows_a_tile - 1) / tile.rows_a_tile;
  const int64_t y = std::min<int64_t>(row_tiles, 65535);
  // A grid has 2^31 - 1 columns of tiles and 65535^2 rows of them; the matrix is walked in parts
  // of so many rows.
  const int64_t z = std::min<int64_t>((row_tiles + y - 1) / y, 65535);
  for (int64_t done = 0; done < row_tiles; done += y * z) {
    const int64_t first_row = done * tile.rows_a_tile;
    tile.rows = plan.rows - first_row;
    const bool offset = plan.offset != 0.0f;
    launch("bbox_overlaps",
           wide ? Choose<T, true>(plan.iof, offset) : Choose<T, false>(plan.iof, offset),
           dim3(static_cast<unsigned>(column_tiles), static_cast<unsigned>(y),
                static_cast<unsigned>(z)),
           kThreads, tile, bbox1 + 4 * first_row, bbox2, ious + first_row * plan.cols);
  }
}

void BboxOverlapsRun(const BboxOverlapsPlan& plan, const BboxOverlapsArgs& args, void*,
                     const core::Launch& launch) {
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

cuda::Kernels<BboxOverlaps> BboxOverlapsCuda() {
  return {core::NoWorkspace<BboxOverlapsPlan>, BboxOverlapsRun};
}

}  // namespace detops::ops
