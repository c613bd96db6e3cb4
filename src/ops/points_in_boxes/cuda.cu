// SPDX-License-Identifier: Apache-2.0
//
// A block takes a run of points. For the boxes of their batch, at most 1024 at a time, it builds an
// index in shared memory, and each point asks that index for the few boxes it may lie in:
// - slabs along x and along y, whose edges are quantiles of the boxes' centres, so that crowded
//   places get narrow slabs wherever they are and however large the scene is;
// - for each slab a bit mask of the boxes that reach into it; the boxes are ordered along x, so
//   that the bits of an x slab lie close together.
// A point in an x slab and a y slab tests the boxes that are in both masks. Nothing is kept between
// calls, nothing is allocated, and there is no limit on the number of boxes.
#include <cstdint>

#include "cuda/kernels.h"
#include "cuda/launch.h"
#include "math/box3d.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 512;
constexpr int kBoxes = 1024;  // in the index at a time
constexpr int kWords = kBoxes / 32;
constexpr int kSlabs = 64;  // along an axis
constexpr int32_t kNone = -1;

// Along one axis.
struct Axis {
  float edge[kSlabs];                 // where a slab starts; the first has no start
  uint32_t mask[kSlabs][kWords + 1];  // the odd row length spreads rows over the banks

  __device__ int SlabOf(float v) const {
    int slab = 0;
#pragma unroll
    for (int step = kSlabs / 2; step > 0; step /= 2) {
      if (edge[slab + step] <= v) slab += step;
    }
    return slab;
  }
};

// Unsigned integers in the order of the floats.
__device__ uint32_t OrderedBits(float v) {
  const uint32_t bits = __float_as_uint(v);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ float FromOrderedBits(uint32_t bits) {
  return __uint_as_float((bits >> 31) != 0 ? bits & 0x7fffffffu : ~bits);
}

// In the order of the boxes' centres along x.
struct Index {
  union {
    float4 place[kBoxes];        // cx cy cz cos(-heading)
    uint64_t centre[2][kBoxes];  // while building: x and y to be sorted, OrderedBits, then the box
  };
  float4 reach[kBoxes];  // sin(-heading), then the largest |lx| |ly| |dz| inside
  uint16_t box[kBoxes];
  uint16_t rank[kBoxes];  // of each box in that order
  Axis x, y;
  int first_word[kSlabs], last_word[kSlabs];  // that x.mask uses
};

__device__ float LargestAtMost(double bound) { return __double2float_rd(bound); }
__device__ float LargestBelow(double bound) {
  const float f = __double2float_rd(bound);
  return f < bound ? f : nextafterf(f, -INFINITY);
}

// A prepared box, with bounds that hold every point it holds.
struct Prepared {
  float4 place, reach;
  float x_low, x_high, y_low, y_high;
  bool holds_any;
};

__device__ Prepared Prepare(const float* box) {
  const math::Box3d b = math::PrepareBox3d(box);
  Prepared p;
  const float reach_x = LargestBelow(b.reach_x), reach_y = LargestBelow(b.reach_y);
  p.place = make_float4(b.cx, b.cy, b.cz, b.cos);
  p.reach = make_float4(b.sin, reach_x, reach_y, LargestAtMost(b.reach_z));
  // A NaN anywhere makes one of these false: the centre's and the heading's reach the bounds.
  p.holds_any = reach_x >= 0.0f && reach_y >= 0.0f && b.reach_z >= 0.0;
  // Turned back, |dx| is at most |cos| rx + |sin| ry. The share of both covers the roundings of the
  // test and of these sums, which are below 2^-20 of them.
  const float more = 1e-5f * (reach_x + reach_y) + 1e-37f;
  const float extent_x = fabsf(b.cos) * reach_x + fabsf(b.sin) * reach_y + more;
  const float extent_y = fabsf(b.sin) * reach_x + fabsf(b.cos) * reach_y + more;
  p.x_low = b.cx - (extent_x + 1e-6f * fabsf(b.cx));
  p.x_high = b.cx + (extent_x + 1e-6f * fabsf(b.cx));
  p.y_low = b.cy - (extent_y + 1e-6f * fabsf(b.cy));
  p.y_high = b.cy + (extent_y + 1e-6f * fabsf(b.cy));
  p.holds_any = p.holds_any && p.x_low <= p.x_high && p.y_low <= p.y_high;
  return p;
}

// Sorts `count` keys, a power of two, on both axes: a bitonic network, by the whole block.
__device__ void SortCentres(Index& index, int count) {
  for (int size = 2; size <= count; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      for (int i = threadIdx.x; i < count; i += kThreads) {  // count/2 exchanges on each axis
        uint64_t* keys = index.centre[i < count / 2 ? 0 : 1];
        const int pair = i % (count / 2);
        const int low = 2 * step * (pair / step) + pair % step;
        const uint64_t a = keys[low], b = keys[low + step];
        if ((a > b) == ((low & size) == 0)) {
          keys[low] = b;
          keys[low + step] = a;
        }
      }
      __syncthreads();
    }
  }
}

