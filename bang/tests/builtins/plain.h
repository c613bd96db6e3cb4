// SPDX-License-Identifier: Apache-2.0
//
// What each operation does to one element, as plainly as it can be said: nothing is shared with the
// library. Integers wrap, reals are float or double of the C library.
#ifndef BANG_TESTS_BUILTINS_PLAIN_H_
#define BANG_TESTS_BUILTINS_PLAIN_H_

#include <math.h>

#include "bang/vector_unit.h"
#include "values.h"

// Of two integers.
template <typename T>
T PlainInteger(bang::Operation operation, T a, T b) {
  using enum bang::Operation;
  using U = std::make_unsigned_t<T>;
  const auto x = static_cast<uint64_t>(static_cast<U>(a)),
             y = static_cast<uint64_t>(static_cast<U>(b));
  switch (operation) {
    case kAdd: return static_cast<T>(x + y);
    case kSub: return static_cast<T>(x - y);
    case kMul: return static_cast<T>(x * y);
    case kDiv: return b == 0 ? 0 : static_cast<T>(static_cast<__int128>(a) / b);
    case kRem: return b == 0 ? 0 : static_cast<T>(static_cast<__int128>(a) % b);
    case kMaxEqual:
    case kMaximum: return a >= b ? a : b;
    case kMinEqual:
    case kMinimum: return a <= b ? a : b;
    case kEq: return a == b;
    case kNe: return a != b;
    case kGt: return a > b;
    case kGe: return a >= b;
    case kLt: return a < b;
    case kLe: return a <= b;
    case kAnd: return a && b;
    case kOr: return a || b;
    case kXor: return !a != !b;
    case kBand: return static_cast<T>(x & y);
    case kBor: return static_cast<T>(x | y);
    case kBxor: return static_cast<T>(x ^ y);
    default: ADD_FAILURE() << "no such operation of integers"; return 0;
  }
}

// Of two reals; the caller rounds to the type.
inline double PlainReal(bang::Operation operation, float a, float b) {
  using enum bang::Operation;
  switch (operation) {
    case kAdd: return static_cast<double>(a) + b;  // of half exact, of float rounded as one sum is
    case kSub: return static_cast<double>(a) - b;
    case kMul: return static_cast<double>(a) * b;
    case kDiv: return static_cast<double>(a) / b;
    case kRem: return fmod(a, b);
    case kPow: return pow(a, b);
    case kMaxEqual: return a >= b || isunordered(a, b) ? a : b;
    case kMinEqual: return a <= b || isunordered(a, b) ? a : b;
    case kMaximum: return isnan(a) ? b : isnan(b) ? a : a >= b ? a : b;
    case kMinimum: return isnan(a) ? b : isnan(b) ? a : a <= b ? a : b;
    case kNanMaximum: return isnan(a) || isnan(b) ? NAN : a >= b ? a : b;
    case kNanMinimum: return isnan(a) || isnan(b) ? NAN : a <= b ? a : b;
    case kEq: return a == b;
    case kNe: return !isunordered(a, b) && a != b;
    case kGt: return a > b;
    case kGe: return a >= b;
    case kLt: return a < b;
    case kLe: return a <= b;
    case kAnd: return a != 0 && b != 0;
    case kOr: return a != 0 || b != 0;
    case kXor: return (a != 0) != (b != 0);
    case kRelun: {
      const float positive = a > 0 || isnan(a) ? a : 0;
      return positive > b ? b : positive;
    }
    default: ADD_FAILURE() << "no such operation of reals"; return 0;
  }
}

template <typename T>
T PlainBinary(bang::Operation operation, T a, T b) {
  if constexpr (!kIsReal<T>) {
    return PlainInteger(operation, a, b);
  } else if constexpr (std::is_same<T, float>::value) {
    // One rounding, not double and then float.
    using enum bang::Operation;
    if (operation == kAdd) return a + b;
    if (operation == kSub) return a - b;
    if (operation == kMul) return a * b;
    if (operation == kDiv) return a / b;
    return static_cast<float>(PlainReal(operation, a, b));
  } else {
    return static_cast<T>(static_cast<float>(PlainReal(operation, a, b)));
  }
}

