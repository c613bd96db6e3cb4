// SPDX-License-Identifier: Apache-2.0
//
// NHWC: a few lanes share one border of one box, each with 16 bytes of neighbouring channels; all
// channels have the same samples, so the lanes go together and their reads meet. Blocks take
// neighbouring boxes, whose samples lie near each other, one slice of the channels after another.
// NCHW: neighbouring lanes are the borders of one channel.
#include <cstdint>

#include "cuda/kernels.h"
#include "cuda/launch.h"
#include "math/bilinear.h"
#include "math/half.h"
#include "ops/border_align_forward/walk.h"

namespace detops::ops {
namespace {

constexpr int kThreads = 256;

struct Shape {
  int64_t images, height, width, channels, boxes;
  int32_t pool_size;
};

// `kWidth` neighbouring channels, read and written at once.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T value[kWidth];
};

template <class T, int kWidth>
__device__ void Load(const T* from, float* to) {
  const auto pack = *reinterpret_cast<const Pack<T, kWidth>*>(from);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) to[i] = math::ToFloat(pack.value[i]);
}

template <class T, int kWidth>
__device__ void MaxAlong(const Shape& s, const T* map, int64_t row_stride, int64_t column_stride,
                         BorderWalk at, float* best, int32_t* best_index) {
#pragma unroll
  for (int c = 0; c < kWidth; ++c) {
    best[c] = 0.0f;
    best_index[c] = 0;
  }
  for (int32_t i = 0; i <= s.pool_size; ++i) {
    const math::BilinearSample sample = math::SampleAt(at.y, at.x, s.height, s.width);
    float v1[kWidth] = {}, v2[kWidth] = {}, v3[kWidth] = {}, v4[kWidth] = {};
    if (sample.inside) {
      const T* low = map + sample.y_low * row_stride;
      const T* high = map + sample.y_high * row_stride;
      Load<T, kWidth>(low + sample.x_low * column_stride, v1);
      Load<T, kWidth>(low + sample.x_high * column_stride, v2);
      Load<T, kWidth>(high + sample.x_low * column_stride, v3);
      Load<T, kWidth>(high + sample.x_high * column_stride, v4);
    }
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      const float value = sample.inside ? math::Blend(sample.w1, sample.w2, sample.w3, sample.w4,
                                                      v1[c], v2[c], v3[c], v4[c])
                                        : 0.0f;
      if (i == 0 || value > best[c]) {
        best[c] = value;
        best_index[c] = i;
      }
    }
    if (i == INT32_MAX) break;
    at.x += at.step_x;
    at.y += at.step_y;
  }
}

// Items are [image][slice of the channels][box][border][pack in the slice], the last fastest.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    NhwcKernel(Shape s, int64_t items, int packs, const T* input, const T* boxes, T* output,
               int32_t* argmax_idx) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t item = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; item < items; item += step) {
    int64_t rest = item;
    const int64_t pack = rest % packs;
    rest /= packs;
    const auto border = static_cast<int>(rest % 4);
    rest /= 4;
    const int64_t k = rest % s.boxes;
    rest /= s.boxes;
    const int64_t slices = (s.channels + packs * kWidth - 1) / (packs * kWidth);
    const int64_t channel = (rest % slices * packs + pack) * kWidth;
    const int64_t n = rest / slices;
    if (channel >= s.channels) continue;

    const int64_t pixel = 4 * s.channels;
    const T* map = input + n * s.height * s.width * pixel + border * s.channels + channel;
    const BorderWalk walk =
        WalkAlong(border, boxes + (n * s.boxes + k) * 4, static_cast<float>(s.pool_size));
    float best[kWidth];
    Pack<int32_t, kWidth> index;
    MaxAlong<T, kWidth>(s, map, s.width * pixel, pixel, walk, best, index.value);

    const int64_t result = ((n * s.boxes + k) * 4 + border) * s.channels + channel;
    Pack<T, kWidth> rounded;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) rounded.value[c] = math::FromFloat<T>(best[c]);
    *reinterpret_cast<Pack<T, kWidth>*>(output + result) = rounded;
    constexpr int kIndices = kWidth < 4 ? kWidth : 4;  // 16 bytes at most
#pragma unroll
    for (int c = 0; c < kWidth; c += kIndices) {
      *reinterpret_cast<Pack<int32_t, kIndices>*>(argmax_idx + result + c) =
          *reinterpret_cast<const Pack<int32_t, kIndices>*>(index.value + c);
    }
  }
}

// Items are [image][channel][box][border]: as the results lie.
template <class T>
__global__ void __launch_bounds__(kThreads)
    NchwKernel(Shape s, int64_t items, const T* input, const T* boxes, T* output,
               int32_t* argmax_idx) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t item = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; item < items; item += step) {
    const auto border = static_cast<int>(item % 4);
    const int64_t k = item / 4 % s.boxes;
    const int64_t channel = item / 4 / s.boxes % s.channels;
    const int64_t n = item / 4 / s.boxes / s.channels;
    const T* map = input + ((n * 4 + border) * s.channels + channel) * s.height * s.width;
    const BorderWalk walk =
        WalkAlong(border, boxes + (n * s.boxes + k) * 4, static_cast<float>(s.pool_size));
    float best;
    int32_t index;
    MaxAlong<T, 1>(s, map, s.width, 1, walk, &best, &index);
    output[item] = math::FromFloat<T>(best);
    argmax_idx[item] = index;
  }
}

template <class T, int kWidth>
void RunNhwc(const Shape& s, cuda::Launcher& launch, const T* input, const T* boxes, T* output,
             int32_t* argmax_idx) {
  // 128 bytes of channels in a slice: the lines of a small part of the map then stay in the first
  // cache while neighbouring boxes read them.
  const int64_t all_packs = (s.channels + kWidth - 1) / kWidth;
  const int packs = static_cast<int>(std::min<int64_t>(all_packs, 128 / (sizeof(T) * kWidth)));
  const int64_t slices = (all_packs + packs - 1) / packs;
  const int64_t items = s.images * slices * s.boxes * 4 * packs;
  launch("border_align_forward", NhwcKernel<T, kWidth>, cuda::BlocksFor(items, kThreads, INT32_MAX),
         kThreads, s, items, packs, input, boxes, output, argmax_idx);
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
    const int64_t items = s.images * s.channels * s.boxes * 4;
    launch("border_align_forward", NchwKernel<T>, cuda::BlocksFor(items, kThreads, INT32_MAX),
           kThreads, s, items, input, boxes, output, args.argmax_idx);
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
                           void*, const core::Launch& launch) {
  cuda::Launcher launcher(launch);
  plan.dtype == MLUOP_DTYPE_HALF ? Run<math::Half>(plan, args, launcher)
                                 : Run<float>(plan, args, launcher);
}

}  // namespace

cuda::Kernels<BorderAlignForward> BorderAlignForwardCuda() {
  return {core::NoWorkspace<BorderAlignForwardPlan>, BorderAlignForwardRun};
}

}  // namespace detops::ops
