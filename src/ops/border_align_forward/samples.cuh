// SPDX-License-Identifier: Apache-2.0
//
// One sample of a border on a GPU, for several channels at once: loaded as vectors, blended,
// compared with the best so far.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/halves.cuh"
#include "math/bilinear.h"
#include "math/half.h"
#include "ops/border_align_forward/walk.h"

namespace detops::ops::border_align_cuda {

struct Shape {
  int64_t images, height, width, channels, boxes;
  int32_t pool_size;
};

// The channels in 16 bytes.
template <class T>
__device__ void Widen(uint4 bits, float* values) {
  const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (sizeof(T) == 4) {
      values[i] = __uint_as_float(words[i]);
    } else {
      const float2 pair = cuda::FromHalves(words[i]);
      values[2 * i] = pair.x;
      values[2 * i + 1] = pair.y;
    }
  }
}

// Loads `kWidth` neighbouring channels at once: one, or 16 bytes of them from global memory.
template <class T, int kWidth>
__device__ void Load(const void* from, float* values) {
  if constexpr (kWidth == 1) {
    values[0] = math::ToFloat(*static_cast<const T*>(from));
  } else {
    Widen<T>(__ldg(static_cast<const uint4*>(from)), values);
  }
}

template <class T, int kWidth>
__device__ void Store(T* output, int32_t* argmax_idx, const float* best,
                      const int32_t* best_index) {
  if constexpr (kWidth == 1) {
    *output = math::FromFloat<T>(best[0]);
    *argmax_idx = best_index[0];
  } else {
    if constexpr (sizeof(T) == 4) {
      __stcs(reinterpret_cast<float4*>(output), make_float4(best[0], best[1], best[2], best[3]));
    } else {
      __stcs(reinterpret_cast<uint4*>(output),
             make_uint4(cuda::ToHalves(best[0], best[1]), cuda::ToHalves(best[2], best[3]),
                        cuda::ToHalves(best[4], best[5]), cuda::ToHalves(best[6], best[7])));
    }
#pragma unroll
    for (int c = 0; c < kWidth; c += 4) {
      __stcs(reinterpret_cast<int4*>(argmax_idx + c),
             make_int4(best_index[c], best_index[c + 1], best_index[c + 2], best_index[c + 3]));
    }
  }
}

// The part of a sample that all channels share. Offset is uint32_t where the maps that a lane reads
// have less than 4 GiB, which saves instructions, and otherwise uint64_t.
template <class Offset>
struct alignas(16) Sample {
  Offset corners[4];  // from the start of the map, in vectors of kWidth channels
  float4 weights;
};

template <class Offset>
struct Strides {
  Offset column, row;  // in such vectors
};

// For samples outside, the corners are the first pixel of the map and don't matter.
template <class Offset>
__device__ Sample<Offset> MakeSample(const Shape& s, float y, float x,
                                     const Strides<Offset>& strides, bool& inside) {
  // Maps of less than 4 GiB have fewer than 2^31 rows and columns.
  using Index = std::conditional_t<sizeof(Offset) == 4, int32_t, int64_t>;
  const auto b =
      math::SampleAt<Index>(y, x, static_cast<Index>(s.height), static_cast<Index>(s.width));
  inside = b.inside;
  const Offset low =
      static_cast<Offset>(b.y_low) * strides.row + static_cast<Offset>(b.x_low) * strides.column;
  const Offset high = low + (b.y_high > b.y_low ? strides.row : 0);
  const Offset right = b.x_high > b.x_low ? strides.column : 0;
  return {{low, low + right, high, high + right}, {b.w1, b.w2, b.w3, b.w4}};
}

// Blends the corners of sample i for kWidth channels.
template <int kWidth>
__device__ void TakeCorners(const float (&v)[4][kWidth], float4 weights, bool first, bool inside,
                            int32_t i, float* best, int32_t* best_index) {
#pragma unroll
  for (int c = 0; c < kWidth; ++c) {
    const float blend =
        math::Blend(weights.x, weights.y, weights.z, weights.w, v[0][c], v[1][c], v[2][c], v[3][c]);
    const float value = inside ? blend : 0.0f;
    const bool replaces = first || value > best[c];
    best[c] = replaces ? value : best[c];
    best_index[c] = replaces ? i : best_index[c];
  }
}

// Blends sample i of a border for kWidth channels; `map` is their first value.
template <class T, int kWidth, bool kFirst, bool kInside, class Offset>
__device__ void Take(const T* map, const Sample<Offset>& s, bool inside, int32_t i, float* best,
                     int32_t* best_index) {
  float v[4][kWidth];
#pragma unroll
  for (int corner = 0; corner < 4; ++corner) {
    constexpr uint64_t kVectorBytes = kWidth * sizeof(T);
    Load<T, kWidth>(reinterpret_cast<const char*>(map) + s.corners[corner] * kVectorBytes,
                    v[corner]);
  }
  TakeCorners(v, s.weights, kFirst, kInside || inside, i, best, best_index);
}

}  // namespace detops::ops::border_align_cuda
