// SPDX-License-Identifier: Apache-2.0
//
// NHWC: eight lanes share one border of one box, each with 16 bytes of neighbouring channels. All
// channels have the same samples, so each of the eight lanes computes one sample, and all blend it.
// A block processes one image, border and slice of 128 bytes of the channels: where the map is
// small, its slice fits into the first-level cache, and all boxes read it from there.
//
// NCHW: a block transposes a slice of the channels of one or two borders into shared memory, and a
// few lanes share one border of one box as in NHWC. Where the maps are too large for that, or
// channels few, a lane processes one box and several channels; a block processes these channels of
// one image and border, from shared memory where any of them fit.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/samples.cuh"
#include "runtime/cuda/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

using namespace border_align_cuda;

constexpr int kThreads = 1024;  // one block per multiprocessor
constexpr int kLanes = 8;       // per border
constexpr int kBorders = kThreads / kLanes;

// Tasks are [image][border][slice of the channels][part of the boxes].
template <class T, int kWidth, class Offset>
__global__ void __launch_bounds__(kThreads, 1)
    NhwcKernel(Shape s, int64_t slices, int64_t parts, const T* input, const T* boxes, T* output,
               int32_t* argmax_idx) {
  cuda::BeginKernel();
  constexpr unsigned kWarp = 0xffffffff;  // all lanes
  // One more than needed, so that the borders of a warp are in different banks.
  extern __shared__ __align__(16) unsigned char memory[];
  auto* samples = reinterpret_cast<Sample<Offset>(*)[kLanes + 1]>(memory);  // [kBorders]
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  Sample<Offset>* mine = samples[threadIdx.x / kLanes];
  const int64_t pixel = 4 * s.channels;
  const Strides<Offset> strides = {static_cast<Offset>(pixel / kWidth),
                                   static_cast<Offset>(s.width * (pixel / kWidth))};
  const int64_t boxes_per_part = (s.boxes + parts - 1) / parts;

  for (int64_t task = blockIdx.x; task < s.images * 4 * slices * parts; task += gridDim.x) {
    const int64_t part = task % parts, slice = task / parts % slices;
    const auto border = static_cast<int>(task / parts / slices % 4);
    const int64_t n = task / parts / slices / 4;
    const int64_t channel = (slice * kLanes + lane) * kWidth;
    const bool has_channel = channel < s.channels;
    const T* map =
        input + n * s.height * s.width * pixel + border * s.channels + (has_channel ? channel : 0);
    // Hides from the compiler how the address is computed: it would recompute the sum for each
    // corner.
    if constexpr (kWidth > 1) asm("" : "+l"(map));
    const int64_t end = min(s.boxes, (part + 1) * boxes_per_part);
    // Whole warps stay active, also where the last boxes don't fill them.
    for (int64_t first = part * boxes_per_part; first < end; first += kBorders) {
      const int64_t k = first + threadIdx.x / kLanes;
      const BorderWalk walk = WalkAlong(border, boxes + (n * s.boxes + min(k, end - 1)) * 4,
                                        static_cast<float>(s.pool_size));
      const bool along_x = border % 2 == 0;
      float at = along_x ? walk.x : walk.y;  // the coordinate that varies
      const float step = along_x ? walk.step_x : walk.step_y;
      float best[kWidth];
      int32_t best_index[kWidth];
      for (int64_t i = 0; i <= s.pool_size; i += kLanes) {
        float here = at;
#pragma unroll
        for (int l = 0; l < kLanes; ++l) {
          here = lane == l ? at : here;
          at += step;
        }
        bool inside;
        const Sample<Offset> sample =
            MakeSample(s, along_x ? walk.y : here, along_x ? here : walk.x, strides, inside);
        __syncwarp();
        mine[lane] = sample;
        __syncwarp();
        // One bit per lane's sample; samples after the border's end don't matter.
        const unsigned all_inside = __ballot_sync(kWarp, inside || i + lane > s.pool_size);
        const unsigned mine_inside = all_inside >> (threadIdx.x % 32 / kLanes * kLanes);
        const auto take = [&](auto is_first, auto known_inside, int l) {
          Take<T, kWidth, is_first, known_inside>(map, mine[l], (mine_inside >> l & 1) != 0,
                                                  static_cast<int32_t>(i) + l, best, best_index);
        };
        const auto count = static_cast<int>(min(int64_t{kLanes}, int64_t{s.pool_size} + 1 - i));
        int l = 0;
        if (i == 0) take(std::true_type(), std::false_type(), l++);
        if (all_inside == kWarp) {
          for (; l < count; ++l) take(std::false_type(), std::true_type(), l);
        } else {
          for (; l < count; ++l) take(std::false_type(), std::false_type(), l);
        }
      }
      if (k < end && has_channel) {
        const int64_t result = ((n * s.boxes + k) * 4 + border) * s.channels + channel;
        Store<T, kWidth>(output + result, argmax_idx + result, best, best_index);
      }
    }
  }
}

