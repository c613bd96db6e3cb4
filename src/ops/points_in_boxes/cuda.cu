// SPDX-License-Identifier: Apache-2.0
//
// A block processes a range of points. For the boxes of their batch, at most 1024 at a time, it
// builds an index in shared memory, in which each point finds the few boxes it may lie in:
// - slabs along x and along y, whose edges are quantiles of the boxes' centres, so that dense
//   clusters get narrow slabs wherever they are and however large the scene is;
// - slabs along z, uniform between the lowest and the highest box, where there are many boxes;
// - for each slab a bit mask of the boxes that extend into it; the boxes are ordered along x, so
//   that the bits of an x slab are close together.
// A point tests the boxes that are in the masks of all its slabs. Nothing is kept between
// calls, nothing is allocated, and there is no limit on the number of boxes.
#include <cstdint>

#include "math/box3d.h"
#include "ops/points_in_boxes/plan.h"
#include "runtime/cuda/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 1024;  // one block per multiprocessor
constexpr int kSlabs = 64;      // along x and y
constexpr int kFloors = 16;     // slabs along z
constexpr int32_t kNone = -1;

// Boxes in an index at a time. For few boxes there is an index that takes less code and fewer steps
// to build, as building takes most of the time there.
constexpr int kMany = kThreads, kFew = 128;

// The slabs along one axis.
template <int kWords>
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

// Maps floats to unsigned integers of the same order.
__device__ uint32_t OrderedBits(float v) {
  const uint32_t bits = __float_as_uint(v);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ float FromOrderedBits(uint32_t bits) {
  return __uint_as_float((bits >> 31) != 0 ? bits & 0x7fffffffu : ~bits);
}

// The boxes are in the order of their centres along x.
template <int kMostBoxes>
struct Index {
  static constexpr int kBoxes = kMostBoxes, kWords = kBoxes / 32;
  static constexpr bool kHasFloors = kBoxes > kFew;
  static constexpr int kAhead = kBoxes > kFew ? 2 : 1;  // points that a thread loads at once

  union {
    float4 place[kBoxes];        // cx cy cz cos(-heading)
    uint64_t centre[2][kBoxes];  // while building: x and y to be sorted, OrderedBits, then the box
  };
  float4 reach[kBoxes];  // sin(-heading), then the largest |lx| |ly| |dz| inside
  uint16_t box[kBoxes];
  uint16_t rank[kBoxes];  // of each box, in that order
  Axis<kWords> x, y;
  uint32_t floor_mask[kHasFloors ? kFloors : 1][kWords + 1];
  float z_low, z_high, floors_per_metre;      // of the slabs along z
  int first_word[kSlabs], last_word[kSlabs];  // used by x.mask
};

// Floats except NaN are ordered as signed integers where positive, and in reverse where negative.
__device__ void AtomicMinFloat(float* to, float v) {
  if (__float_as_int(v) >= 0) {
    atomicMin(reinterpret_cast<int*>(to), __float_as_int(v));
  } else {
    atomicMax(reinterpret_cast<unsigned*>(to), __float_as_uint(v));
  }
}
__device__ void AtomicMaxFloat(float* to, float v) {
  if (__float_as_int(v) >= 0) {
    atomicMax(reinterpret_cast<int*>(to), __float_as_int(v));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(to), __float_as_uint(v));
  }
}

// Monotonic in z, so that a point between two heights gets a slab between theirs.
template <class Index>
__device__ int FloorOf(const Index& index, float z) {
  const float floor = (z - index.z_low) * index.floors_per_metre;
  return static_cast<int>(fminf(fmaxf(floor, 0.0f), kFloors - 1.0f));
}

__device__ float LargestAtMost(double bound) { return __double2float_rd(bound); }
__device__ float LargestBelow(double bound) {
  const float f = __double2float_rd(bound);
  return f < bound ? f : nextafterf(f, -INFINITY);
}

// A prepared box, with bounds that contain every point it contains.
struct Prepared {
  float4 place, reach;
  float x_low, x_high, y_low, y_high, z_low, z_high;
  bool holds_any;
};

