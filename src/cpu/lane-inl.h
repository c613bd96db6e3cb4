// SPDX-License-Identifier: Apache-2.0
//
// A vector of floats as the lane type of the formulas in src/math: the same operators, the same Min
// and Max, one result per lane. Compiled once for each Highway target, hence the unusual guard.
#if defined(DETOPS_CPU_LANE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_CPU_LANE_INL_H_
#undef DETOPS_CPU_LANE_INL_H_
#else
#define DETOPS_CPU_LANE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "math/half.h"

HWY_BEFORE_NAMESPACE();
namespace detops::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

using IntTag = hn::RebindToSigned<FloatTag>;
using IntVec = hn::Vec<IntTag>;

HWY_INLINE size_t FloatLanes() { return hn::Lanes(FloatTag()); }

// Vector types that may be members of a class or elements of an array. SVE's own may not, because
// the compiler does not know their length; with a fixed length it has types that convert to and
// from them.
#if HWY_TARGET == HWY_SVE_256
typedef svfloat32_t StoredFloats __attribute__((arm_sve_vector_bits(256)));
typedef svint32_t StoredInts __attribute__((arm_sve_vector_bits(256)));
#else
using StoredFloats = FloatVec;
using StoredInts = IntVec;
#endif

struct FloatLane {
  StoredFloats v;
};

HWY_INLINE FloatLane Broadcast(float f) { return {hn::Set(FloatTag(), f)}; }
HWY_INLINE FloatLane LoadLane(const float* p) { return {hn::LoadU(FloatTag(), p)}; }

HWY_INLINE FloatLane operator+(FloatLane a, FloatLane b) { return {hn::Add(a.v, b.v)}; }
// Where multiplications and additions have separate units, the formulas keep the adders busy with
// minima and maxima. a - 1*b is the same difference, rounded once, in a multiplier: this saves 15 %
// on bbox_overlaps.
HWY_INLINE FloatLane operator-(FloatLane a, FloatLane b) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return {hn::NegMulAdd(b.v, hn::Set(FloatTag(), 1.0f), a.v)};
#else
  return {hn::Sub(a.v, b.v)};
#endif
}
HWY_INLINE FloatLane operator*(FloatLane a, FloatLane b) { return {hn::Mul(a.v, b.v)}; }
HWY_INLINE FloatLane operator/(FloatLane a, FloatLane b) { return {hn::Div(a.v, b.v)}; }

// The second argument when equal or unordered, as math/lane.h requires: what minps and maxps do.
HWY_INLINE FloatLane Min(FloatLane a, FloatLane b) {
#if HWY_ARCH_X86
  return {hn::Min(a.v, b.v)};
#else
  return {hn::IfThenElse(hn::Lt(a.v, b.v), a.v, b.v)};
#endif
}
HWY_INLINE FloatLane Max(FloatLane a, FloatLane b) {
#if HWY_ARCH_X86
  return {hn::Max(a.v, b.v)};
#else
  return {hn::IfThenElse(hn::Gt(a.v, b.v), a.v, b.v)};
#endif
}

// As in math/quad_pair.h.
HWY_INLINE FloatLane Abs(FloatLane x) { return {hn::Abs(x.v)}; }
HWY_INLINE FloatLane IfNegative(FloatLane x, FloatLane yes, FloatLane no) {
  // Highway finds the type of a vector from its own types alone.
  const FloatVec which = x.v, if_yes = yes.v, if_no = no.v;
  return {hn::IfNegativeThenElse(which, if_yes, if_no)};
}
HWY_INLINE FloatLane Reciprocal(FloatLane x) { return Broadcast(1.0f) / x; }

// A lower bound that every number satisfies: for numbers that are known to be large enough.
struct NoLeast {};
HWY_INLINE FloatLane Max(NoLeast, FloatLane x) { return x; }

// Max with a number that is not negative, for numbers that are not NaN: their bits compare as
// integers, and processors have more units for integers. A -0 becomes +0.
struct AtLeast {
  StoredInts bits;
};
HWY_INLINE AtLeast BroadcastAtLeast(float f) {
  return {hn::BitCast(IntTag(), hn::Set(FloatTag(), f))};
}
HWY_INLINE FloatLane Max(AtLeast least, FloatLane x) {
  const auto bits = hn::Max(hn::BitCast(IntTag(), x.v), least.bits);
  return {hn::BitCast(FloatTag(), bits)};
}

