// SPDX-License-Identifier: Apache-2.0
//
// The element types of the vector unit, and the sets of them that the built-ins take.
#ifndef BANG_TYPES_H_
#define BANG_TYPES_H_

#include <stdint.h>

#include <type_traits>

#include "bang/half.h"

namespace bang {

enum class Type : uint8_t { kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kBF16, kF32 };
constexpr int kTypeCount = 11;

constexpr int SizeOf(Type type) {
  constexpr int kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4};
  return kSizes[static_cast<int>(type)];
}

using TypeSet = unsigned;

template <typename... Types>
constexpr TypeSet SetOf(Types... types) {
  return (0u | ... | (1u << static_cast<int>(types)));
}

namespace types {
constexpr TypeSet kHalf = SetOf(Type::kF16);
constexpr TypeSet kFloat = SetOf(Type::kF32);
constexpr TypeSet kInt16 = SetOf(Type::kI16);
constexpr TypeSet kInt32 = SetOf(Type::kI32);
constexpr TypeSet kUint32 = SetOf(Type::kU32);
constexpr TypeSet kInt64 = SetOf(Type::kI64);
constexpr TypeSet kUint64 = SetOf(Type::kU64);
constexpr TypeSet kHalfFloat = kHalf | kFloat;
constexpr TypeSet kFloating = kHalfFloat | SetOf(Type::kBF16);
constexpr TypeSet kInteger =
    kInt16 | kInt32 | kUint32 | kInt64 | kUint64 | SetOf(Type::kI8, Type::kU8, Type::kU16);
constexpr TypeSet kAny = kFloating | kInteger;
constexpr TypeSet kArithmetic = kAny & ~SetOf(Type::kI8, Type::kU8);
constexpr TypeSet kSigned = kFloating | kInt16 | kInt32 | kInt64;
constexpr TypeSet kDivisible = kFloating | kInt32 | kUint32 | kInt64 | kUint64;
constexpr TypeSet kAtomic = kHalfFloat | kInt16 | kInt32 | kUint32 | SetOf(Type::kU16);
constexpr TypeSet kWords = kAny & ~SetOf(Type::kI64, Type::kU64);
}  // namespace types

// A value without a Type has kIsElement false.
template <typename T, typename = void>
struct ElementType {
  static constexpr bool kIsElement = false;
  static constexpr Type kType = Type::kI8;
};
template <typename T>
struct ElementType<T, std::enable_if_t<std::is_integral<T>::value && !std::is_const<T>::value>> {
  static constexpr bool kIsElement = true;
  static constexpr int kLog2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  static constexpr Type kType = static_cast<Type>(2 * kLog2 + (std::is_signed<T>::value ? 0 : 1));
};
template <Type kElementType>
struct FloatElement {
  static constexpr bool kIsElement = true;
  static constexpr Type kType = kElementType;
};
template <>
struct ElementType<half, void> : FloatElement<Type::kF16> {};
template <>
struct ElementType<bfloat16_t, void> : FloatElement<Type::kBF16> {};
template <>
struct ElementType<float, void> : FloatElement<Type::kF32> {};

template <typename T>
constexpr Type kTypeOf = ElementType<T>::kType;

template <typename T>
constexpr bool IsOneOf(TypeSet set) {
  return ElementType<T>::kIsElement && (set >> static_cast<int>(kTypeOf<T>) & 1u) != 0;
}

// T again, from which a parameter's type isn't deduced: the argument is converted.
template <typename T>
struct SameType {
  using type = T;
};
template <typename T>
using Same = typename SameType<T>::type;

// The bits of a scalar operand.
template <typename T>
inline uint64_t BitsOf(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace bang

#endif  // BANG_TYPES_H_
