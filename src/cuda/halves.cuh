// SPDX-License-Identifier: Apache-2.0
//
// Two neighbouring halves in one word, the lower one first.
#pragma once

#include <cstdint>

namespace detops::cuda {

__device__ inline uint32_t ToHalves(float first, float second) {
  uint32_t pair;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
#else
  asm("{.reg .f16 low, high; cvt.rn.f16.f32 low, %1; cvt.rn.f16.f32 high, %2; "
      "mov.b32 %0, {low, high};}"
      : "=r"(pair)
      : "f"(first), "f"(second));
#endif
  return pair;
}

__device__ inline float2 FromHalves(uint32_t pair) {
  float2 values;
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
      : "=f"(values.x), "=f"(values.y)
      : "r"(pair));
  return values;
}

}  // namespace detops::cuda