// One bit per lane, the first lane lowest.
template <class FloatMask>
HWY_INLINE uint64_t MaskBits(FloatMask mask) {
  static_assert(HWY_MAX_BYTES / sizeof(float) <= 16);
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(FloatTag(), mask, bytes);
  uint16_t bits;  // both bytes at once: one move with AVX-512
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// ---- elements of a tensor, float or half ------------------------------------------------------

HWY_INLINE FloatVec LoadElements(const float* p) { return hn::LoadU(FloatTag(), p); }
HWY_INLINE void StoreElements(FloatVec v, float* p) { hn::StoreU(v, FloatTag(), p); }

// Hardware conversion gives the same results as math/half.h, and Highway uses it where it exists
// (F16C, NEON, SVE); Highway's own emulation truncates.
HWY_INLINE FloatVec LoadElements(const math::Half* p) {
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_EMU128 || \
    HWY_TARGET == HWY_SCALAR
  HWY_ALIGN float wide[HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < FloatLanes(); ++i) wide[i] = math::ToFloat(p[i]);
  return hn::Load(FloatTag(), wide);
#else
  const hn::Rebind<hwy::float16_t, FloatTag> half_tag;
  return hn::PromoteTo(FloatTag(), hn::LoadU(half_tag, reinterpret_cast<const hwy::float16_t*>(p)));
#endif
}
HWY_INLINE void StoreElements(FloatVec v, math::Half* p) {
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_EMU128 || \
    HWY_TARGET == HWY_SCALAR
  HWY_ALIGN float wide[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, FloatTag(), wide);
  for (size_t i = 0; i < FloatLanes(); ++i) p[i] = math::ToHalf(wide[i]);
#else
  const hn::Rebind<hwy::float16_t, FloatTag> half_tag;
  hn::StoreU(hn::DemoteTo(half_tag, v), half_tag, reinterpret_cast<hwy::float16_t*>(p));
#endif
}

// Prefetches `count` elements at p, to be read or to be written.
template <class T>
HWY_INLINE void PrefetchToRead(const T* p, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(p + i, 0);
}
template <class T>
HWY_INLINE void PrefetchToWrite(const T* p, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(p + i, 1);
}

// Stores that bypass the caches, for results larger than they are; p is aligned to a whole vector
// of elements.
HWY_INLINE void StreamElements(FloatVec v, float* p) { hn::Stream(v, FloatTag(), p); }
HWY_INLINE void StreamElements(FloatVec v, math::Half* p) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Rebind<hwy::float16_t, FloatTag> half_tag;
  hn::Stream(hn::DemoteTo(half_tag, v), half_tag, reinterpret_cast<hwy::float16_t*>(p));
#else
  StoreElements(v, p);
#endif
}

// Two results in one vector: the lanes of `second` go to p2, the others to p1, with zeros between
// them. No lane is NaN. To be streamed, p1 and p2 must be aligned as above.
#if HWY_TARGET == HWY_AVX3
template <bool kStream, class Tag, class Vec, class Mask, class Lane>
HWY_INLINE void StoreSplit(Tag tag, Vec v, Mask second, Lane* p1, Lane* p2) {
  const auto v2 = hn::IfThenElseZero(second, v);
  const auto v1 = hn::IfThenZeroElse(second, v);
  if constexpr (kStream) {
    hn::Stream(v1, tag, p1);
    hn::Stream(v2, tag, p2);
  } else {
    hn::StoreU(v1, tag, p1);
    hn::StoreU(v2, tag, p2);
  }
}
template <bool kStream>
HWY_INLINE void StoreSplit(FloatVec v, hn::Mask<FloatTag> second, float* p1, float* p2) {
  StoreSplit<kStream>(FloatTag(), v, second, p1, p2);
}
template <bool kStream>
HWY_INLINE void StoreSplit(FloatVec v, hn::Mask<FloatTag> second, math::Half* p1, math::Half* p2) {
  const hn::Rebind<hwy::float16_t, FloatTag> half_tag;
  const hn::Rebind<int16_t, FloatTag> tag;
  const auto halves = hn::BitCast(tag, hn::DemoteTo(half_tag, v));
  // Highway 1.0 can't narrow a mask; with AVX-512 the bits are the same.
  StoreSplit<kStream>(tag, halves, hn::Mask<decltype(tag)>{second.raw},
                      reinterpret_cast<int16_t*>(p1), reinterpret_cast<int16_t*>(p2));
}
#endif

// Only the first `count` elements; nothing else is read or written.
template <class T>
HWY_INLINE FloatVec LoadFirst(const T* p, size_t count) {
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(part, p, count * sizeof(T));
  return LoadElements(part);
}
template <class T>
HWY_INLINE void StoreFirst(FloatVec v, T* p, size_t count) {
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(float)];
  StoreElements(v, part);
  std::memcpy(p, part, count * sizeof(T));
}
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_INLINE void StoreFirst(FloatVec v, float* p, size_t count) {
  hn::BlendedStore(v, hn::FirstN(FloatTag(), count), FloatTag(), p);
}
#endif

}  // namespace detops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
