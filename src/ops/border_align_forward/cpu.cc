// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the channels. Where a border's samples read, and with which weights, is computed
// once; then each block of channels processes all samples with its maxima in registers. Channels
// that are not adjacent in memory (NCHW) are packed into vectors first: whole maps of a group of
// channels, whose results are transposed back, or, for few boxes, only the pixels that the samples
// read. Where packing costs more than it saves, channels are processed one by one.
#include "cpu/simd.h"
#include "ops/border_align_forward/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/border_align_forward/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "cpu/lane-inl.h"
#include "math/half.h"
#include "ops/border_align_forward/line_order.h"
#include "ops/border_align_forward/packed_maps.h"
#include "ops/border_align_forward/samples-inl.h"
#include "ops/border_align_forward/transpose-inl.h"

#if HWY_TARGET != HWY_SCALAR  // without vectors the reference runs
HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;
using namespace border_align;

// Vectors of channels per block: as many as the registers hold maxima for. The more, the longer the
// runs of memory read at a time; half, limited by its conversion, gains nothing from that.
constexpr bool kHas32Registers = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64;
template <class T>
constexpr int64_t kBlock = kHas32Registers && sizeof(T) == sizeof(float) ? 8 : 4;
// The least number of sample values per task: enough work to be worth waking a thread.
constexpr double kTaskValues = 64 * 1024;
// More results than this don't stay in any cache until they are read.
constexpr int64_t kStreamResults = 2 << 20;

// Sample s of the list, for the vector of channels from c on.
template <class T>
HWY_INLINE FloatVec ValueOf(const Samples<T>& samples, int64_t s, int64_t c) {
  const auto w = [&](int i) HWY_ATTR { return Broadcast(samples.weight[i][s]); };
  const auto v = [&](int i) HWY_ATTR { return FloatLane{LoadElements(samples.tap[i][s] + c)}; };
  return Blend(w(0), w(1), w(2), w(3), v(0), v(1), v(2), v(3)).v;
}

HWY_INLINE void Replace(StoredFloats& best, StoredInts& index, FloatVec value, IntVec i) {
  const FloatVec before = best;
  const auto greater = hn::Gt(value, before);
  best = hn::IfThenElse(greater, value, before);
  index = hn::IfThenElse(hn::RebindMask(IntTag(), greater), i, index);
}

// The bitwise or of both addresses: aligned to a power of 2 if both are.
uintptr_t Addresses(const BorderAlignForwardArgs& args) {
  return reinterpret_cast<uintptr_t>(args.output) | reinterpret_cast<uintptr_t>(args.argmax_idx);
}

template <class T>
HWY_INLINE void Store(FloatVec best, IntVec index, bool stream, T* output, int32_t* argmax_idx) {
  if (stream) {
    StreamElements(best, output);
    hn::Stream(index, IntTag(), argmax_idx);
  } else {
    StoreElements(best, output);
    hn::StoreU(index, IntTag(), argmax_idx);
  }
}

// The results of the vectors v = 0, 1, ... of channels from c on. Unrolled by pack expansion,
// because compilers keep arrays with variable indices in memory. Not inlined: the loop needs all
// registers.
template <class T, int64_t... v>
HWY_NOINLINE void Block(std::integer_sequence<int64_t, v...>, Samples<T>& samples, int64_t c,
                        bool stream, T* output, int32_t* argmax_idx) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const IntVec one = hn::Set(IntTag(), 1);
  StoredFloats best[sizeof...(v)];
  StoredInts index[sizeof...(v)];
  ((best[v] = hn::Zero(FloatTag())), ...);
  ((index[v] = hn::Zero(IntTag())), ...);
  int64_t end_index = 0;
  for (bool more = samples.First(); more; more = samples.Next()) {
    int64_t s = samples.begin;
    IntVec i = hn::Set(IntTag(), static_cast<int32_t>(samples.first_index + s));
    if (samples.first_index + s == 0) {
      ((best[v] = ValueOf(samples, s, c + v * lanes)), ...);
      i = one;
      ++s;
    }
    for (; s < samples.end; ++s) {
      (Replace(best[v], index[v], ValueOf(samples, s, c + v * lanes), i), ...);
      i = hn::Add(i, one);
    }
    end_index = samples.first_index + samples.end;
  }
  // Outside again: the first 0 represents all that follow.
  if (end_index <= samples.plan.pool_size) {
    const IntVec i = hn::Set(IntTag(), static_cast<int32_t>(end_index));
    (Replace(best[v], index[v], hn::Zero(FloatTag()), i), ...);
  }
  output += c;
  argmax_idx += c;
  (Store(best[v], index[v], stream, output + v * lanes, argmax_idx + v * lanes), ...);
}