// Of one real: exact ones first, then those that may be one unit in the last place off.
inline bool IsExact(bang::Operation operation) {
  using enum bang::Operation;
  switch (operation) {
    case kAbs:
    case kSquare:
    case kSign:
    case kFloor:
    case kCeil:
    case kRound:
    case kTrunc:
    case kRecip:
    case kSqrt:
    case kRelu:
    case kNot: return true;
    default: return false;
  }
}

inline double PlainFunction(bang::Operation operation, float x) {
  using enum bang::Operation;
  const long double y = x;
  switch (operation) {
    case kAbs: return fabsf(x);
    case kSquare: return y * y;
    case kSign: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case kFloor: return floorf(x);
    case kCeil: return ceilf(x);
    case kRound: return roundf(x);
    case kTrunc: return truncf(x);
    case kRecip: return 1.0 / x;
    case kSqrt: return sqrt(static_cast<double>(x));
    case kRelu: return x > 0 || isnan(x) ? x : 0;
    case kNot: return x == 0;
    case kRsqrt: return static_cast<double>(1 / sqrtl(y));
    case kPow2: return static_cast<double>(exp2l(y));
    case kExp: return static_cast<double>(expl(y));
    case kLog2: return static_cast<double>(log2l(y));
    case kLog: return static_cast<double>(logl(y));
    case kLog10: return static_cast<double>(log10l(y));
    case kLog1p: return static_cast<double>(log1pl(y));
    case kSin: return static_cast<double>(sinl(y));
    case kCos: return static_cast<double>(cosl(y));
    case kTan: return static_cast<double>(tanl(y));
    case kAsin: return static_cast<double>(asinl(y));
    case kAcos: return static_cast<double>(acosl(y));
    case kAtan: return static_cast<double>(atanl(y));
    case kSinh: return static_cast<double>(sinhl(y));
    case kCosh: return static_cast<double>(coshl(y));
    case kTanh: return static_cast<double>(tanhl(y));
    case kErf: return static_cast<double>(erfl(y));
    case kSigmoid: return static_cast<double>(1 / (1 + expl(-y)));
    case kSoftplus: return static_cast<double>(y > 40 ? y : log1pl(expl(y)));
    case kGelu: return x == -INFINITY ? 0 : static_cast<double>(y * erfcl(-y / sqrtl(2.0L)) / 2);
    default: ADD_FAILURE() << "no such function"; return 0;
  }
}

template <typename T>
T PlainUnary(bang::Operation operation, T x) {
  if constexpr (kIsReal<T>) {
    return static_cast<T>(static_cast<float>(PlainFunction(operation, x)));
  } else {
    using enum bang::Operation;
    switch (operation) {
      case kAbs: return x < 0 ? static_cast<T>(0 - static_cast<uint64_t>(x)) : x;
      case kNot: return x == 0;
      case kBnot: return static_cast<T>(~static_cast<uint64_t>(x));
      default: ADD_FAILURE() << "no such operation of an integer"; return 0;
    }
  }
}

// Neighbours in the order of their values, or the same.
template <typename T>
bool IsWithinOneUlp(T a, T b) {
  if (IsSame(a, b)) return true;
  if (isnan(static_cast<float>(a)) || isnan(static_cast<float>(b))) return false;
  const auto order = [](T x) {
    const int64_t sign_bit = int64_t{1} << (8 * sizeof(T) - 1);
    const int64_t bits = static_cast<int64_t>(BitPattern(x));
    return bits & sign_bit ? sign_bit - bits : bits;
  };
  return llabs(order(a) - order(b)) <= 1;
}

template <typename T>
bool IsTrue(T x) {
  return static_cast<Computed<T>>(x) != 0;
}

#endif  // BANG_TESTS_BUILTINS_PLAIN_H_
