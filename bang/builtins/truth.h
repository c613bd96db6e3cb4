// SPDX-License-Identifier: Apache-2.0
//
// Which elements are true: what is not 0 is, a NaN too, and -0 is not.
#ifndef BANG_BUILTINS_TRUTH_H_
#define BANG_BUILTINS_TRUTH_H_

#include <stdint.h>
#include <string.h>

#include "bang/types.h"
#include "builtins/assumptions.h"

namespace bang {

// The bit of element `index` in its byte of a mask of bits.
inline unsigned BitMask(int64_t index) {
  return Assumed().high_bits_first ? 0x80u >> (index & 7) : 1u << (index & 7);
}

inline bool IsSetBit(const void* mask, int64_t index) {
  return (static_cast<const uint8_t*>(mask)[index / 8] & BitMask(index)) != 0;
}

// Calls f with the unsigned integer type of the element's size (as a value) and the bits that make
// an element true.
template <typename F>
auto WithBits(Type type, F f) {
  const bool is_float = type == Type::kF32 || type == Type::kF16 || type == Type::kBF16;
  switch (SizeOf(type)) {
    case 1: return f(uint8_t{0xFF});
    case 2: return f(static_cast<uint16_t>(is_float ? 0x7FFF : 0xFFFF));
    case 4: return f(is_float ? uint32_t{0x7FFFFFFF} : ~uint32_t{0});
    default: return f(~uint64_t{0});
  }
}

template <typename U>
inline U LoadBits(const void* data, int64_t index) {
  U bits;
  memcpy(&bits, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(U)),
         sizeof bits);
  return bits;
}

template <typename U>
inline void StoreBits(void* data, int64_t index, U bits) {
  memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(U)), &bits, sizeof bits);
}

}  // namespace bang

#endif  // BANG_BUILTINS_TRUTH_H_