template <int64_t kCount>
using Vectors = std::make_integer_sequence<int64_t, kCount>;

// All channels from c on, in place. There is at least one vector of them; the last vector may
// overlap the one before.
template <int64_t kVectors, class T>
HWY_INLINE void Blocks(Samples<T>& samples, int64_t channels, int64_t c, bool stream, T* output,
                       int32_t* argmax_idx) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  for (; c + kVectors * lanes <= channels; c += kVectors * lanes) {
    Block(Vectors<kVectors>(), samples, c, stream, output, argmax_idx);
  }
  if constexpr (kVectors > 1) {
    Blocks<kVectors / 2>(samples, channels, c, stream, output, argmax_idx);
  } else if (c < channels) {
    Block(Vectors<1>(), samples, channels - lanes, stream, output, argmax_idx);
  }
}

// Packed channels, whose results are `stride` apart.
template <class T>
HWY_INLINE void PackedBlock(Samples<T>& samples, int64_t stride, T* output, int32_t* argmax_idx) {
  T best[kPacked] = {};
  int32_t index[kPacked] = {};
  Block(Vectors<kPacked / hn::MaxLanes(FloatTag())>(), samples, 0, false, best, index);
  for (int64_t c = 0; c < samples.packed_channels; ++c) {
    output[c * stride] = best[c];
    argmax_idx[c * stride] = index[c];
  }
}

// Few channels, one by one at each sample. With a single channel there is no loop over channels.
template <int64_t kMost, class T>
HWY_INLINE void FewChannels(const BorderAlignForwardPlan& plan, const Strides& strides,
                            const T* map, BorderWalk at, int64_t stride, T* output,
                            int32_t* argmax_idx) {
  const int64_t channels = kMost == 1 ? 1 : plan.channels;
  float best[kMost] = {};
  int32_t index[kMost] = {};
  for (int64_t i = 0; i <= plan.pool_size; ++i) {
    const auto s = SampleAt(at.y, at.x, plan.height, plan.width);
    const T *low = map + s.y_low * strides.y, *high = map + s.y_high * strides.y;
    int64_t left = s.x_low * strides.x, right = s.x_high * strides.x;
    for (int64_t c = 0; c < channels; ++c) {
      float value = 0.0f;
      if (s.inside) {
        value = Blend(s.w1, s.w2, s.w3, s.w4, math::ToFloat(low[left]), math::ToFloat(low[right]),
                      math::ToFloat(high[left]), math::ToFloat(high[right]));
      }
      const bool better = i == 0 || value > best[c];  // selects, which the compiler vectorizes
      best[c] = better ? value : best[c];
      index[c] = better ? static_cast<int32_t>(i) : index[c];
      left += strides.channel;
      right += strides.channel;
    }
    at.x += at.step_x;
    at.y += at.step_y;
  }
  for (int64_t c = 0; c < channels; ++c) {
    output[c * stride] = math::FromFloat<T>(best[c]);
    argmax_idx[c * stride] = index[c];
  }
}

template <int64_t kMost, class T>
void RunFewChannels(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args,
                    const Strides& strides, runtime::Threads& threads) {
  const bool nchw = plan.layout == MLUOP_LAYOUT_NCHW;
  const int64_t image = 4 * plan.channels * plan.height * plan.width;
  const int64_t grain = static_cast<int64_t>(kTaskValues / 4 / (plan.pool_size + 1.0)) + 1;
  threads.For(plan.images * plan.boxes, grain, [&](int64_t i, int64_t end) HWY_ATTR {
    for (; i < end; ++i) {
      const int64_t n = i / plan.boxes, k = i % plan.boxes;
      const T* box = static_cast<const T*>(args.boxes) + i * 4;
      for (int64_t border = 0; border < 4; ++border) {
        const T* map = static_cast<const T*>(args.input) + n * image +
                       border * plan.channels * strides.channel;
        const int64_t result = nchw ? (n * plan.channels * plan.boxes + k) * 4 + border
                                    : (i * 4 + border) * plan.channels;
        FewChannels<kMost>(plan, strides, map,
                           WalkAlong(border, box, static_cast<float>(plan.pool_size)),
                           nchw ? plan.boxes * 4 : 1, static_cast<T*>(args.output) + result,
                           args.argmax_idx + result);
      }
    }
  });
}

