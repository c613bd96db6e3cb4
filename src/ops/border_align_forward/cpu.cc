// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the channels. Where a border's samples read, and with which weights, is found
// once; then one block of channels after another goes through them with its maxima in registers.
// Channels that are no whole vectors in memory (NCHW, or too few) are packed into such first.
#include "cpu/simd.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/border_align_forward/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "cpu/lane-inl.h"
#include "math/bilinear.h"
#include "math/half.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {
namespace {

using namespace cpu::HWY_NAMESPACE;
using namespace math::HWY_NAMESPACE;

using IndexTag = hn::RebindToSigned<FloatTag>;
using IndexVec = hn::Vec<IndexTag>;

// Vectors of channels in a block, so that the registers hold their maxima. The more, the longer the
// runs of memory read at a time; half, bound by its conversion, gains nothing from that.
constexpr bool kHas32Registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
template <class T>
constexpr int64_t kBlock = kHas32Registers && sizeof(T) == sizeof(float) ? 8 : 4;
// Channels packed together: few enough for their maps to stay in a cache.
constexpr int64_t kPacked = 16;
// Samples of a border found at a time. Where there are more, every block finds them anew.
constexpr int64_t kSamples = 32;
// Values of samples in a task at least: enough work for a thread to be worth waking.
constexpr double kTaskValues = 64 * 1024;
// More results than this don't stay in any cache until someone reads them.
constexpr int64_t kStreamResults = 2 << 20;

// How far apart in the input neighbours lie, in elements.
struct Strides {
  int64_t y, x, channel;
};

template <class T>
struct Sample {
  const T* tap[4];  // their first channels
  float weight[4];
};

// Those samples of a border that are inside, kSamples at a time. They are consecutive: a walk is
// straight and goes one way, so it enters the map once and leaves it once.
template <class T>
struct Samples {
  const BorderAlignForwardPlan& plan;
  const Strides strides;

  const T* map = nullptr;
  int64_t packed_channels = 0;  // they read copies of that many; if 0, in place
  BorderWalk start = {}, at = {};
  bool at_first = false;
  int64_t count = 0, end_index = 0;
  Sample<T> list[kSamples];
  T packed[kSamples][4][kPacked];

  Samples(const BorderAlignForwardPlan& p, const Strides& s) : plan(p), strides(s) {}

  // Go to the first ones, or to the next ones. False where there are none.
  bool First() {
    if (at_first) return count > 0;
    at_first = true;
    at = start;
    end_index = 0;
    return Find();
  }
  bool Next() {
    if (count < kSamples) return false;
    at_first = false;
    return Find();
  }

  HWY_NOINLINE bool Find() {
    count = 0;
    for (; end_index <= plan.pool_size && count < kSamples; ++end_index) {
      const BilinearSample s = SampleAt(at.y, at.x, plan.height, plan.width);
      if (s.inside) {
        Add(s);
      } else if (count > 0) {
        break;
      }
      at.x += at.step_x;
      at.y += at.step_y;
    }
    return count > 0;
  }
  HWY_INLINE void Add(const BilinearSample& s) {
    const T *low = map + s.y_low * strides.y, *high = map + s.y_high * strides.y;
    const int64_t left = s.x_low * strides.x, right = s.x_high * strides.x;
    Sample<T>& sample = list[count];
    sample = {{low + left, low + right, high + left, high + right}, {s.w1, s.w2, s.w3, s.w4}};
    for (int64_t c = 0; c < packed_channels; ++c) {
      for (int i = 0; i < 4; ++i) packed[count][i][c] = sample.tap[i][c * strides.channel];
    }
    for (int i = 0; i < 4 && packed_channels > 0; ++i) {
      // The lanes that no channel fills are read too.
      std::fill(packed[count][i] + packed_channels, packed[count][i] + kPacked, T{});
      sample.tap[i] = packed[count][i];
    }
    ++count;
  }
};

// Of the vector of channels from c on.
template <class T>
HWY_INLINE FloatVec ValueOf(const Sample<T>& s, int64_t c) {
  const auto w = [&](int i) HWY_ATTR { return Broadcast(s.weight[i]); };
  const auto v = [&](int i) HWY_ATTR { return FloatLane{LoadElements(s.tap[i] + c)}; };
  return Blend(w(0), w(1), w(2), w(3), v(0), v(1), v(2), v(3)).v;
}

HWY_INLINE void Replace(FloatVec& best, IndexVec& index, FloatVec value, IndexVec i) {
  const auto greater = hn::Gt(value, best);
  best = hn::IfThenElse(greater, value, best);
  index = hn::IfThenElse(hn::RebindMask(IndexTag(), greater), i, index);
}

template <class T>
HWY_INLINE void Store(FloatVec best, IndexVec index, bool stream, T* output, int32_t* argmax_idx) {
  if (stream) {
    StreamElements(best, output);
    hn::Stream(index, IndexTag(), argmax_idx);
  } else {
    StoreElements(best, output);
    hn::StoreU(index, IndexTag(), argmax_idx);
  }
}

// The results of the vectors v = 0, 1, ... of channels from c on: written out for each, because
// compilers leave arrays with other indices in memory. Not inlined: the loop wants all registers.
template <class T, int64_t... v>
HWY_NOINLINE void Block(std::integer_sequence<int64_t, v...>, Samples<T>& samples, int64_t c,
                        bool stream, T* output, int32_t* argmax_idx) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const IndexVec one = hn::Set(IndexTag(), 1);
  FloatVec best[sizeof...(v)];
  IndexVec index[sizeof...(v)];
  ((best[v] = hn::Zero(FloatTag())), ...);
  ((index[v] = hn::Zero(IndexTag())), ...);
  int64_t end_index = 0;
  for (bool more = samples.First(); more; more = samples.Next()) {
    const Sample<T>* s = samples.list;
    const Sample<T>* const end = s + samples.count;
    const int64_t begin_index = samples.end_index - samples.count;
    IndexVec i = hn::Set(IndexTag(), static_cast<int32_t>(begin_index));
    if (begin_index == 0) {
      ((best[v] = ValueOf(*s, c + v * lanes)), ...);
      i = one;
      ++s;
    }
    for (; s != end; ++s) {
      (Replace(best[v], index[v], ValueOf(*s, c + v * lanes), i), ...);
      i = hn::Add(i, one);
    }
    end_index = samples.end_index;
  }
  // Outside again: the first 0 stands for all that follow.
  if (end_index <= samples.plan.pool_size) {
    const IndexVec i = hn::Set(IndexTag(), static_cast<int32_t>(end_index));
    (Replace(best[v], index[v], hn::Zero(FloatTag()), i), ...);
  }
  output += c;
  argmax_idx += c;
  (Store(best[v], index[v], stream, output + v * lanes, argmax_idx + v * lanes), ...);
}