__device__ bool Holds(const float4& place, const float4& reach, float x, float y, float z) {
  const float dx = x - place.x, dy = y - place.y, dz = z - place.z;
  const float local_x = dx * place.w - dy * reach.x;
  const float local_y = dx * reach.x + dy * place.w;
  return fabsf(dz) <= reach.w && fabsf(local_x) <= reach.y && fabsf(local_y) <= reach.z;
}

// By the whole block; `boxes` are count <= kBoxes of them.
__device__ void Build(Index& index, const float* boxes, int count) {
  __syncthreads();  // nobody reads the last one any more
  int padded = kSlabs;
  while (padded < count) padded *= 2;
  Prepared prepared[kBoxes / kThreads];
#pragma unroll
  for (int n = 0; n < kBoxes / kThreads; ++n) {
    const int i = threadIdx.x + n * kThreads;
    if (i >= padded) continue;
    uint64_t x = ~uint64_t{0}, y = ~uint64_t{0};  // padding comes last
    if (i < count) {
      prepared[n] = Prepare(boxes + 7 * i);
      const bool any = prepared[n].holds_any;  // what holds nothing may stand anywhere
      x = uint64_t{OrderedBits(any ? prepared[n].place.x : 0.0f)} << 32 | i;
      y = uint64_t{OrderedBits(any ? prepared[n].place.y : 0.0f)} << 32 | i;
    }
    index.centre[0][i] = x;
    index.centre[1][i] = y;
  }
  for (int i = threadIdx.x; i < kSlabs * (kWords + 1); i += kThreads) {
    index.x.mask[0][i] = 0;
    index.y.mask[0][i] = 0;
  }
  if (threadIdx.x < kSlabs) {
    index.first_word[threadIdx.x] = kWords;
    index.last_word[threadIdx.x] = -1;
  }
  __syncthreads();
  SortCentres(index, padded);
  for (int i = threadIdx.x; i < count; i += kThreads) {
    const auto box = static_cast<uint16_t>(index.centre[0][i]);
    index.box[i] = box;
    index.rank[box] = static_cast<uint16_t>(i);
  }
  if (threadIdx.x < kSlabs) {
    const int at = static_cast<int>(threadIdx.x) * count / kSlabs;
    index.x.edge[threadIdx.x] = FromOrderedBits(static_cast<uint32_t>(index.centre[0][at] >> 32));
    index.y.edge[threadIdx.x] = FromOrderedBits(static_cast<uint32_t>(index.centre[1][at] >> 32));
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kBoxes / kThreads; ++n) {
    const int i = threadIdx.x + n * kThreads;
    if (i >= count || !prepared[n].holds_any) continue;
    const int rank = index.rank[i];
    index.place[rank] = prepared[n].place;
    index.reach[rank] = prepared[n].reach;
    const int word = rank / 32;
    const uint32_t bit = 1u << (rank % 32);
    const int last_x = index.x.SlabOf(prepared[n].x_high);
    for (int s = index.x.SlabOf(prepared[n].x_low); s <= last_x; ++s) {
      atomicOr(&index.x.mask[s][word], bit);
      atomicMin(&index.first_word[s], word);
      atomicMax(&index.last_word[s], word);
    }
    const int last_y = index.y.SlabOf(prepared[n].y_high);
    for (int s = index.y.SlabOf(prepared[n].y_low); s <= last_y; ++s) {
      atomicOr(&index.y.mask[s][word], bit);
    }
  }
  __syncthreads();
}