// NCHW, whole maps packed: one group of channels after the other, and for each some boxes at a
// time.
template <class T>
void RunPackedMaps(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args,
                   void* memory, runtime::Threads& threads) {
  using V = std::conditional_t<std::is_same_v<T, math::Half>, uint16_t, T>;  // only moved
  const PackedMaps packed(plan);
  const int64_t pixels = plan.height * plan.width, group = packed.group;
  core::WorkspaceLayout layout(memory);
  const PackedMaps::Memory<T> near = packed.Reserve<T>(layout);
  std::optional<LineOrder> order;
  if (LineOrder::Worthwhile(plan, group, packed.boxes)) {
    order.emplace(layout, plan, packed.boxes).Sort(static_cast<const T*>(args.boxes), threads);
  }
  const int64_t row = plan.boxes * 4;  // results per channel
  const bool stream =
      plan.images * plan.channels * row >= kStreamResults && Addresses(args) % kStreamed == 0;
  constexpr int64_t kPixels = 256;  // packed at a time
  const int64_t pixel_parts = (pixels + kPixels - 1) / kPixels;
  const int64_t pack_grain =
      static_cast<int64_t>(kTaskValues) / (std::min(pixels, kPixels) * group) + 1;
  const double values = static_cast<double>(group) * (plan.pool_size + 1.0);
  const int64_t grain = static_cast<int64_t>(kTaskValues / values) + 1;
  for (int64_t i = 0; i < plan.images * packed.groups; ++i) {
    const int64_t n = i / packed.groups, c = i % packed.groups * group;
    const int64_t channels = std::min(group, plan.channels - c);
    const V* input = static_cast<const V*>(args.input) + (n * 4 * plan.channels + c) * pixels;
    threads.For(4 * pixel_parts, pack_grain, [&](int64_t part, int64_t end) HWY_ATTR {
      for (; part < end; ++part) {
        const int64_t border = part / pixel_parts, pixel = part % pixel_parts * kPixels;
        Pack(input + border * plan.channels * pixels, channels, pixels, pixel,
             std::min(pixel + kPixels, pixels), group,
             reinterpret_cast<V*>(near.maps) + border * pixels * group);
      }
    });
    for (int64_t first = 0; first < plan.boxes; first += packed.boxes) {
      const int64_t boxes = std::min(packed.boxes, plan.boxes - first);
      threads.For(4 * boxes, grain, [&](int64_t at, int64_t end) HWY_ATTR {
        Samples<T> samples(plan, {plan.width * group, group, 1});
        for (; at < end; ++at) {
          const int64_t border = at / boxes, in_order = first + at % boxes;
          const int64_t k = order ? order->Box(n * 4 + border, in_order) : in_order;
          const T* box = static_cast<const T*>(args.boxes) + (n * plan.boxes + k) * 4;
          samples.StartAlong(WalkAlong(border, box, static_cast<float>(plan.pool_size)),
                             near.maps + border * pixels * group);
          const int64_t result = (border * boxes + k - first) * group;
          Blocks<kBlock<T>>(samples, WithAllLanes(channels), 0, false, near.best + result,
                            near.index + result);
        }
      });
      const int64_t result = (n * plan.channels + c) * row + first * 4;
      constexpr int64_t kTransposed = 4;
      threads.For(
          (boxes + kTransposed - 1) / kTransposed, 64, [&](int64_t four, int64_t end) HWY_ATTR {
            for (; four < end; ++four) {
              const int64_t k = four * kTransposed, count = std::min(kTransposed, boxes - k);
              Transpose(reinterpret_cast<const V*>(near.best) + k * group, boxes, count, group,
                        channels, stream, static_cast<V*>(args.output) + result + k * 4, row);
              Transpose(near.index + k * group, boxes, count, group, channels, stream,
                        args.argmax_idx + result + k * 4, row);
            }
            if (stream) hwy::FlushStream();
          });
    }
  }
}

