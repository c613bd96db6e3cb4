// SPDX-License-Identifier: Apache-2.0
//
// Conversions between the types of elements. What is rounded is computed in double, exactly,
// before.
#include <math.h>
#include <string.h>

#include "bang/vector_unit.h"
#include "builtins/assumptions.h"
#include "builtins/blocks.h"
#include "builtins/rows.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

constexpr bool IsFloat(Type type) { return type == Type::kF32 || IsNarrowFloat(type); }

struct Range {
  double lowest, highest;
};

Range RangeOf(Type type) {
  switch (type) {
    case Type::kI8: return {-128, 127};
    case Type::kU8: return {0, 255};
    case Type::kI16: return {-32768, 32767};
    case Type::kU16: return {0, 65535};
    case Type::kI32: return {-0x1p31, 0x1p31 - 1};
    default: return {0, 0x1p32 - 1};
  }
}

double RoundToInteger(double x, Rounding rounding) {
  if (!(fabs(x) < 0x1p52)) return x;
  const double below = floor(x);
  const double rest = x - below;  // exact
  if (rest == 0) return x;
  const double magnitude = x < 0 ? 1 - rest : rest;
  const int half_way = magnitude > 0.5 ? 1 : magnitude == 0.5 ? 0 : -1;
  const bool negative = x < 0;
  const double toward_zero = negative ? below + 1 : below;
  const bool odd = fmod(toward_zero, 2) != 0;
  if (!RoundsUp(rounding, negative, odd, true, half_way)) return toward_zero;
  return toward_zero + (negative ? -1 : 1);
}

int64_t ToInteger(double x, Type to, Rounding rounding) {
  if (x != x) return 0;
  const double rounded = RoundToInteger(x, rounding);
  if (Assumed().wrap && fabs(rounded) < 0x1p63) return static_cast<int64_t>(rounded);
  const Range range = RangeOf(to);
  return static_cast<int64_t>(rounded < range.lowest    ? range.lowest
                              : rounded > range.highest ? range.highest
                                                        : rounded);
}

double Load(Type type, const void* data, int64_t index) {
  const void* const at = At(data, type, index);
  const auto as = [at](auto value) {
    memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case Type::kI8: return as(int8_t{});
    case Type::kU8: return as(uint8_t{});
    case Type::kI16: return as(int16_t{});
    case Type::kU16: return as(uint16_t{});
    case Type::kI32: return as(int32_t{});
    case Type::kU32: return as(uint32_t{});
    case Type::kF32: return as(float{});
    case Type::kF16: return HalfValue(static_cast<uint16_t>(as(uint16_t{})));
    case Type::kBF16: return BFloat16Value(static_cast<uint16_t>(as(uint16_t{})));
    default: return 0;
  }
}

void Store(Type type, Rounding rounding, void* data, int64_t index, double value) {
  uint64_t bits;
  switch (type) {
    case Type::kF32: bits = NarrowBits(value, 8, 23, rounding); break;
    case Type::kF16: bits = HalfBits(value, rounding); break;
    case Type::kBF16: bits = BFloat16Bits(value, rounding); break;
    default: bits = static_cast<uint64_t>(ToInteger(value, type, rounding)); break;
  }
  memcpy(At(data, type, index), &bits, SizeOf(type));
}

// Rounds numbers that fit in 32 bits, without branches.
template <Rounding kRounding>
void FloatsToIntegers(int32_t* dst, const float* src, int64_t count, double scale, Range range) {
  using enum Rounding;
  for (int64_t i = 0; i < count; ++i) {
    double x = static_cast<double>(src[i]) * scale;
    x = x != x ? 0 : x;
    x = x < range.lowest ? range.lowest : x;
    x = x > range.highest ? range.highest : x;
    if constexpr (kRounding == kNearestEven) {
      dst[i] = static_cast<int32_t>((x + 0x1.8p52) - 0x1.8p52);
      continue;
    }
    const int32_t whole = static_cast<int32_t>(x);  // toward zero
    const double rest = fabs(x - whole);
    const bool away = kRounding == kNearestAway    ? rest >= 0.5
                      : kRounding == kNearestUp    ? (x > 0 ? rest >= 0.5 : rest > 0.5)
                      : kRounding == kAwayFromZero ? rest > 0
                      : kRounding == kUp           ? rest > 0 && x > 0
                      : kRounding == kDown         ? rest > 0 && x < 0
                                                   : false;
    dst[i] = whole + (away ? (x < 0 ? -1 : 1) : 0);
  }
}

using ToIntegers = void (*)(int32_t*, const float*, int64_t, double, Range);
constexpr ToIntegers kToIntegers[] = {
    FloatsToIntegers<Rounding::kNearestEven>,  FloatsToIntegers<Rounding::kNearestAway>,
    FloatsToIntegers<Rounding::kNearestUp>,    FloatsToIntegers<Rounding::kTowardZero>,
    FloatsToIntegers<Rounding::kAwayFromZero>, FloatsToIntegers<Rounding::kUp>,
    FloatsToIntegers<Rounding::kDown>};

void StoreIntegers(Type type, void* dst, const int32_t* src, int64_t count) {
  const auto store = [&](auto first) {
    auto* const to = static_cast<decltype(first)*>(dst);
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<decltype(first)>(src[i]);
  };
  switch (SizeOf(type)) {
    case 1: store(uint8_t{}); return;
    case 2: store(uint16_t{}); return;
    default: memcpy(dst, src, count * sizeof(int32_t));
  }
}