// The lowest box of the index that holds the point, or kNone.
__device__ int32_t Find(const Index& index, float x, float y, float z) {
  const int slab_x = index.x.SlabOf(x), slab_y = index.y.SlabOf(y);
  int32_t found = INT32_MAX;
  const int last = index.last_word[slab_x];
  for (int word = index.first_word[slab_x]; word <= last; ++word) {
    uint32_t bits = index.x.mask[slab_x][word] & index.y.mask[slab_y][word];
    while (bits != 0) {
      const int at = word * 32 + __ffs(static_cast<int>(bits)) - 1;
      bits &= bits - 1;
      if (Holds(index.place[at], index.reach[at], x, y, z)) {
        found = min(found, int32_t{index.box[at]});
      }
    }
  }
  return found == INT32_MAX ? kNone : found;
}

__global__ void __launch_bounds__(kThreads, 2)
    Kernel(PointsInBoxesPlan plan, int64_t points_a_block, const float* all_points,
           const float* all_boxes, int32_t* points_indices) {
  extern __shared__ __align__(16) unsigned char memory[];
  Index& index = *reinterpret_cast<Index*>(memory);
  // Points are numbered through all batches.
  const int64_t end = min((int64_t{blockIdx.x} + 1) * points_a_block, plan.batches * plan.points);
  for (int64_t begin = blockIdx.x * points_a_block; begin < end;) {
    const int64_t batch = begin / plan.points;
    const int64_t stop = min(end, (batch + 1) * plan.points);
    const float* boxes = all_boxes + batch * plan.boxes * 7;
    int64_t first = 0;
    do {
      const int count = static_cast<int>(min(int64_t{kBoxes}, plan.boxes - first));
      if (count > 0) Build(index, boxes + first * 7, count);
      for (int64_t i = begin + threadIdx.x; i < stop; i += kThreads) {
        if (first > 0 && points_indices[i] != kNone) continue;  // an earlier box holds it
        const float* p = all_points + 3 * i;
        const int32_t found = count > 0 ? Find(index, p[0], p[1], p[2]) : kNone;
        points_indices[i] = found == kNone ? kNone : static_cast<int32_t>(first) + found;
      }
      first += kBoxes;
    } while (first < plan.boxes);
    begin = stop;
  }
}

void Run(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args, void*,
         const core::Launch& core_launch) {
  cuda::Launcher launch(core_launch);
  // Two blocks fit on a multiprocessor; each builds the index once for its share of the points.
  const int64_t points = plan.batches * plan.points;
  const int64_t blocks =
      std::min<int64_t>((points + kThreads - 1) / kThreads, 2 * launch.multiprocessors());
  cuda::Check(
      cudaFuncSetAttribute(Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Index)),
      "points_in_boxes");
  launch.WithSharedMemory(sizeof(Index))("points_in_boxes", Kernel, static_cast<unsigned>(blocks),
                                         kThreads, plan, (points + blocks - 1) / blocks,
                                         args.points, args.boxes, args.points_indices);
}

}  // namespace

cuda::Kernels<PointsInBoxes> PointsInBoxesCuda() {
  return {core::NoWorkspace<PointsInBoxesPlan>, Run};
}

}  // namespace detops::ops
