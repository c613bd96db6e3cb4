// SPDX-License-Identifier: Apache-2.0
//
// Vectors across the channels. Where to read and with which weights is found once for a border,
// then a block of channels goes through all the samples with its maxima in registers. Where
// channels are not neighbours (NCHW), or fewer than a vector has lanes, what the samples read is
// packed first.
#include "cpu/simd.h"
#include "ops/border_align_forward/plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/border_align_forward/cpu.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

// Vectors of channels in a block: as many maxima and their indices as registers hold.
#ifndef KB
#define KB 4
#endif
constexpr int kBlock = KB;
// Vectors of channels packed together.
constexpr int kPack = 2;
constexpr int64_t kMaxLanes = HWY_MAX_BYTES / sizeof(float);
// Samples of channels in a task at least: enough work for a thread to be worth waking.
constexpr int64_t kTaskSamples = 64 * 1024;
// Results above this don't stay in any cache until someone reads them.
constexpr int64_t kStreamBytes = 16 << 20;

// How far apart in memory neighbours lie, in elements.
struct Strides {
  int64_t y, x, channel;                // of the input
  int64_t box, border, result_channel;  // of output and argmax_idx
};

Strides StridesOf(const BorderAlignForwardPlan& p) {
  if (p.layout == MLUOP_LAYOUT_NCHW) {
    return {p.width, 1, p.height * p.width, 4, 1, p.boxes * 4};
  }
  return {p.width * 4 * p.channels, 4 * p.channels, 1, 4 * p.channels, p.channels, 1};
}

struct Walk {
  float x, y, step_x, step_y;
};

// borders: 0 top, 1 left, 2 bottom, 3 right
HWY_INLINE Walk WalkAlong(int border, const float* box, float pool_size) {  // [4] x1 y1 x2 y2
  const float step_x = (box[2] - box[0]) / pool_size, step_y = (box[3] - box[1]) / pool_size;
  switch (border) {
    case 0: return {box[0], box[1], step_x, 0.0f};
    case 1: return {box[0], box[1], 0.0f, step_y};
    case 2: return {box[2], box[3], -step_x, 0.0f};
    default: return {box[2], box[3], 0.0f, -step_y};
  }
}

// NaN in all four places where one is not finite: then no sample is inside, by any walk.
template <class T>
HWY_INLINE void LoadBox(const T* from, float* box) {  // [4]
  bool finite = true;
  for (int i = 0; i < 4; ++i) {
    box[i] = math::ToFloat(from[i]);
    finite = finite && std::isfinite(box[i]);
  }
  if (!finite) std::fill_n(box, 4, std::numeric_limits<float>::quiet_NaN());
}

// What samples read, where it lies.
template <class T>
struct InPlace {
  static constexpr int64_t kSamples = 64;
  const T* operator()(const T* tap, int64_t) { return tap; }
};

// The same for channels that are no whole vectors in memory: side by side in a buffer.
template <class T>
struct Packed {
  static constexpr int64_t kSamples = 16;
  int64_t channels, stride;
  HWY_ALIGN T buffer[4 * kSamples * kPack * kMaxLanes] = {};

  const T* operator()(const T* tap, int64_t slot) {
    T* to = buffer + slot * kPack * kMaxLanes;
    for (int64_t c = 0; c < channels; ++c) to[c] = tap[c * stride];
    return to;
  }
};

template <class T>
struct Sample {
  const T* tap[4];
  float weight[4];
};

// The samples of a border that lie inside, kSamples at a time. They follow one another: a walk is
// straight and goes one way, so it enters the map once and leaves it once.
template <class T, class Access>
class Samples {
 public:
  Samples(const BorderAlignForwardPlan& plan, const Strides& strides, const Access& access)
      : plan_(plan), strides_(strides), access_(access) {}

  void Start(const T* map, const Walk& walk) {
    map_ = map;
    start_ = walk;
    Restart();
  }
  // To the first ones. False if there are none; so says Advance.
  bool Rewind() {
    if (!at_first_) Restart();
    return count_ > 0;
  }
  bool Advance() {
    if (count_ < Access::kSamples) return false;
    at_first_ = false;
    Find();
    return count_ > 0;
  }

  int64_t count() const { return count_; }
  int64_t first() const { return first_; }  // index of the first one on the border
  const Sample<T>& operator[](int64_t s) const { return samples_[s]; }

 private:
  void Restart() {
    at_ = start_;
    next_ = 0;
    at_first_ = true;
    Find();
  }

  HWY_INLINE void Find() {
    count_ = 0;
    for (; next_ <= plan_.pool_size && count_ < Access::kSamples; ++next_) {
      const BilinearSample s = SampleAt(at_.y, at_.x, plan_.height, plan_.width);
      if (s.inside) {
        if (count_ == 0) first_ = next_;
        Add(s);
      } else if (count_ > 0) {
        return;
      }
      at_.x += at_.step_x;
      at_.y += at_.step_y;
    }
  }