// Walks along one border for the channels of one vector. kAlongX: the border is horizontal, so that
// its y is rounded and weighted once.
template <class T, int kLanes, bool kAlongX>
__device__ void WalkSlice(const Shape& s, const unsigned char* map, const BorderWalk& walk,
                          float* best, int32_t* best_index) {
  const auto height = static_cast<int32_t>(s.height), width = static_cast<int32_t>(s.width);
  constexpr int kPixel = kLanes * 16;
  const int row = width * kPixel;
  const int along_size = kAlongX ? width : height, across_size = kAlongX ? height : width;
  const float across_at = kAlongX ? walk.y : walk.x, step = kAlongX ? walk.step_x : walk.step_y;
  const bool across_inside = math::IsInside(across_at, across_size);
  const auto across = math::AxisAt(across_inside ? across_at : 0.0f, across_size);
  float at = kAlongX ? walk.x : walk.y;
  uint32_t i = 0;
  do {
    const bool along_inside = math::IsInside(at, along_size);
    const auto along = math::AxisAt(along_inside ? at : 0.0f, along_size);
    const auto sample = kAlongX ? math::SampleAt(across, along) : math::SampleAt(along, across);
    const int low = sample.y_low * row + sample.x_low * kPixel;
    const int high = low + (sample.y_high > sample.y_low ? row : 0);
    const int right = sample.x_high > sample.x_low ? kPixel : 0;
    const int corners[4] = {low, low + right, high, high + right};
    float v[4][16 / sizeof(T)];
#pragma unroll
    for (int c = 0; c < 4; ++c) Widen<T>(*reinterpret_cast<const uint4*>(map + corners[c]), v[c]);
    TakeCorners(v, make_float4(sample.w1, sample.w2, sample.w3, sample.w4), i == 0,
                along_inside & across_inside, static_cast<int32_t>(i), best, best_index);
    at += step;
  } while (i++ != static_cast<uint32_t>(s.pool_size));
}

