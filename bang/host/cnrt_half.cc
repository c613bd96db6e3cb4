// SPDX-License-Identifier: Apache-2.0
//
// cnrt.h: half as its bits, and the sizes of types.
#include <string.h>

#include "cnrt.h"
#include "host/report.h"

namespace {

uint16_t HalfBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // NaN
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65520 and above
  // The bits that half has not are `shift` many; a subnormal loses more of them.
  const int exponent = static_cast<int>(magnitude >> 23);
  uint32_t kept, shift;
  if (exponent >= 113) {
    kept = magnitude - (112u << 23);
    shift = 13;
  } else {
    if (exponent < 102) return static_cast<uint16_t>(sign);
    kept = (magnitude & 0x7fffff) | 0x800000;
    shift = static_cast<uint32_t>(126 - exponent);
  }
  const uint32_t half = kept >> shift;
  const uint32_t rest = kept & ((1u << shift) - 1);
  const uint32_t middle = 1u << (shift - 1);
  const bool up = rest > middle || (rest == middle && (half & 1) != 0);
  return static_cast<uint16_t>(sign | (half + up));
}

float HalfValue(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {  // zero and subnormals: a multiple of 2^-24
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  const uint32_t bits =
      sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | fraction << 13;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

cnrtRet_t cnrtConvertFloatToHalf(uint16_t* half_bits, float value) {
  if (half_bits == nullptr) {
    return bang::Fail(cnrtErrorArgsInvalid, "cnrtConvertFloatToHalf", "half_bits is null");
  }
  *half_bits = HalfBits(value);
  return cnrtSuccess;
}

cnrtRet_t cnrtConvertHalfToFloat(float* value, uint16_t half_bits) {
  if (value == nullptr) {
    return bang::Fail(cnrtErrorArgsInvalid, "cnrtConvertHalfToFloat", "value is null");
  }
  *value = HalfValue(half_bits);
  return cnrtSuccess;
}

int cnrtDataTypeSize(cnrtDataType_t type) {
  switch (type) {
    case cnrtInt8:
    case cnrtUInt8:
    case cnrtBool: return 1;
    case cnrtFloat16:
    case cnrtInt16:
    case cnrtUInt16: return 2;
    case cnrtFloat32:
    case cnrtInt32:
    case cnrtUInt32: return 4;
    case cnrtFloat64:
    case cnrtInt64: return 8;
    case cnrtInvalid: return 0;
  }
  return 0;
}