  HWY_INLINE void Add(const BilinearSample& s) {
    const T* low = map_ + s.y_low * strides_.y;
    const T* high = map_ + s.y_high * strides_.y;
    const int64_t left = s.x_low * strides_.x, right = s.x_high * strides_.x;
    const int64_t slot = 4 * count_;
    samples_[count_++] = {{access_(low + left, slot), access_(low + right, slot + 1),
                           access_(high + left, slot + 2), access_(high + right, slot + 3)},
                          {s.w1, s.w2, s.w3, s.w4}};
  }

  const BorderAlignForwardPlan& plan_;
  const Strides& strides_;
  Access access_;
  const T* map_;
  Walk start_, at_;
  int64_t next_, first_, count_;
  bool at_first_;
  Sample<T> samples_[Access::kSamples];
};

template <int kVectors>
struct Maxima {
  FloatLane best[kVectors];
  IndexVec index[kVectors];
  HWY_INLINE void Meet(int v, FloatLane value, IndexVec i) {
    const auto greater = hn::RebindMask(IndexTag(), hn::Gt(value.v, best[v].v));
    best[v] = Max(value, best[v]);
    index[v] = hn::IfThenElse(greater, i, index[v]);
  }
};

template <int kVectors, class T>
HWY_INLINE FloatLane ValueOf(const Sample<T>& s, const FloatLane* weight, int64_t at) {
  const auto tap = [&](int i) HWY_ATTR { return FloatLane{LoadElements(s.tap[i] + at)}; };
  return Blend(weight[0], weight[1], weight[2], weight[3], tap(0), tap(1), tap(2), tap(3));
}

// The samples at hand, from the one numbered `i` on.
template <int kVectors, class T, class Access>
HWY_INLINE void Meet(const Samples<T, Access>& samples, int64_t i, int64_t c,
                     Maxima<kVectors>& maxima) {
  const IndexTag index_tag;
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t end = samples.first() + samples.count();
  const Sample<T>* s = &samples[i - samples.first()];
  IndexVec index = hn::Set(index_tag, static_cast<int32_t>(i));
  const IndexVec one = hn::Set(index_tag, 1);
  for (; i < end; ++i, ++s, index = hn::Add(index, one)) {
    const FloatLane weight[4] = {Broadcast(s->weight[0]), Broadcast(s->weight[1]),
                                 Broadcast(s->weight[2]), Broadcast(s->weight[3])};
    for (int v = 0; v < kVectors; ++v) {
      maxima.Meet(v, ValueOf<kVectors>(*s, weight, c + v * lanes), index);
    }
  }
}

// Over all samples of a border, for the vectors of channels from c on.
template <int kVectors, class T, class Access>
HWY_NOINLINE void Block(Samples<T, Access>& samples, int64_t c, int64_t pool_size, bool stream,
                        T* output, int32_t* argmax_idx) {
  const IndexTag index_tag;
  const auto lanes = static_cast<int64_t>(FloatLanes());
  Maxima<kVectors> maxima;
  for (int v = 0; v < kVectors; ++v) {
    maxima.best[v] = Broadcast(0.0f);
    maxima.index[v] = hn::Zero(index_tag);
  }
  int64_t end = pool_size + 1;
  for (bool more = samples.Rewind(); more; more = samples.Advance()) {
    int64_t i = samples.first();
    if (i == 0) {
      const Sample<T>& s = samples[0];
      const FloatLane weight[4] = {Broadcast(s.weight[0]), Broadcast(s.weight[1]),
                                   Broadcast(s.weight[2]), Broadcast(s.weight[3])};
      for (int v = 0; v < kVectors; ++v) {
        maxima.best[v] = ValueOf<kVectors>(s, weight, c + v * lanes);
      }
      i = 1;
    }
    Meet(samples, i, c, maxima);
    end = samples.first() + samples.count();
  }
  if (end <= pool_size) {
    const IndexVec index = hn::Set(index_tag, static_cast<int32_t>(end));
    for (int v = 0; v < kVectors; ++v) maxima.Meet(v, Broadcast(0.0f), index);
  }
  for (int v = 0; v < kVectors; ++v) {
    if (stream) {
      StreamElements(maxima.best[v].v, output + c + v * lanes);
      hn::Stream(maxima.index[v], IndexTag(), argmax_idx + c + v * lanes);
    } else {
      StoreElements(maxima.best[v].v, output + c + v * lanes);
      hn::StoreU(maxima.index[v], IndexTag(), argmax_idx + c + v * lanes);
    }
  }
}

template <class T>
struct Tensors {
  const T *input, *boxes;
  T* output;
  int32_t* argmax_idx;
};

int64_t Grain(const BorderAlignForwardPlan& plan, int64_t channels) {
  const double samples_of_a_box = 4.0 * static_cast<double>(channels) * (plan.pool_size + 1.0);
  return 1 + static_cast<int64_t>(static_cast<double>(kTaskSamples) / samples_of_a_box);
}