template <int64_t kCount>
using Vectors = std::make_integer_sequence<int64_t, kCount>;

// All channels from c on, in place. There is a vector of them at least: the last one may go back.
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

// Packed channels, whose results lie `stride` apart.
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

// A task is a range of (part of the boxes, map, box), where a map is an image's for one border and
// one group of channels. A cache may hold a map but not all of an image, so all boxes of a part
// meet one before the next, and the threads, beginning at different parts, are at the same one.
template <class T>
void RunTyped(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args,
              cpu::Threads& threads) {
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t channels = plan.channels, pixels = plan.height * plan.width;
  const bool nchw = plan.layout == MLUOP_LAYOUT_NCHW;
  const Strides strides =
      nchw ? Strides{plan.width, 1, pixels} : Strides{plan.width * 4 * channels, 4 * channels, 1};
  const bool in_place = !nchw && channels >= lanes;
  const int64_t group = in_place ? channels : std::min(channels, kPacked);
  const int64_t groups = (channels + group - 1) / group;
  const double values = static_cast<double>(group) * (plan.pool_size + 1.0);
  const int64_t grain = static_cast<int64_t>(kTaskValues / values) + 1;
  const auto addresses =
      reinterpret_cast<uintptr_t>(args.output) | reinterpret_cast<uintptr_t>(args.argmax_idx);
  const bool stream = in_place && plan.images * plan.boxes * 4 * channels >= kStreamResults &&
                      channels % lanes == 0 && addresses % HWY_MAX_BYTES == 0;
  const int64_t maps = plan.images * 4 * groups;
  const int64_t part = (plan.boxes + threads.count() - 1) / threads.count();
  threads.For(maps * plan.boxes, grain, [&](int64_t i, int64_t end) HWY_ATTR {
    Samples<T> samples(plan, strides);
    for (; i < end; ++i) {
      const int64_t first = i / (maps * part) * part, boxes = std::min(part, plan.boxes - first);
      const int64_t k = first + (i - maps * first) % boxes, map = (i - maps * first) / boxes;
      const int64_t c = map % groups * group, border = map / groups % 4, n = map / groups / 4;
      const T* box = static_cast<const T*>(args.boxes) + (n * plan.boxes + k) * 4;
      samples.map = static_cast<const T*>(args.input) + n * 4 * channels * pixels +
                    (border * channels + c) * strides.channel;
      samples.start = WalkAlong(border, box, static_cast<float>(plan.pool_size));
      samples.packed_channels = in_place ? 0 : std::min(group, channels - c);
      samples.at_first = false;
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

void Run(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args, void*,
         const core::Launch& launch) {
  plan.dtype == MLUOP_DTYPE_HALF ? RunTyped<math::Half>(plan, args, launch.threads)
                                 : RunTyped<float>(plan, args, launch.threads);
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace detops::ops {

cpu::SimdKernels<BorderAlignForward> BorderAlignForwardKernels() {
  return DETOPS_SIMD_KERNELS(Run);
}

}  // namespace detops::ops
#endif