// For maps of which slices fit into shared memory. A pixel of a slice is kLanes vectors of 16 bytes
// of neighbouring channels, one for each of the lanes that share a border. Tasks are
// [image][slice][group of borders][part of the boxes], where a group is two opposite borders (0 and
// 2, or 1 and 3) or one.
template <class T, int kLanes>
__global__ void __launch_bounds__(kThreads, 1)
    NchwSliceKernel(Shape s, int borders, int64_t parts, const T* input, const T* boxes, T* output,
                    int32_t* argmax_idx) {
  cuda::BeginKernel();
  constexpr int kWidth = 16 / sizeof(T);
  constexpr int kSlots = kThreads / kLanes;  // pixels or borders at a time
  constexpr int kBatch = 16 / kWidth;        // pixels that a lane loads at once
  extern __shared__ __align__(16) unsigned char memory[];
  auto* near = reinterpret_cast<uint4*>(memory);  // [borders][pixels][kLanes]
  const auto pixels = static_cast<int>(s.height * s.width);
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const auto slot = static_cast<int>(threadIdx.x / kLanes);
  const int64_t slices = (s.channels + kLanes * kWidth - 1) / (kLanes * kWidth);
  const int64_t boxes_per_part = (s.boxes + parts - 1) / parts;
  const int groups = 4 / borders;

  for (int64_t task = blockIdx.x; task < s.images * slices * groups * parts; task += gridDim.x) {
    const int64_t part = task % parts, n = task / parts / groups / slices;
    const auto group = static_cast<int>(task / parts % groups);
    const int64_t channel = (task / parts / groups % slices * kLanes + lane) * kWidth;
    const auto channels = static_cast<int>(min(int64_t{kWidth}, s.channels - channel));  // or none
    __syncthreads();  // no thread reads the previous slice any more
    for (int b = 0; b < borders; ++b) {
      const T* planes[kWidth];  // beyond the last channel, that one again
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        const int64_t plane = (n * 4 + group + b * groups) * s.channels;
        planes[c] = input + (plane + min(channel + c, s.channels - 1)) * pixels;
      }
      for (int first = slot; first < pixels; first += kBatch * kSlots) {
        alignas(16) T values[kBatch][kWidth];
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
          const int p = first + j * kSlots;
#pragma unroll
          for (int c = 0; c < kWidth; ++c) values[j][c] = p < pixels ? planes[c][p] : T();
        }
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
          const int p = first + j * kSlots;
          if (p < pixels) {
            memcpy(near + (b * pixels + p) * kLanes + lane, values[j], sizeof(uint4));
          }
        }
      }
    }
    __syncthreads();

    const int nth = slot % borders, border = group + nth * groups;
    const unsigned char* map = memory + (nth * pixels * kLanes + lane) * 16;
    const int64_t end = min(s.boxes, (part + 1) * boxes_per_part);
    for (int64_t k = part * boxes_per_part + slot / borders; k < end; k += kSlots / borders) {
      const BorderWalk walk =
          WalkAlong(border, boxes + (n * s.boxes + k) * 4, static_cast<float>(s.pool_size));
      float best[kWidth] = {};
      int32_t best_index[kWidth] = {};
      if (group % 2 == 0) {
        WalkSlice<T, kLanes, true>(s, map, walk, best, best_index);
      } else {
        WalkSlice<T, kLanes, false>(s, map, walk, best, best_index);
      }
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        if (c >= channels) break;
        const int64_t result = ((n * s.channels + channel + c) * s.boxes + k) * 4 + border;
        output[result] = math::FromFloat<T>(best[c]);
        argmax_idx[result] = best_index[c];
      }
    }
  }
}

constexpr int kMostChannels = 8;  // per lane

// Tasks are [image][group of channels][border][part of the boxes]: the borders, whose results are
// adjacent, are processed at about the same time. kShared: the maps of a group fit into shared
// memory.
template <class T, bool kShared, class Offset>
__global__ void __launch_bounds__(kThreads, 1)
    NchwKernel(Shape s, int group_channels, int64_t parts, const T* input, const T* boxes,
               T* output, int32_t* argmax_idx) {
  cuda::BeginKernel();
  extern __shared__ __align__(16) unsigned char memory[];
  const int64_t pixels = s.height * s.width;
  const Strides<Offset> strides = {1, static_cast<Offset>(s.width)};
  const int64_t boxes_per_part = (s.boxes + parts - 1) / parts;
  const int64_t groups = (s.channels + group_channels - 1) / group_channels;

  for (int64_t task = blockIdx.x; task < s.images * groups * 4 * parts; task += gridDim.x) {
    const int64_t part = task % parts, group = task / parts / 4 % groups;
    const auto border = static_cast<int>(task / parts % 4);
    const int64_t n = task / parts / 4 / groups;
    const int64_t first_channel = group * group_channels;
    const auto channels =
        static_cast<int>(min(int64_t{group_channels}, s.channels - first_channel));
    const T* maps = input + ((n * 4 + border) * s.channels + first_channel) * pixels;
    if constexpr (kShared) {
      T* const near = reinterpret_cast<T*>(memory);
      __syncthreads();  // no thread reads the previous maps any more
      for (int i = threadIdx.x; i < channels * pixels; i += kThreads) near[i] = maps[i];
      __syncthreads();
      maps = near;
    }
    const int64_t end = min(s.boxes, (part + 1) * boxes_per_part);
    for (int64_t k = part * boxes_per_part + threadIdx.x; k < end; k += kThreads) {
      BorderWalk at =
          WalkAlong(border, boxes + (n * s.boxes + k) * 4, static_cast<float>(s.pool_size));
      float best[kMostChannels] = {};
      int32_t best_index[kMostChannels] = {};
      for (int64_t i = 0; i <= s.pool_size; ++i) {
        bool inside;
        const Sample<Offset> sample = MakeSample(s, at.y, at.x, strides, inside);
        at.x += at.step_x;
        at.y += at.step_y;
#pragma unroll
        for (int c = 0; c < kMostChannels; ++c) {
          if (c >= channels) break;
          if (i == 0) {
            Take<T, 1, true, false>(maps + c * pixels, sample, inside, 0, best + c, best_index + c);
          } else {
            Take<T, 1, false, false>(maps + c * pixels, sample, inside, static_cast<int32_t>(i),
                                     best + c, best_index + c);
          }
        }
      }
#pragma unroll
      for (int c = 0; c < kMostChannels; ++c) {
        if (c >= channels) break;
        const int64_t result = ((n * s.channels + first_channel + c) * s.boxes + k) * 4 + border;
        output[result] = math::FromFloat<T>(best[c]);
        argmax_idx[result] = best_index[c];
      }
    }
  }
}