// Channels side by side in memory, a vector of them at least.
template <class T>
void RunInPlace(const BorderAlignForwardPlan& plan, const Tensors<T>& tensors,
                cpu::Threads& threads) {
  const Strides strides = StridesOf(plan);
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t channels = plan.channels;
  const int64_t results = plan.images * plan.boxes * 4 * channels;
  const bool stream =
      results * static_cast<int64_t>(sizeof(T) + sizeof(int32_t)) >= kStreamBytes &&
      channels % lanes == 0 &&
      reinterpret_cast<uintptr_t>(tensors.output) % (lanes * sizeof(T)) == 0 &&
      reinterpret_cast<uintptr_t>(tensors.argmax_idx) % (lanes * sizeof(int32_t)) == 0;
  threads.For(plan.images * plan.boxes * 4, 4 * Grain(plan, channels),
              [&](int64_t begin, int64_t end) HWY_ATTR {
                Samples<T, InPlace<T>> samples(plan, strides, {});
                for (int64_t u = begin; u < end; ++u) {
                  const int64_t n = u / (4 * plan.boxes);
                  const int border = static_cast<int>(u / plan.boxes % 4);
                  const int64_t k = n * plan.boxes + u % plan.boxes;
                  float box[4];
                  LoadBox(tensors.boxes + 4 * k, box);
                  const T* image = tensors.input + n * 4 * channels * plan.height * plan.width;
                    samples.Start(image + border * channels,
                                  WalkAlong(border, box, static_cast<float>(plan.pool_size)));
                    T* output = tensors.output + (4 * k + border) * channels;
                    int32_t* argmax_idx = tensors.argmax_idx + (4 * k + border) * channels;
                    int64_t c = 0;
                    for (; c + kBlock * lanes <= channels; c += kBlock * lanes) {
                      Block<kBlock>(samples, c, plan.pool_size, stream, output, argmax_idx);
                    }
                    while (c < channels) {
                      // The last vector may go over channels done before.
                      c = std::min(c, channels - lanes);
                      Block<1>(samples, c, plan.pool_size, stream, output, argmax_idx);
                      c += lanes;
                    }
                }
                if (stream) hwy::FlushStream();
              });
}

template <class T>
void RunPacked(const BorderAlignForwardPlan& plan, const Tensors<T>& tensors,
               cpu::Threads& threads) {
  const Strides strides = StridesOf(plan);
  const auto lanes = static_cast<int64_t>(FloatLanes());
  const int64_t group = std::min(plan.channels, kPack * lanes);
  const int64_t groups = (plan.channels + group - 1) / group;
  threads.For(plan.images * groups * plan.boxes, Grain(plan, group),
              [&](int64_t begin, int64_t end) HWY_ATTR {
                Packed<T> packed;
                packed.stride = strides.channel;
                packed.channels = group;
                Samples<T, Packed<T>> samples(plan, strides, packed);
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t k = i % plan.boxes;
                  const int64_t c =
                      std::min(i / plan.boxes % groups * group, plan.channels - group);
                  const int64_t n = i / plan.boxes / groups;
                  float box[4];
                  LoadBox(tensors.boxes + 4 * (n * plan.boxes + k), box);
                  const T* image = tensors.input + n * 4 * plan.channels * plan.height * plan.width;
                  for (int border = 0; border < 4; ++border) {
                    samples.Start(image + (border * plan.channels + c) * strides.channel,
                                  WalkAlong(border, box, static_cast<float>(plan.pool_size)));
                    T best[kPack * kMaxLanes];
                    int32_t index[kPack * kMaxLanes];
                    Block<kPack>(samples, 0, plan.pool_size, false, best, index);
                    const int64_t at = n * 4 * plan.channels * plan.boxes + k * strides.box +
                                       border * strides.border + c * strides.result_channel;
                    for (int64_t j = 0; j < group; ++j) {
                      tensors.output[at + j * strides.result_channel] = best[j];
                      tensors.argmax_idx[at + j * strides.result_channel] = index[j];
                    }
                  }
                }
              });
}

template <class T>
void RunTyped(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args,
              cpu::Threads& threads) {
  const Tensors<T> tensors = {static_cast<const T*>(args.input), static_cast<const T*>(args.boxes),
                              static_cast<T*>(args.output), args.argmax_idx};
  if (plan.layout == MLUOP_LAYOUT_NHWC && plan.channels >= static_cast<int64_t>(FloatLanes())) {
    RunInPlace(plan, tensors, threads);
  } else {
    RunPacked(plan, tensors, threads);
  }
}

}  // namespace

void Run(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args, void*,
         const core::Launch& launch) {
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    RunTyped<math::Half>(plan, args, launch.threads);
  } else {
    RunTyped<float>(plan, args, launch.threads);
  }
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