__device__ Prepared Prepare(const float* box) {
  const math::Box3d b = math::PrepareBox3d(box);
  Prepared p;
  const float reach_x = LargestBelow(b.reach_x), reach_y = LargestBelow(b.reach_y);
  p.place = make_float4(b.cx, b.cy, b.cz, b.cos);
  p.reach = make_float4(b.sin, reach_x, reach_y, LargestAtMost(b.reach_z));
  // A NaN anywhere makes holds_any false: those of the centre and the heading propagate to the
  // bounds.
  p.holds_any = reach_x >= 0.0f && reach_y >= 0.0f && b.reach_z >= 0.0;
  // Rotated back, |dx| is at most |cos| rx + |sin| ry. The margin, relative to both, covers the
  // rounding errors of the test and of these sums, which are below 2^-20 of them.
  const float more = 1e-5f * (reach_x + reach_y) + 1e-37f;
  const float extent_x = fabsf(b.cos) * reach_x + fabsf(b.sin) * reach_y + more;
  const float extent_y = fabsf(b.sin) * reach_x + fabsf(b.cos) * reach_y + more;
  p.x_low = b.cx - (extent_x + 1e-6f * fabsf(b.cx));
  p.x_high = b.cx + (extent_x + 1e-6f * fabsf(b.cx));
  p.y_low = b.cy - (extent_y + 1e-6f * fabsf(b.cy));
  p.y_high = b.cy + (extent_y + 1e-6f * fabsf(b.cy));
  // A box of infinite height also contains points at infinity, wherever its centre is.
  const float extent_z = 1.00001f * p.reach.w + 1e-6f * fabsf(b.cz) + 1e-37f;
  p.z_low = isinf(p.reach.w) ? -INFINITY : b.cz - extent_z;
  p.z_high = isinf(p.reach.w) ? INFINITY : b.cz + extent_z;
  p.holds_any = p.holds_any && p.x_low <= p.x_high && p.y_low <= p.y_high && p.z_low <= p.z_high;
  return p;
}

// Sorts the keys of both axes by a bitonic network, with the whole block; they are padded to a
// power of two of at least 64.
__device__ void SortCentres(Index<kMany>& index, int keys_without_padding) {
  int count = kSlabs;
  while (count < keys_without_padding) count *= 2;
  for (int i = keys_without_padding + threadIdx.x; i < count; i += kThreads) {
    index.centre[0][i] = index.centre[1][i] = ~uint64_t{0};
  }
  __syncthreads();
  for (int size = 2; size <= count; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      const int i = static_cast<int>(threadIdx.x);
      if (i < count) {  // count/2 exchanges on each axis
        uint64_t* keys = index.centre[i < count / 2 ? 0 : 1];
        const int pair = i & (count / 2 - 1);
        const int low = 2 * pair - (pair & (step - 1));
        const uint64_t a = keys[low], b = keys[low + step];
        if ((a > b) == ((low & size) == 0)) {
          keys[low] = b;
          keys[low + step] = a;
        }
      }
      // In steps of up to 32, this one and the next, each warp exchanges keys within a range of its
      // own.
      if (step > 32 || (step == 1 && size >= 64)) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

// The same for few keys: each key finds its rank by comparison with all of them.
__device__ void SortCentres(Index<kFew>& index, int count) {
  const int axis = static_cast<int>(threadIdx.x) / kFew, i = static_cast<int>(threadIdx.x) % kFew;
  uint64_t key = 0;
  int rank = 0;
  if (axis < 2 && i < count) {
    key = index.centre[axis][i];
    for (int j = 0; j < count; ++j) rank += index.centre[axis][j] < key ? 1 : 0;
  }
  __syncthreads();
  if (axis < 2 && i < count) index.centre[axis][rank] = key;
  __syncthreads();
}

// The lowest and the highest bounds along z of all boxes that can contain a point.
template <class Index>
__device__ void ReduceHeights(Index& index, const Prepared& mine) {
  float low = mine.holds_any ? mine.z_low : INFINITY;
  float high = mine.holds_any ? mine.z_high : -INFINITY;
  for (int distance = 16; distance > 0; distance /= 2) {
    low = fminf(low, __shfl_xor_sync(0xffffffffu, low, distance));
    high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, distance));
  }
  if (threadIdx.x % 32 == 0 && low <= high) {
    AtomicMinFloat(&index.z_low, low);
    AtomicMaxFloat(&index.z_high, high);
  }
}

