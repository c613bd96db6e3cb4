// SPDX-License-Identifier: Apache-2.0
//
// Read-modify-writes of GDRAM.
#include <string.h>

#include "bang/machine.h"
#include "bang/vector_unit.h"
#include "builtins/blocks.h"
#include "builtins/elementwise.h"
#include "builtins/rows.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

using Update = uint64_t (*)(uint64_t old, uint64_t operand);

// The operations of vectors, with one element.
template <Operation kOperation, Type kType>
uint64_t Combined(uint64_t old, uint64_t operand) {
  uint64_t result = 0;
  RunBlocks(kOperation, kType, &result, &old, &operand, 1, 1);
  return result;
}

template <Operation kOperation, Type kType>
uint64_t UpdateOf(uint64_t old, uint64_t operand) {
  using enum Operation;
  const auto is = [&](Operation comparison, uint64_t a, uint64_t b) {
    uint64_t truth = 0;
    RunBlocks(comparison, kType, &truth, &a, &b, 1, 1);
    return truth != 0;
  };
  if constexpr (kOperation == kExchange) return operand;
  if constexpr (kOperation == kBand) return old & operand;
  if constexpr (kOperation == kBor) return old | operand;
  if constexpr (kOperation == kBxor) return old ^ operand;
  if constexpr (kOperation == kIncrement || kOperation == kDecrement) {
    constexpr Type kI32 = Type::kI32;
    uint64_t one = 0;
    if constexpr (kType == Type::kF32 || kType == Type::kF16) {
      one = ConvertValue(kType, kI32, Rounding::kNearestEven, 1);
    } else {
      one = 1;
    }
    if constexpr (kOperation == kIncrement) {
      return is(kGe, old, operand) ? 0 : Combined<kAdd, kType>(old, one);
    }
    return is(kEq, old, 0) || is(kGt, old, operand) ? operand : Combined<kSub, kType>(old, one);
  }
  return Combined<kOperation, kType>(old, operand);
}

template <Operation kOperation>
Update OfType(Type type) {
  switch (type) {
    case Type::kI16: return UpdateOf<kOperation, Type::kI16>;
    case Type::kU16: return UpdateOf<kOperation, Type::kU16>;
    case Type::kI32: return UpdateOf<kOperation, Type::kI32>;
    case Type::kU32: return UpdateOf<kOperation, Type::kU32>;
    case Type::kF16: return UpdateOf<kOperation, Type::kF16>;
    default: return UpdateOf<kOperation, Type::kF32>;
  }
}

Update FindUpdate(Operation operation, Type type) {
  using enum Operation;
  switch (operation) {
    case kAdd: return OfType<kAdd>(type);
    case kSub: return OfType<kSub>(type);
    case kMaxEqual: return OfType<kMaxEqual>(type);
    case kMinEqual: return OfType<kMinEqual>(type);
    case kBand: return OfType<kBand>(type);
    case kBor: return OfType<kBor>(type);
    case kBxor: return OfType<kBxor>(type);
    case kIncrement: return OfType<kIncrement>(type);
    case kDecrement: return OfType<kDecrement>(type);
    default: return OfType<kExchange>(type);
  }
}

// The operand has the expected value in its lower half and the new one in its upper half.
template <Type kType>
uint64_t SwapIfEqual(uint64_t old, uint64_t operand) {
  const uint64_t expected = operand & 0xFFFFFFFF;
  uint64_t equal = 0;
  RunBlocks(Operation::kEq, kType, &equal, &old, &expected, 1, 1);
  return equal != 0 ? operand >> 32 : old;
}

Update FindSwap(Type type) {
  switch (type) {
    case Type::kI16: return SwapIfEqual<Type::kI16>;
    case Type::kU16: return SwapIfEqual<Type::kU16>;
    case Type::kI32: return SwapIfEqual<Type::kI32>;
    case Type::kU32: return SwapIfEqual<Type::kU32>;
    case Type::kF16: return SwapIfEqual<Type::kF16>;
    default: return SwapIfEqual<Type::kF32>;
  }
}

uint64_t Element(Type type, const void* data, int64_t index) {
  uint64_t bits = 0;
  memcpy(&bits, At(data, type, index), SizeOf(type));
  return bits;
}

// One element. dst may be a variable of the kernel or lie in NRAM.
void UpdateOne(const char* name, Type type, void* dst, void* gdram, Update update, uint64_t operand,
               Where where) {
  const int size = SizeOf(type);
  const uint64_t old = AtomicUpdate(name, gdram, size, update, operand, where);
  if (!IsIn(dst, Space::kNram)) {
    memcpy(dst, &old, size);
    return;
  }
  VectorCall call(name, where);
  call.Write("dst", dst, size);
  call.Begin({.bytes = size});
  memcpy(dst, &old, size);
  call.EndInitialised();
}

// `operand(i)` is that of element i.
template <typename Operand>
void UpdateMany(VectorCall& call, const char* name, Type type, void* dst, void* gdram,
                int64_t count, Update update, Operand operand, Where where) {
  const int size = SizeOf(type);
  if (dst != nullptr) call.Write("dst", dst, count * size);
  call.Begin({.bytes = count * size, .operations = count});
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t old = AtomicUpdate(name, At(gdram, type, i), size, update, operand(i), where);
    if (dst != nullptr) memcpy(At(dst, type, i), &old, size);
  }
  call.EndInitialised();
}

}  // namespace

void AtomicOne(BuiltIn id, Type type, void* dst, void* gdram, uint64_t value, Where where) {
  const Row& row = RowOf(id);
  UpdateOne(row.name, type, dst, gdram, FindUpdate(row.operation, type), value, where);
}

void AtomicMany(BuiltIn id, Type type, void* dst, void* gdram, const void* src, int64_t count,
                Where where) {
  const Row& row = RowOf(id);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, count * SizeOf(type));
  UpdateMany(
      call, row.name, type, dst, gdram, count, FindUpdate(row.operation, type),
      [&](int64_t i) { return Element(type, src, i); }, where);
}

void CompareAndSwap(Type type, void* dst, void* gdram, uint64_t expected, uint64_t value,
                    Where where) {
  UpdateOne("__bang_atomic_cas", type, dst, gdram, FindSwap(type), expected | value << 32, where);
}

void CompareAndSwapMany(Type type, void* dst, void* gdram, const void* expected, const void* src,
                        int64_t count, Where where) {
  const char* const name = "__bang_atomic_cas";
  VectorCall call(name, where);
  call.Count(count);
  call.Read("src1", expected, count * SizeOf(type));
  call.Read("src2", src, count * SizeOf(type));
  UpdateMany(
      call, name, type, dst, gdram, count, FindSwap(type),
      [&](int64_t i) { return Element(type, expected, i) | Element(type, src, i) << 32; }, where);
}

}  // namespace bang