// A task is a range of (map, box), where a map is that of one image, border and group of channels:
// a cache may hold a map, or a part of it, but not a whole image.
template <class T>
void RunTyped(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args, void* memory,
              runtime::Threads& threads) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t channels = plan.channels, pixels = plan.height * plan.width;
  const bool nchw = plan.layout == MLUOP_LAYOUT_NCHW;
  const Strides strides =
      nchw ? Strides{plan.width, 1, pixels} : Strides{plan.width * 4 * channels, 4 * channels, 1};
  const bool in_place = !nchw && channels >= lanes;
  if (channels == 1) return RunFewChannels<1, T>(plan, args, strides, threads);
  if (!in_place && channels <= kFewChannels)
    return RunFewChannels<kFewChannels, T>(plan, args, strides, threads);
  if (PackedMaps::Worthwhile(plan)) return RunPackedMaps<T>(plan, args, memory, threads);
  const int64_t group = in_place ? channels : std::min(channels, kPacked);
  const int64_t groups = (channels + group - 1) / group;
  const double values = static_cast<double>(group) * (plan.pool_size + 1.0);
  const int64_t grain = static_cast<int64_t>(kTaskValues / values) + 1;
  const bool stream = in_place && plan.images * plan.boxes * 4 * channels >= kStreamResults &&
                      channels % lanes == 0 && Addresses(args) % HWY_MAX_BYTES == 0;
  core::WorkspaceLayout layout(memory);
  std::optional<LineOrder> order;
  if (LineOrder::WorthwhileInPlace(plan)) {
    order.emplace(layout, plan, plan.boxes).Sort(static_cast<const T*>(args.boxes), threads);
  }
  threads.For(plan.images * 4 * groups * plan.boxes, grain, [&](int64_t i, int64_t end) HWY_ATTR {
    Samples<T> samples(plan, strides);
    for (; i < end; ++i) {
      const int64_t map = i / plan.boxes, c = map % groups * group, border = map / groups % 4;
      const int64_t n = map / groups / 4, at = i % plan.boxes;
      const int64_t k = order ? order->Box(map, at) : at;
      const T* box = static_cast<const T*>(args.boxes) + (n * plan.boxes + k) * 4;
      samples.StartAlong(WalkAlong(border, box, static_cast<float>(plan.pool_size)),
                         static_cast<const T*>(args.input) + n * 4 * channels * pixels +
                             (border * channels + c) * strides.channel);
      samples.packed_channels = in_place ? 0 : std::min(group, channels - c);
      const int64_t result = nchw ? ((n * channels + c) * plan.boxes + k) * 4 + border
                                  : ((n * plan.boxes + k) * 4 + border) * channels + c;
      T* output = static_cast<T*>(args.output) + result;
      int32_t* argmax_idx = args.argmax_idx + result;
      if (in_place) {
        Blocks<kBlock<T>>(samples, channels, 0, stream, output, argmax_idx);
      } else {
        PackedBlock(samples, nchw ? plan.boxes * 4 : 1, output, argmax_idx);
      }
    }
    if (stream) hwy::FlushStream();
  });
}

}  // namespace

void Run(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args, void* memory,
         const runtime::Launch& launch) {
  plan.dtype == MLUOP_DTYPE_HALF ? RunTyped<math::Half>(plan, args, memory, launch.threads)
                                 : RunTyped<float>(plan, args, memory, launch.threads);
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace detops::ops {

using border_align::LineOrder;
using border_align::PackedMaps;

int64_t BorderAlignForwardCpuWorkspace(const BorderAlignForwardPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  if (PackedMaps::Worthwhile(plan)) {
    const PackedMaps packed(plan);
    plan.dtype == MLUOP_DTYPE_HALF ? static_cast<void>(packed.Reserve<math::Half>(layout))
                                   : static_cast<void>(packed.Reserve<float>(layout));
    if (LineOrder::Worthwhile(plan, packed.group, packed.boxes)) {
      LineOrder(layout, plan, packed.boxes);
    }
  } else if (LineOrder::WorthwhileInPlace(plan)) {
    LineOrder(layout, plan, plan.boxes);
  }
  return layout.Bytes();
}

cpu::SimdKernels<BorderAlignForward> BorderAlignForwardKernels() {
  return DETOPS_SIMD_KERNELS(Run);
}

}  // namespace detops::ops
#endif
