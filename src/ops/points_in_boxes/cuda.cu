// SPDX-License-Identifier: Apache-2.0
//
// A block processes a range of points. For the boxes of their batch, at most 1024 at a time, it
// builds an index in shared memory, in which each point finds the few boxes it may lie in:
// - slabs along x and along y, whose edges are quantiles of the boxes' centres, so that dense
//   clusters get narrow slabs wherever they are and however large the scene is;
// - slabs along z where there are many boxes, uniform between the lowest and the highest one, or at
//   quantiles as well if flat boxes would gather in few of them;
// - for each slab a bit mask of the boxes that extend into it; the boxes are ordered along x, so
//   that the bits of an x slab are close together.
// A point tests the boxes that are in the masks of all its slabs, unless a lower one contains it.
// So it tests at most all boxes. Nothing is kept between calls, nothing is allocated, and there is
// no limit on the number of boxes.
#include <cstdint>

#include "math/box3d.h"
#include "ops/points_in_boxes/plan.h"
#include "runtime/cuda/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 1024;  // one block per multiprocessor
constexpr int kSlabs = 64;      // along x and y
constexpr int kFloors = 32;     // slabs along z
constexpr int32_t kNone = -1;

// Boxes in an index at a time. For few boxes there is an index that takes less code and fewer steps
// to build, as building takes most of the time there.
constexpr int kMany = kThreads, kFew = 128;

// Which of kCount slabs, each of which starts at its edge, contains v. Monotonic in v.
template <int kCount>
__device__ int SlabBetween(const float* edge, float v) {
  int slab = 0;
#pragma unroll
  for (int step = kCount / 2; step > 0; step /= 2) {
    if (edge[slab + step] <= v) slab += step;
  }
  return slab;
}

// The slabs along one axis.
template <int kWords>
struct Axis {
  float edge[kSlabs];                 // where a slab starts; the first has no start
  uint32_t mask[kSlabs][kWords + 1];  // the odd row length spreads rows over the banks

  __device__ int SlabOf(float v) const { return SlabBetween<kSlabs>(edge, v); }
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
  int lowest[kWords];  // the lowest box of each word of the masks
  uint32_t floor_mask[kHasFloors ? kFloors : 1][kWords + 1];
  float z_low, z_high;     // of the slabs along z
  float floors_per_metre;  // negative if they have edges
  float floor_edge[kHasFloors ? kFloors : 1];
  int flat[kHasFloors ? kFloors : 1];         // how many flat boxes are in each of the uniform ones
  int gather;                                 // whether too many are in one
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

// Uniform slabs between two heights. Where these are equal, not finite or too far apart, there is
// one slab for all boxes: 0.
__device__ float FloorsPerMetre(float z_low, float z_high) {
  const float scale = kFloors / (z_high - z_low);
  return scale > 0.0f && scale < 1e30f && z_low > -1e30f ? scale : 0.0f;
}

// Monotonic in z, so that a point between two heights gets a slab between theirs.
template <class Index>
__device__ int FloorOf(const Index& index, float z) {
  if (index.floors_per_metre < 0.0f) return SlabBetween<kFloors>(index.floor_edge, z);
  const float floor = (z - index.z_low) * index.floors_per_metre;
  return static_cast<int>(fminf(fmaxf(floor, 0.0f), kFloors - 1.0f));
}

__device__ float LargestAtMost(double bound) { return __double2float_rd(bound); }
__device__ float LargestBelow(double bound) {
  const float f = __double2float_rd(bound);
  return f < bound ? f : nextafterf(f, -INFINITY);
}

struct Prepared {
  math::FlatBox box;
  math::Bounds3d bounds;
  bool holds_any;
};

__device__ Prepared Prepare(const float* box) {
  const math::Box3d b = math::PrepareBox3d(box);
  Prepared p;
  p.box = {b.cx,
           b.cy,
           b.cz,
           b.cos,
           b.sin,
           LargestBelow(b.reach_x),
           LargestBelow(b.reach_y),
           LargestAtMost(b.reach_z)};
  p.bounds = math::BoundsOf(p.box);
  p.holds_any = !p.bounds.Empty();
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
  float low = mine.holds_any ? mine.bounds.low[2] : INFINITY;
  float high = mine.holds_any ? mine.bounds.high[2] : -INFINITY;
  for (int distance = 16; distance > 0; distance /= 2) {
    low = fminf(low, __shfl_xor_sync(0xffffffffu, low, distance));
    high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, distance));
  }
  if (threadIdx.x % 32 == 0 && low <= high) {
    AtomicMinFloat(&index.z_low, low);
    AtomicMaxFloat(&index.z_high, high);
  }
}

