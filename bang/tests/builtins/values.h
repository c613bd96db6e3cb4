// SPDX-License-Identifier: Apache-2.0
//
// Values to compute with: small ones, large ones, and those where mistakes hide.
#ifndef BANG_TESTS_BUILTINS_VALUES_H_
#define BANG_TESTS_BUILTINS_VALUES_H_

#include <stdint.h>
#include <string.h>

#include <limits>
#include <random>

#include "bang/types.h"

using Random = std::mt19937_64;

inline int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

template <typename T>
constexpr bool kIsReal = !std::is_integral<T>::value;

// What an operation computes in, in a plain loop.
template <typename T>
using Computed = std::conditional_t<kIsReal<T>, float, T>;

template <typename T>
T FromBitPattern(uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

template <typename T>
uint64_t BitPattern(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename T>
T RandomValue(Random& random) {
  if constexpr (!kIsReal<T>) {
    switch (Pick(random, 0, 5)) {
      case 0: return static_cast<T>(random());
      case 1: return std::numeric_limits<T>::min();
      case 2: return std::numeric_limits<T>::max();
      default: return static_cast<T>(Pick(random, -3, 3));
    }
  } else {
    constexpr float kSpecial[] = {0.0f,
                                  -0.0f,
                                  1.0f,
                                  -1.0f,
                                  0.5f,
                                  -2.5f,
                                  3.5f,
                                  65504.0f,
                                  1e-7f,
                                  3e-8f,
                                  1.4e-45f,
                                  1e-39f,
                                  3.4e38f,
                                  __builtin_inff(),
                                  -__builtin_inff(),
                                  __builtin_nanf("")};
    switch (Pick(random, 0, 5)) {
      case 0: return static_cast<T>(kSpecial[Pick(random, 0, 15)]);
      case 1: return FromBitPattern<T>(random());
      case 2: return static_cast<T>(static_cast<float>(Pick(random, -4, 4)));
      default: return static_cast<T>(std::uniform_real_distribution<float>(-20, 20)(random));
    }
  }
}

// Equal bits; all NaNs are equal.
template <typename T>
bool IsSame(T a, T b) {
  if constexpr (kIsReal<T>) {
    const float x = a, y = b;
    if (x != x || y != y) return x != x && y != y;
  }
  return BitPattern(a) == BitPattern(b);
}

template <typename T>
std::string ToText(T value) {
  char text[64];
  snprintf(text, sizeof text, "%.9g (0x%llx)", static_cast<double>(static_cast<Computed<T>>(value)),
           static_cast<unsigned long long>(BitPattern(value)));
  return text;
}

// Calls f(T()) for each type of a set.
template <bang::TypeSet kSet, typename F>
void ForEachType(F f) {
  const auto maybe = [&](auto value) {
    if constexpr (bang::IsOneOf<decltype(value)>(kSet)) f(value);
  };
  maybe(int8_t{});
  maybe(uint8_t{});
  maybe(int16_t{});
  maybe(uint16_t{});
  maybe(int32_t{});
  maybe(uint32_t{});
  maybe(int64_t{});
  maybe(uint64_t{});
  maybe(half(0));
  maybe(bfloat16_t(0));
  maybe(float{});
}

#endif  // BANG_TESTS_BUILTINS_VALUES_H_