template <class T, int kLanes>
void RunNchwSlices(const Shape& s, int borders, cuda::Launcher& launch, const T* input,
                   const T* boxes, T* output, int32_t* argmax_idx) {
  constexpr int64_t kChannels = kLanes * 16 / sizeof(T);
  const int64_t tasks = s.images * (4 / borders) * ((s.channels + kChannels - 1) / kChannels);
  const int64_t boxes_at_once = kThreads / kLanes / borders;
  const int64_t most_parts = (s.boxes + boxes_at_once - 1) / boxes_at_once;
  const int64_t parts = std::clamp<int64_t>(launch.multiprocessors() / tasks, 1, most_parts);
  constexpr auto kKernel = NchwSliceKernel<T, kLanes>;
  cuda::Check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(launch.shared_memory())),
              "border_align_forward");
  launch.WithSharedMemory(static_cast<size_t>(borders * s.height * s.width) * kLanes * 16)(
      "border_align_forward", kKernel, cuda::BlocksFor(tasks * parts, 1, INT32_MAX), kThreads, s,
      borders, parts, input, boxes, output, argmax_idx);
}

template <class T, bool kShared, class Offset>
void RunNchw(const Shape& s, int group_channels, cuda::Launcher& launch, const T* input,
             const T* boxes, T* output, int32_t* argmax_idx) {
  const int64_t tasks = s.images * 4 * ((s.channels + group_channels - 1) / group_channels);
  const int64_t most_parts = (s.boxes + kThreads - 1) / kThreads;
  const int64_t parts =
      kShared ? std::clamp<int64_t>(launch.multiprocessors() / tasks, 1, most_parts) : most_parts;
  const size_t bytes =
      kShared ? static_cast<size_t>(group_channels * s.height * s.width) * sizeof(T) : 0;
  constexpr auto kKernel = NchwKernel<T, kShared, Offset>;
  // The same value for every shape: other threads may be launching the kernel at the same time.
  cuda::Check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(launch.shared_memory())),
              "border_align_forward");
  launch.WithSharedMemory(bytes)("border_align_forward", kKernel,
                                 cuda::BlocksFor(tasks * parts, 1, INT32_MAX), kThreads, s,
                                 group_channels, parts, input, boxes, output, argmax_idx);
}

template <class T>
void RunNchw(const Shape& s, cuda::Launcher& launch, const T* input, const T* boxes, T* output,
             int32_t* argmax_idx) {
  const double plane = static_cast<double>(s.height) * static_cast<double>(s.width) * sizeof(T);
  const double fit = static_cast<double>(launch.shared_memory()) / plane;
  constexpr int kWidth = 16 / sizeof(T);
  // As many vectors per pixel, and borders, as fit.
  if (fit >= 2 * kWidth && s.channels > kWidth) {
    const bool wide = fit >= 4 * kWidth && s.channels > 2 * kWidth;
    const int borders = fit >= (wide ? 8 : 4) * kWidth ? 2 : 1;
    const auto run = wide ? RunNchwSlices<T, 4> : RunNchwSlices<T, 2>;
    run(s, borders, launch, input, boxes, output, argmax_idx);
    return;
  }
  const int channels = static_cast<int>(std::min<double>(fit, kMostChannels));
  if (channels > 0) {
    RunNchw<T, true, uint32_t>(s, channels, launch, input, boxes, output, argmax_idx);
  } else {
    const auto run =
        kMostChannels * plane < 4.0e9 ? RunNchw<T, false, uint32_t> : RunNchw<T, false, uint64_t>;
    run(s, kMostChannels, launch, input, boxes, output, argmax_idx);
  }
}

