// SPDX-License-Identifier: Apache-2.0
//
// The device part of arithmetic_test.cc, without GoogleTest, whose headers nvcc 13.0 can't compile.
#include "cuda/arithmetic.h"
#include "math/exp.h"
#include "math/half.h"
#include "math/sincos.h"
#include "ops/bbox_overlaps/divide.cuh"

namespace detops::test {
namespace {

__device__ bool SameFloat(float a, float b) {
  return (a != a && b != b) || __float_as_uint(a) == __float_as_uint(b);
}

// Sine and cosine in double-double throughout.
__device__ math::SinCosResult SlowSinCos(float x) {
  using namespace math::sincos_internal;
  const float abs_x = fabsf(x);
  if (!(abs_x <= 0x1.fffffep127f)) return {x - x, x - x};
  Reduced<double> reduced = {{abs_x, 0.0}, 0};
  if (abs_x > 0x1.921fb4p-1f) reduced = Reduce<double>(abs_x);
  const math::DoubleDouble z = reduced.r * reduced.r;
  const float s = RoundToFloat(SinSeries(reduced.r, z)), c = RoundToFloat(CosSeries(z));
  const bool swap = (reduced.quadrant & 1u) != 0;
  float sine = swap ? c : s, cosine = swap ? s : c;
  if (reduced.quadrant >= 2) sine = -sine;
  if (reduced.quadrant == 1 || reduced.quadrant == 2) cosine = -cosine;
  return {(__float_as_uint(x) >> 31) != 0 ? -sine : sine, cosine};
}

struct SinCosDiffers {
  __device__ bool operator()(uint64_t i) const {
    const float x = __uint_as_float(static_cast<uint32_t>(i));
    const math::SinCosResult quick = math::SinCos(x), slow = SlowSinCos(x);
    return !SameFloat(quick.sin, slow.sin) || !SameFloat(quick.cos, slow.cos);
  }
};

struct Words {
  uint32_t low, high;
};

__device__ Words PseudoRandom(uint64_t i) {
  uint64_t h = i * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  return {static_cast<uint32_t>(h), static_cast<uint32_t>(h >> 32)};
}

// The quotient of bbox_overlaps, for pseudo-random 0 < a <= b in its range, many of them close.
struct QuotientDiffers {
  __device__ bool operator()(uint64_t i) const {
    const auto [low, high] = PseudoRandom(i);
    float b = __uint_as_float((low & 0x7fffffu) | 0x3f000000u);
    float a = __uint_as_float((high & 0x7fffffu) | 0x3f000000u);
    a *= __uint_as_float((127u - (high >> 24) % 60u) << 23);  // down to 2^-60 of b
    b *= __uint_as_float((127u - (low >> 24) % 40u) << 23);
    if (a > b) a = b * (a / (a + b));
    return !SameFloat(ops::DivideInRange(a, b), __fdiv_rn(a, b));
  }
};

// The bounds of that quotient for halves, for intersections up to half of the areas' sum.
struct QuotientEscapes {
  __device__ bool operator()(uint64_t i) const {
    const auto [low, high] = PseudoRandom(i);
    const float areas = __uint_as_float((low & 0x7fffffu) | 0x3f000000u);
    float inter = __uint_as_float((high & 0x7fffffu) | 0x3f000000u);
    inter *= __uint_as_float((127u - (high >> 24) % 30u) << 23);
    if (inter > 0.5f * areas) inter = 0.5f * areas * (inter / (inter + areas));
    if (i % 64 == 0) inter = 0.5f * areas;
    if (i % 64 == 1) inter = 0.0f;
    const bool iof = (low >> 31) != 0;
    const float base = iof ? areas : areas - inter;
    constexpr float kShares[] = {0.0f, 0.5f, 1.0f, 2.0f};
    const float least = kShares[low >> 29 & 3] * base;
    const ops::QuotientBounds bounds = ops::BoundQuotient(inter, areas, iof ? 0.0f : inter, least);
    const float quotient = __fdiv_rn(inter, fmaxf(base, least));
    return !(bounds.low <= quotient && quotient <= bounds.high &&
             bounds.high <= 1.000002f * bounds.low);
  }
};

struct HalfDiffers {
  __device__ bool operator()(uint64_t i) const {
    const float f = __uint_as_float(static_cast<uint32_t>(i));
    const float back = math::ToFloat(math::ToHalf(f));
    // Rounding twice changes nothing, and no other half is nearer.
    if (f != f) return back == back;
    const float error = fabsf(back - f);
    const uint16_t bits = math::ToHalf(f).bits;
    for (const int step : {-1, 1}) {
      const math::Half beside = {static_cast<uint16_t>(bits + step)};
      const float other = math::ToFloat(beside);
      if (isinf(other) || isinf(back) || other != other) continue;
      if (fabsf(other - f) < error) return true;
    }
    return !SameFloat(math::ToFloat(math::ToHalf(back)), back);
  }
};

template <class Differs>
__global__ void CountKernel(uint64_t items, Differs differs, unsigned long long* count) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < items; i += step) {
    if (differs(i)) atomicAdd(count, 1ull);
  }
}

__global__ void ExpKernel(uint32_t first, uint32_t count, float* results) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) results[i] = math::Exp(__uint_as_float(first + i));
}

template <class Differs>
int64_t Count(uint64_t items, Differs differs) {
  unsigned long long *on_device = nullptr, count = 0;
  if (cudaMalloc(&on_device, sizeof(count)) != cudaSuccess) return -1;
  cudaMemset(on_device, 0, sizeof(count));
  CountKernel<<<4096, 256>>>(items, differs, on_device);
  const cudaError_t error = cudaMemcpy(&count, on_device, sizeof(count), cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  return error == cudaSuccess ? static_cast<int64_t>(count) : -1;
}

}  // namespace

int64_t CountSinCosDifferences() { return Count(kAllFloats, SinCosDiffers{}); }
int64_t CountQuotientDifferences() { return Count(4 * kAllFloats, QuotientDiffers{}); }
int64_t CountQuotientEscapes() { return Count(kAllFloats, QuotientEscapes{}); }
int64_t CountHalfDifferences() { return Count(kAllFloats, HalfDiffers{}); }

bool ExpOnDevice(uint32_t first, uint32_t count, float* results) {
  float* on_device = nullptr;
  if (cudaMalloc(&on_device, count * sizeof(float)) != cudaSuccess) return false;
  ExpKernel<<<(count + 255) / 256, 256>>>(first, count, on_device);
  const cudaError_t error =
      cudaMemcpy(results, on_device, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  return error == cudaSuccess;
}

}  // namespace detops::test