// Called by the whole block; there are count <= kBoxes `boxes`.
template <class Index>
__device__ void Build(Index& index, const float* boxes, int count) {
  __syncthreads();                               // no thread reads the previous index any more
  const auto i = static_cast<int>(threadIdx.x);  // this thread's box
  if (i == 0) {
    index.z_low = INFINITY;
    index.z_high = -INFINITY;
  }
  for (int n = i; n < kSlabs * (Index::kWords + 1); n += kThreads) {
    index.x.mask[0][n] = 0;
    index.y.mask[0][n] = 0;
  }
  if (Index::kHasFloors) {
    for (int n = i; n < kFloors * (Index::kWords + 1); n += kThreads) index.floor_mask[0][n] = 0;
  }
  if (i < kSlabs) {
    index.first_word[i] = Index::kWords;
    index.last_word[i] = -1;
  }
  __syncthreads();

  Prepared prepared;
  prepared.holds_any = false;
  if (i < count) {
    prepared = Prepare(boxes + 7 * i);
    const bool any = prepared.holds_any;  // boxes that contain nothing may have any rank
    index.centre[0][i] = uint64_t{OrderedBits(any ? prepared.place.x : 0.0f)} << 32 | i;
    index.centre[1][i] = uint64_t{OrderedBits(any ? prepared.place.y : 0.0f)} << 32 | i;
  }
  if (Index::kHasFloors) ReduceHeights(index, prepared);
  __syncthreads();
  SortCentres(index, count);
  if (i < count) {
    const auto box = static_cast<uint16_t>(index.centre[0][i]);
    index.box[i] = box;
    index.rank[box] = static_cast<uint16_t>(i);
  }
  if (i < kSlabs) {
    const int at = i * count / kSlabs;
    index.x.edge[i] = FromOrderedBits(static_cast<uint32_t>(index.centre[0][at] >> 32));
    index.y.edge[i] = FromOrderedBits(static_cast<uint32_t>(index.centre[1][at] >> 32));
  }
  if (Index::kHasFloors && i == 0) {
    // Where the heights are equal, not finite or too far apart, all boxes share the lowest slab.
    const float scale = kFloors / (index.z_high - index.z_low);
    index.floors_per_metre = scale > 0.0f && scale < 1e30f && index.z_low > -1e30f ? scale : 0.0f;
    if (index.floors_per_metre == 0.0f) index.z_low = 0.0f;
  }
  __syncthreads();
  if (prepared.holds_any) {
    const int rank = index.rank[i];
    index.place[rank] = prepared.place;
    index.reach[rank] = prepared.reach;
    const int word = rank / 32;
    const uint32_t bit = 1u << (rank % 32);
    const int last_x = index.x.SlabOf(prepared.x_high);
    for (int s = index.x.SlabOf(prepared.x_low); s <= last_x; ++s) {
      atomicOr(&index.x.mask[s][word], bit);
      atomicMin(&index.first_word[s], word);
      atomicMax(&index.last_word[s], word);
    }
    const int last_y = index.y.SlabOf(prepared.y_high);
    for (int s = index.y.SlabOf(prepared.y_low); s <= last_y; ++s) {
      atomicOr(&index.y.mask[s][word], bit);
    }
    if (Index::kHasFloors) {
      const int last_floor = FloorOf(index, prepared.z_high);
      for (int s = FloorOf(index, prepared.z_low); s <= last_floor; ++s) {
        atomicOr(&index.floor_mask[s][word], bit);
      }
    }
  }
  __syncthreads();
}

// The lowest box of the index that contains the point, or kNone.
template <class Index>
__device__ int32_t Find(const Index& index, float x, float y, float z) {
  const int slab_x = index.x.SlabOf(x), slab_y = index.y.SlabOf(y);
  const int floor = Index::kHasFloors ? FloorOf(index, z) : 0;
  int32_t found = INT32_MAX;
  const int last = index.last_word[slab_x];
  for (int word = index.first_word[slab_x]; word <= last; ++word) {
    uint32_t bits = index.x.mask[slab_x][word] & index.y.mask[slab_y][word];
    if (Index::kHasFloors) bits &= index.floor_mask[floor][word];
    while (bits != 0) {
      const int at = word * 32 + __ffs(static_cast<int>(bits)) - 1;
      bits &= bits - 1;
      const float4 p = index.place[at], r = index.reach[at];
      if (math::Holds(math::FlatBox{p.x, p.y, p.z, p.w, r.x, r.y, r.z, r.w}, x, y, z)) {
        found = min(found, int32_t{index.box[at]});
      }
    }
  }
  return found == INT32_MAX ? kNone : found;
}