template <typename T>
void IntegersToFloats(float* dst, const void* src, int64_t count, double scale) {
  const T* const from = static_cast<const T*>(src);
  for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<float>(from[i] * scale);
}

void IntegersToFloats(Type type, float* dst, const void* src, int64_t count, double scale) {
  switch (type) {
    case Type::kI8: IntegersToFloats<int8_t>(dst, src, count, scale); return;
    case Type::kU8: IntegersToFloats<uint8_t>(dst, src, count, scale); return;
    case Type::kI16: IntegersToFloats<int16_t>(dst, src, count, scale); return;
    default: IntegersToFloats<int32_t>(dst, src, count, scale);
  }
}

// From the nearest ones to those that `rounding` asks for.
void NarrowRounded(Type type, Rounding rounding, uint16_t* dst, const float* src, int64_t count) {
  float nearest[kBlock];
  Narrow(type, dst, src, count);
  if (rounding == Rounding::kNearestEven) return;
  Widen(type, nearest, dst, count);
  const uint16_t infinity = type == Type::kF16 ? 0x7C00 : 0x7F80;
  const double beyond = type == Type::kF16 ? 0x1p16 : 0x1p128;  // the value that would come next
  for (int64_t i = 0; i < count; ++i) {
    if (!(nearest[i] < src[i] || nearest[i] > src[i])) continue;  // exact, or NaN
    const double x = fabs(static_cast<double>(src[i]));
    const uint16_t sign = dst[i] & 0x8000;
    const uint16_t magnitude = dst[i] & 0x7FFF;
    const uint16_t below = magnitude - (fabs(static_cast<double>(nearest[i])) > x ? 1 : 0);
    const auto value = [type](uint16_t bits) -> double {
      return type == Type::kF16 ? HalfValue(bits) : BFloat16Value(bits);
    };
    const double above = below + 1 == infinity ? beyond : value(below + 1);
    const double more = (x - value(below)) - (above - x);
    const int half_way = more > 0 ? 1 : more < 0 ? -1 : 0;
    const bool up = RoundsUp(rounding, sign != 0, below & 1, true, half_way);
    dst[i] = static_cast<uint16_t>(sign | (below + (up ? 1 : 0)));
  }
}

// Pairs of types that are frequent enough for loops of their own; all loops read a block before
// they write it, for src may lie at the end of dst.
bool ConvertFast(Type to, Type from, Rounding rounding, void* dst, const void* src, int64_t count,
                 double scale) {
  if (to == Type::kF32 && IsNarrowFloat(from)) {
    ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
      float block[kBlock];
      Widen(from, block, At(src, from, begin), n);
      memcpy(At(dst, to, begin), block, n * sizeof(float));
    });
    return true;
  }
  if (to == Type::kF32 && !IsFloat(from) && rounding == Rounding::kNearestEven) {
    ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
      float block[kBlock];
      IntegersToFloats(from, block, At(src, from, begin), n, scale);
      memcpy(At(dst, to, begin), block, n * sizeof(float));
    });
    return true;
  }
  if (IsNarrowFloat(to) && from == Type::kF32) {
    ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
      uint16_t block[kBlock];
      NarrowRounded(to, rounding, block, static_cast<const float*>(At(src, from, begin)), n);
      memcpy(At(dst, to, begin), block, n * sizeof(uint16_t));
    });
    return true;
  }
  if (!IsFloat(to) && IsFloat(from) && !Assumed().wrap) {
    ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
      float space[kBlock];
      int32_t block[kBlock];
      const float* const data = AsFloat(from, At(src, from, begin), n, space);
      kToIntegers[static_cast<int>(rounding)](block, data, n, scale, RangeOf(to));
      StoreIntegers(to, At(dst, to, begin), block, n);
    });
    return true;
  }
  return false;
}

}  // namespace

void Convert(BuiltIn id, Type to, Type from, Rounding rounding, void* dst, const void* src,
             int64_t count, int dst_position, int src_position, Where where) {
  const Row& row = RowOf(id);
  const int64_t dst_bytes = count * SizeOf(to), src_bytes = count * SizeOf(from);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, src_bytes);
  call.Write("dst", dst, dst_bytes);
  if (dst == src && dst_bytes > src_bytes) {
    call.Fail("dst is wider than src and begins where src does; put src at the end of dst");
  }
  call.Begin(row.Cost(dst_bytes > src_bytes ? dst_bytes : src_bytes, count));
  // An integer q with a position stands for q * 2^position.
  const int position = (IsFloat(to) ? 0 : dst_position) - (IsFloat(from) ? 0 : src_position);
  const double scale = ldexp(1, -position);
  if (!ConvertFast(to, from, rounding, dst, src, count, scale)) {
    for (int64_t i = 0; i < count; ++i) Store(to, rounding, dst, i, Load(from, src, i) * scale);
  }
  call.EndElementwise();
}

uint64_t ConvertValue(Type to, Type from, Rounding rounding, uint64_t value) {
  uint64_t result = 0;
  Store(to, rounding, &result, 0, Load(from, &value, 0));
  return result;
}

void Sequence(BuiltIn id, Type type, void* dst, int64_t count, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Write("dst", dst, bytes);
  call.Begin(row.Cost(bytes, count));
  for (int64_t i = 0; i < count; ++i) {
    if (IsFloat(type)) {
      Store(type, Rounding::kNearestEven, dst, i, static_cast<double>(i));
    } else {
      memcpy(At(dst, type, i), &i, SizeOf(type));
    }
  }
  call.EndInitialised();
}

}  // namespace bang
