// SPDX-License-Identifier: Apache-2.0
//
// Sizes from callers are multiplied and added only here.
#pragma once

#include <cstdint>

#include "core/status.h"

namespace detops::core {

inline int64_t CheckedMul(int64_t a, int64_t b, const char* what) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) BadParam(what, ": the size overflows 64 bits");
  return product;
}

inline int64_t CheckedAdd(int64_t a, int64_t b, const char* what) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) BadParam(what, ": the size overflows 64 bits");
  return sum;
}

}  // namespace detops::core
