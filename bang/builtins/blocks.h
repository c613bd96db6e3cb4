// SPDX-License-Identifier: Apache-2.0
//
// Vectors of any floating type, in float: the loops know no other. Blocks are small enough that
// what lies between two loops stays in the host's first cache.
#ifndef BANG_BUILTINS_BLOCKS_H_
#define BANG_BUILTINS_BLOCKS_H_

#include <stdint.h>

#include <algorithm>

#include "bang/types.h"
#include "builtins/loops.h"

namespace bang {

constexpr int64_t kBlock = 1024;  // elements

constexpr bool IsNarrowFloat(Type type) { return type == Type::kF16 || type == Type::kBF16; }

inline const void* At(const void* data, Type type, int64_t index) {
  return static_cast<const char*>(data) + index * SizeOf(type);
}
inline void* At(void* data, Type type, int64_t index) {
  return static_cast<char*>(data) + index * SizeOf(type);
}

inline void Widen(Type type, float* dst, const void* src, int64_t count) {
  (type == Type::kF16 ? HostLoops().half_to_float : HostLoops().bfloat16_to_float)(
      dst, static_cast<const uint16_t*>(src), count);
}

inline void Narrow(Type type, void* dst, const float* src, int64_t count) {
  (type == Type::kF16 ? HostLoops().float_to_half : HostLoops().float_to_bfloat16)(
      static_cast<uint16_t*>(dst), src, count);
}

// `count` elements of `data` as float: in place, or converted to `space`.
inline const float* AsFloat(Type type, const void* data, int64_t count, float* space) {
  if (type == Type::kF32) return static_cast<const float*>(data);
  Widen(type, space, data, count);
  return space;
}

// Calls f(begin, count) for each block of `count` elements.
template <typename F>
void ForEachBlock(int64_t count, int64_t block, F f) {
  for (int64_t begin = 0; begin < count; begin += block) f(begin, std::min(block, count - begin));
}

}  // namespace bang

#endif  // BANG_BUILTINS_BLOCKS_H_