template <class T, int kWidth, class Offset>
void RunNhwc(const Shape& s, cuda::Launcher& launch, const T* input, const T* boxes, T* output,
             int32_t* argmax_idx) {
  const int64_t slices = (s.channels + kLanes * kWidth - 1) / (kLanes * kWidth);
  const int64_t maps = s.images * 4 * slices;
  // A slice that fits into the first-level cache is processed by one multiprocessor, or by a few
  // where there are fewer slices than multiprocessors, each with at least a quarter of the boxes
  // that a block has room for. On larger slices all multiprocessors work together, so that the
  // second-level cache holds what they read.
  constexpr int64_t kFirstCache = 160 << 10;
  const int64_t slice_bytes = s.height * s.width * kLanes * kWidth * int64_t{sizeof(T)};
  const bool fits = slice_bytes <= kFirstCache;
  const int64_t sharers = fits ? launch.multiprocessors() / maps : launch.multiprocessors();
  const int64_t least_boxes = fits ? kBorders / 4 : kBorders;
  const int64_t most_parts = (s.boxes + least_boxes - 1) / least_boxes;
  const int64_t parts = std::clamp<int64_t>(sharers, 1, most_parts);
  constexpr auto kKernel = NhwcKernel<T, kWidth, Offset>;
  constexpr size_t kBytes = sizeof(Sample<Offset>) * kBorders * (kLanes + 1);
  cuda::Check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
              "border_align_forward");
  launch.WithSharedMemory(kBytes)("border_align_forward", kKernel,
                                  cuda::BlocksFor(maps * parts, 1, launch.multiprocessors()),
                                  kThreads, s, slices, parts, input, boxes, output, argmax_idx);
}

template <class T, int kWidth>
void RunNhwc(const Shape& s, cuda::Launcher& launch, const T* input, const T* boxes, T* output,
             int32_t* argmax_idx) {
  const double image_bytes = static_cast<double>(s.height) * static_cast<double>(s.width) * 4 *
                             static_cast<double>(s.channels) * sizeof(T);
  const auto run =
      image_bytes < 4.0e9 ? RunNhwc<T, kWidth, uint32_t> : RunNhwc<T, kWidth, uint64_t>;
  run(s, launch, input, boxes, output, argmax_idx);
}

bool Aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

template <class T>
void Run(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args,
         cuda::Launcher& launch) {
  const Shape s = {plan.images, plan.height, plan.width, plan.channels, plan.boxes, plan.pool_size};
  const auto* input = static_cast<const T*>(args.input);
  const auto* boxes = static_cast<const T*>(args.boxes);
  auto* output = static_cast<T*>(args.output);
  if (plan.layout == MLUOP_LAYOUT_NCHW) {
    RunNchw(s, launch, input, boxes, output, args.argmax_idx);
    return;
  }
  constexpr int kWidth = 16 / sizeof(T);
  if (plan.channels % kWidth == 0 && Aligned(input, 16) && Aligned(output, 16) &&
      Aligned(args.argmax_idx, 16)) {
    RunNhwc<T, kWidth>(s, launch, input, boxes, output, args.argmax_idx);
  } else {
    RunNhwc<T, 1>(s, launch, input, boxes, output, args.argmax_idx);
  }
}

void BorderAlignForwardRun(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args,
                           void*, const runtime::Launch& launch) {
  cuda::Launcher launcher(launch);
  plan.dtype == MLUOP_DTYPE_HALF ? Run<math::Half>(plan, args, launcher)
                                 : Run<float>(plan, args, launcher);
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::BorderAlignForward>&
detops::runtime::PluginImplementation() {
  static const Implementation<ops::BorderAlignForward> implementation = {
      "cuda:simt", UsableEverywhere, SupportsAll<ops::BorderAlignForwardPlan>,
      NoWorkspace<ops::BorderAlignForwardPlan>, ops::BorderAlignForwardRun};
  return implementation;
}
