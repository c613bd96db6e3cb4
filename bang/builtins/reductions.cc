// SPDX-License-Identifier: Apache-2.0
//
// Built-ins whose result depends on all elements: extremes, counts, sums of 128 bytes.
#include <math.h>
#include <string.h>

#include "bang/vector_unit.h"
#include "builtins/assumptions.h"
#include "builtins/blocks.h"
#include "builtins/rows.h"
#include "builtins/truth.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

constexpr int64_t kNowhere = -1;

// The extreme of a block, as if it were `sign` times as large; a NaN is never it.
float ExtremeOfBlock(const float* data, int64_t count, float sign, float extreme) {
  constexpr int kLanes = 16;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, extreme);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const float value = sign * data[i + j];
      lanes[j] = value > lanes[j] ? value : lanes[j];
    }
  }
  for (; i < count; ++i) lanes[0] = sign * data[i] > lanes[0] ? sign * data[i] : lanes[0];
  for (const float lane : lanes) extreme = lane > extreme ? lane : extreme;
  return extreme;
}

// Index of the first extreme; of the first element if all are NaN.
int64_t FindExtreme(Type type, const void* src, int64_t count, float sign) {
  float space[kBlock];
  float extreme = -__builtin_inff();
  ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
    extreme = ExtremeOfBlock(AsFloat(type, At(src, type, begin), n, space), n, sign, extreme);
  });
  int64_t found = kNowhere;
  ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
    if (found != kNowhere) return;
    const float* const data = AsFloat(type, At(src, type, begin), n, space);
    for (int64_t i = 0; i < n; ++i) {
      if (sign * data[i] != extreme) continue;
      found = begin + i;
      return;
    }
  });
  return found == kNowhere ? 0 : found;
}

// float: the value, the index, a word of 0. half: the value, the index behind it, four bytes of 0.
int64_t ExtremeBytes(Type type) { return SizeOf(type) + 8; }

void WriteExtreme(Type type, void* dst, const void* src, int64_t index) {
  const int size = SizeOf(type);
  const uint32_t words[] = {static_cast<uint32_t>(index), 0};
  memmove(dst, At(src, type, index), size);
  memcpy(static_cast<char*>(dst) + size, words, sizeof words);
}

void SumBlocks(Type type, void* dst, const void* src, int64_t count) {
  const int64_t per_sum = 128 / SizeOf(type);
  ForEachBlock(count, per_sum, [&](int64_t begin, int64_t n) {
    float space[64];
    const float* const data = AsFloat(type, At(src, type, begin), n, space);
    float sum = 0;
    uint16_t narrow;
    for (int64_t i = 0; i < n; ++i) {
      sum += data[i];
      if (type == Type::kF32 || !Assumed().pool_narrow) continue;
      Narrow(type, &narrow, &sum, 1);
      Widen(type, &sum, &narrow, 1);
    }
    if (sum != sum) sum = __builtin_nanf("");
    void* const to = At(dst, type, begin);
    if (!Assumed().reduce_keeps) memset(to, 0, n * SizeOf(type));
    if (type == Type::kF32) {
      memcpy(to, &sum, sizeof sum);
    } else {
      Narrow(type, to, &sum, 1);
    }
  });
}

unsigned CountBits(const void* src, int64_t count) {
  unsigned ones = 0;
  for (int64_t i = 0; i < count; ++i) ones += IsSetBit(src, i);
  return ones;
}

unsigned CountTrue(Operation operation, Type type, const void* src, int64_t count) {
  return WithBits(type, [&](auto mask) -> unsigned {
    using U = decltype(mask);
    const U* const data = static_cast<const U*>(src);
    if (operation == Operation::kCount) {
      unsigned number = 0;
      for (int64_t i = 0; i < count; ++i) number += (data[i] & mask) != 0;
      return number;
    }
    const bool first = operation == Operation::kFindFirst;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = first ? i : count - 1 - i;
      if ((data[index] & mask) != 0) return static_cast<unsigned>(index);
    }
    return 0xFFFFFFFF;
  });
}

}  // namespace

void Whole(BuiltIn id, Type type, void* dst, const void* src, int64_t count, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  const bool sums = row.operation == Operation::kAdd;
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, bytes);
  call.Write("dst", dst, sums ? bytes : ExtremeBytes(type));
  call.Begin(row.Cost(bytes, count));
  if (sums) {
    SumBlocks(type, dst, src, count);
  } else {
    const float sign = row.operation == Operation::kMaximum ? 1 : -1;
    WriteExtreme(type, dst, src, FindExtreme(type, src, count, sign));
  }
  call.EndWhole();
}

unsigned Count(BuiltIn id, Type type, const void* src, int64_t count, Where where) {
  const Row& row = RowOf(id);
  const bool of_bits = row.operation == Operation::kCountBits;
  const int64_t bytes = of_bits ? (count + 7) / 8 : count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, bytes);
  call.Begin(row.Cost(bytes, count));
  const unsigned result =
      of_bits ? CountBits(src, count) : CountTrue(row.operation, type, src, count);
  call.EndWhole();
  return result;
}

void CountTo(BuiltIn id, Type type, void* dst, const void* src, int64_t count, Where where) {
  const Row& row = RowOf(id);
  const bool of_bits = row.operation == Operation::kCountBits;
  const int64_t bytes = of_bits ? (count + 7) / 8 : count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, bytes);
  call.Write("dst", dst, sizeof(unsigned));
  call.Begin(row.Cost(bytes, count));
  const unsigned result =
      of_bits ? CountBits(src, count) : CountTrue(row.operation, type, src, count);
  memcpy(dst, &result, sizeof result);
  call.EndWhole();
}

}  // namespace bang
