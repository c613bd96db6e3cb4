// SPDX-License-Identifier: Apache-2.0
//
// IEEE binary16 to and from float: exact one way, one rounding to nearest even the other way.
#pragma once

#include <cstdint>

#include "math/bit_cast.h"
#include "math/host_device.h"

namespace detops::math {

struct Half {
  uint16_t bits;
};

// On a GPU its own instructions are used, which give the same results.
DETOPS_HD float ToFloat(Half h) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
#else
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const uint32_t magnitude = h.bits & 0x7fffu;
  // Shifted into position, the exponent is biased by 15 where a float's is biased by 127:
  // multiplying by 2^112 corrects that exactly, and also converts subnormal halves to normal
  // floats.
  const float value = BitCast<float>(magnitude << 13) * 0x1p112f;
  // Infinity and NaN have the largest half exponent; after the product theirs is 2^16.
  const uint32_t special = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return BitCast<float>(BitCast<uint32_t>(value) | special | sign);
#endif
}
DETOPS_HD float ToFloat(float f) { return f; }

DETOPS_HD Half ToHalf(float f) {
#ifdef __CUDA_ARCH__
  Half h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
  return h;
#else
  const uint32_t bits = BitCast<uint32_t>(f);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;  // the canonical quiet NaN
  } else if (magnitude >= 0x477ff000u) {
    half = 0x7c00u;  // 65520 and more round to infinity
  } else if (magnitude >= 0x38800000u) {
    // Normal: drop 13 bits, round to nearest even, move the bias from 127 to 15.
    const uint32_t odd = (magnitude >> 13) & 1u;
    half = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
  } else {
    // Subnormal: the last place of 0.5f is 2^-24, the spacing of subnormal halves, so the float
    // addition does the rounding.
    const float shifted = BitCast<float>(magnitude) + 0.5f;
    half = BitCast<uint32_t>(shifted) - 0x3f000000u;
  }
  return Half{static_cast<uint16_t>(half | sign)};
#endif
}

// A float, rounded to the element type of an output.
template <class T>
DETOPS_HD T FromFloat(float f);
template <>
DETOPS_HD float FromFloat<float>(float f) {
  return f;
}
template <>
DETOPS_HD Half FromFloat<Half>(float f) {
  return ToHalf(f);
}

}  // namespace detops::math
