// SPDX-License-Identifier: Apache-2.0
//
// Built-ins that choose elements by a mask.
#include <string.h>

#include <vector>

#include "bang/vector_unit.h"
#include "builtins/rows.h"
#include "builtins/truth.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

constexpr int64_t kSelectHead = 128;  // of __bang_select: the count, then zeros

// Elements that the mask chooses, one behind another; `dst` may begin where `src` does.
template <typename U, typename IsTrue>
unsigned PackTo(void* dst, const void* src, int64_t count, IsTrue is_true) {
  int64_t packed = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (is_true(i)) StoreBits<U>(dst, packed++, LoadBits<U>(src, i));
  }
  return static_cast<unsigned>(packed);
}

template <typename U, typename IsTrue>
unsigned Run(Operation operation, void* dst, const void* src, int64_t count, IsTrue is_true) {
  if (operation == Operation::kMaskMove) {
    for (int64_t i = 0; i < count; ++i) {
      if (is_true(i)) StoreBits<U>(dst, i, LoadBits<U>(src, i));
    }
    return 0;
  }
  if (operation == Operation::kPack) return PackTo<U>(dst, src, count, is_true);
  std::vector<U> packed(count);
  const unsigned number = PackTo<U>(packed.data(), src, count, is_true);
  char* const head = static_cast<char*>(dst);
  memset(head, 0, kSelectHead);
  memcpy(head, &number, sizeof number);
  memcpy(head + kSelectHead, packed.data(), number * sizeof(U));
  return number;
}

}  // namespace

unsigned Pack(BuiltIn id, Type type, void* dst, const void* src, const void* mask, bool bits,
              int64_t count, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, bytes);
  call.Read("mask", mask, bits ? (count + 7) / 8 : bytes);
  if (row.operation == Operation::kMaskMove) call.Read("dst", dst, bytes);
  call.Write("dst", dst, bytes + (row.operation == Operation::kSelect ? kSelectHead : 0));
  call.Begin(row.Cost(bytes, count));
  const unsigned number = WithBits(type, [&](auto truth) -> unsigned {
    using U = decltype(truth);
    if (!bits) {
      return Run<U>(row.operation, dst, src, count,
                    [&](int64_t i) { return (LoadBits<U>(mask, i) & truth) != 0; });
    }
    return Run<U>(row.operation, dst, src, count, [&](int64_t i) { return IsSetBit(mask, i); });
  });
  // What the mask leaves out may be garbage.
  call.EndInitialised();
  return number;
}

}  // namespace bang