// Prefetches the first points of a block while it builds its index.
__device__ void Prefetch(const float* begin, const float* end) {
  constexpr int kLine = 128 / sizeof(float);
  const float* p = begin + threadIdx.x * kLine;
  if (threadIdx.x < 256 && p < end) asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}

template <class Index>
__global__ void __launch_bounds__(kThreads, 1)
    Kernel(PointsInBoxesPlan plan, int64_t points_per_block, const float* all_points,
           const float* all_boxes, int32_t* points_indices) {
  cuda::BeginKernel();
  extern __shared__ __align__(16) unsigned char memory[];
  Index& index = *reinterpret_cast<Index*>(memory);
  // Points are numbered across all batches.
  const int64_t end = min((int64_t{blockIdx.x} + 1) * points_per_block, plan.batches * plan.points);
  for (int64_t begin = blockIdx.x * points_per_block; begin < end;) {
    const int64_t batch = plan.batches == 1 ? 0 : begin / plan.points;  // divisions are slow
    const int64_t stop = min(end, (batch + 1) * plan.points);
    const float* boxes = all_boxes + batch * plan.boxes * 7;
    int64_t first = 0;
    do {
      const int count = static_cast<int>(min(int64_t{Index::kBoxes}, plan.boxes - first));
      Prefetch(all_points + 3 * begin, all_points + 3 * stop);
      if (count > 0) Build(index, boxes + first * 7, count);
      for (int64_t i = begin + threadIdx.x; i < stop; i += Index::kAhead * kThreads) {
        float x[Index::kAhead], y[Index::kAhead], z[Index::kAhead];
#pragma unroll
        for (int n = 0; n < Index::kAhead; ++n) {
          const float* p = all_points + 3 * min(i + n * kThreads, stop - 1);
          x[n] = p[0];
          y[n] = p[1];
          z[n] = p[2];
        }
#pragma unroll
        for (int n = 0; n < Index::kAhead; ++n) {
          const int64_t at = i + n * kThreads;
          if (at >= stop) break;
          if (first > 0 && points_indices[at] != kNone) continue;  // an earlier box contains it
          const int32_t found = count > 0 ? Find(index, x[n], y[n], z[n]) : kNone;
          points_indices[at] = found == kNone ? kNone : static_cast<int32_t>(first) + found;
        }
      }
      first += Index::kBoxes;
    } while (first < plan.boxes);
    begin = stop;
  }
}

template <class Index>
void Run(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args, cuda::Launcher& launch) {
  // One block per multiprocessor, which builds the index once for its share of the points.
  const int64_t points = plan.batches * plan.points;
  const int64_t blocks =
      std::min<int64_t>((points + kThreads - 1) / kThreads, launch.multiprocessors());
  cuda::Check(cudaFuncSetAttribute(Kernel<Index>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   sizeof(Index)),
              "points_in_boxes");
  launch.WithSharedMemory(sizeof(Index))(
      "points_in_boxes", Kernel<Index>, static_cast<unsigned>(blocks), kThreads, plan,
      (points + blocks - 1) / blocks, args.points, args.boxes, args.points_indices);
}

void PointsInBoxesRun(const PointsInBoxesPlan& plan, const PointsInBoxesArgs& args, void*,
                      const runtime::Launch& launch) {
  cuda::Launcher launcher(launch);
  plan.boxes <= kFew ? Run<Index<kFew>>(plan, args, launcher)
                     : Run<Index<kMany>>(plan, args, launcher);
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::PointsInBoxes>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::PointsInBoxes> implementation = {
      "cuda:simt", UsableEverywhere, SupportsAll<ops::PointsInBoxesPlan>,
      NoWorkspace<ops::PointsInBoxesPlan>, ops::PointsInBoxesRun};
  return implementation;
}