// Counts flat boxes, less than a quarter of a uniform slab along z high. Where far more of them
// than the mean lie in one slab, quantiles keep them apart.
template <class Index>
__device__ void CountFlat(Index& index, const Prepared& mine, int count) {
  const float scale = FloorsPerMetre(index.z_low, index.z_high);
  const float height = mine.bounds.high[2] - mine.bounds.low[2];
  if (!mine.holds_any || !(height * scale < 0.25f)) return;
  const float floor = (mine.box.cz - index.z_low) * scale;  // NaN for heights at infinity
  const int slab = static_cast<int>(fminf(fmaxf(floor, 0.0f), kFloors - 1.0f));
  if (atomicAdd(&index.flat[slab], 1) >= 16 + 2 * count / kFloors) atomicOr(&index.gather, 1);
}

// Places the edges of the slabs along z at quantiles of the boxes' centres.
template <class Index>
__device__ void FindFloorEdges(Index& index, const Prepared& mine, int count) {
  const auto i = static_cast<int>(threadIdx.x);
  if (i < count) {
    index.centre[0][i] = uint64_t{OrderedBits(mine.holds_any ? mine.box.cz : 0.0f)} << 32 | i;
  }
  SortCentres(index, count);
  if (i < kFloors) {
    const int at = i * count / kFloors;
    index.floor_edge[i] = FromOrderedBits(static_cast<uint32_t>(index.centre[0][at] >> 32));
  }
  __syncthreads();
}

// By the whole block.
template <int kRows, int kColumns>
__device__ void Clear(uint32_t (&mask)[kRows][kColumns]) {
  auto* words = reinterpret_cast<uint32_t*>(mask);
  for (int n = static_cast<int>(threadIdx.x); n < kRows * kColumns; n += kThreads) words[n] = 0;
}

// Called by the whole block; there are count <= kBoxes `boxes`.
template <class Index>
__device__ void Build(Index& index, const float* boxes, int count) {
  __syncthreads();                               // no thread reads the previous index any more
  const auto i = static_cast<int>(threadIdx.x);  // this thread's box
  if (i == 0) {
    index.z_low = INFINITY;
    index.z_high = -INFINITY;
    index.gather = 0;
  }
  Clear(index.x.mask);
  Clear(index.y.mask);
  if (Index::kHasFloors) Clear(index.floor_mask);
  if (i < Index::kWords) index.lowest[i] = INT32_MAX;
  if (Index::kHasFloors && i < kFloors) index.flat[i] = 0;
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
    index.centre[0][i] = uint64_t{OrderedBits(any ? prepared.box.cx : 0.0f)} << 32 | i;
    index.centre[1][i] = uint64_t{OrderedBits(any ? prepared.box.cy : 0.0f)} << 32 | i;
  }
  if (Index::kHasFloors) ReduceHeights(index, prepared);
  __syncthreads();
  if (Index::kHasFloors) CountFlat(index, prepared, count);
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
    const float scale = FloorsPerMetre(index.z_low, index.z_high);
    index.floors_per_metre = index.gather != 0 ? -1.0f : scale;
    if (scale == 0.0f) index.z_low = 0.0f;
  }
  __syncthreads();
  if constexpr (Index::kHasFloors) {
    if (index.gather != 0) FindFloorEdges(index, prepared, count);
  }
  if (prepared.holds_any) {
    const int rank = index.rank[i];
    const math::FlatBox& b = prepared.box;
    const math::Bounds3d& bounds = prepared.bounds;
    index.place[rank] = make_float4(b.cx, b.cy, b.cz, b.cos);
    index.reach[rank] = make_float4(b.sin, b.reach_x, b.reach_y, b.reach_z);
    const int word = rank / 32;
    const uint32_t bit = 1u << (rank % 32);
    atomicMin(&index.lowest[word], i);
    const int last_x = index.x.SlabOf(bounds.high[0]);
    for (int s = index.x.SlabOf(bounds.low[0]); s <= last_x; ++s) {
      atomicOr(&index.x.mask[s][word], bit);
      atomicMin(&index.first_word[s], word);
      atomicMax(&index.last_word[s], word);
    }
    const int last_y = index.y.SlabOf(bounds.high[1]);
    for (int s = index.y.SlabOf(bounds.low[1]); s <= last_y; ++s) {
      atomicOr(&index.y.mask[s][word], bit);
    }
    if (Index::kHasFloors) {
      const int last_floor = FloorOf(index, bounds.high[2]);
      for (int s = FloorOf(index, bounds.low[2]); s <= last_floor; ++s) {
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
    if (found != INT32_MAX && found < index.lowest[word]) continue;
    uint32_t bits = index.x.mask[slab_x][word] & index.y.mask[slab_y][word];
    if (Index::kHasFloors) bits &= index.floor_mask[floor][word];
    while (bits != 0) {
      const int at = word * 32 + __ffs(static_cast<int>(bits)) - 1;
      bits &= bits - 1;
      const int32_t box = index.box[at];
      if (box > found) continue;
      const float4 p = index.place[at], r = index.reach[at];
      if (math::Holds(math::FlatBox{p.x, p.y, p.z, p.w, r.x, r.y, r.z, r.w}, x, y, z)) found = box;
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
