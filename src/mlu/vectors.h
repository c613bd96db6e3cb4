// SPDX-License-Identifier: Apache-2.0
//
// Vectors of floats in NRAM as values, so that formulas can be read: a * b + c is two vector
// instructions and one temporary. For kernels only.
//
// Temporaries are slots of a pool. A Vec owns its slot; a Span is a view of a Vec, of rows of it, or
// of any other array in NRAM.
#pragma once

#include <stdint.h>

namespace detops::mlu {

// Slots of equal size, at most 64.
class Pool {
 public:
  __mlu_func__ Pool(float* memory, int64_t floats, int slot_floats)
      : memory_(memory), slot_floats_(slot_floats) {
    const int64_t slots = floats / slot_floats;
    free_ = slots < 64 ? (uint64_t{1} << slots) - 1 : ~uint64_t{0};
  }
  __mlu_func__ int Take() {
    const int slot = __builtin_ctzll(free_);
    free_ &= free_ - 1;
    return slot;
  }
  __mlu_func__ void Give(int slot) { free_ |= uint64_t{1} << slot; }
  __mlu_func__ float* At(int slot) const { return memory_ + slot * slot_floats_; }

 private:
  float* memory_;
  int slot_floats_;
  uint64_t free_;
};

struct Span {
  Pool* pool;  // where results go
  float* data;
  int count;

  __mlu_func__ Span Part(int begin, int size) const { return {pool, data + begin, size}; }
};

struct Vec : Span {
  int slot;

  // Uninitialised.
  __mlu_func__ Vec(Pool* of, int size) : Span{of, nullptr, size}, slot(of->Take()) {
    data = of->At(slot);
  }
  __mlu_func__ Vec(Vec&& other) : Span(other), slot(other.slot) { other.slot = -1; }
  __mlu_func__ Vec& operator=(Vec&& other) {
    if (slot >= 0) pool->Give(slot);
    pool = other.pool;
    data = other.data;
    count = other.count;
    slot = other.slot;
    other.slot = -1;
    return *this;
  }
  Vec(const Vec&) = delete;
  Vec& operator=(const Vec&) = delete;
  __mlu_func__ ~Vec() {
    if (slot >= 0) pool->Give(slot);
  }
};

#define DETOPS_MLU_VECTOR_BINARY(name, built_in)     \
  __mlu_func__ Vec name(Span a, Span b) {            \
    Vec result(a.pool, a.count);                     \
    built_in(result.data, a.data, b.data, a.count);  \
    return result;                                   \
  }
#define DETOPS_MLU_VECTOR_SCALAR(name, built_in)     \
  __mlu_func__ Vec name(Span a, float b) {           \
    Vec result(a.pool, a.count);                     \
    built_in(result.data, a.data, b, a.count);       \
    return result;                                   \
  }
DETOPS_MLU_VECTOR_BINARY(operator+, __bang_add)
DETOPS_MLU_VECTOR_BINARY(operator-, __bang_sub)
DETOPS_MLU_VECTOR_BINARY(operator*, __bang_mul)
DETOPS_MLU_VECTOR_BINARY(operator<, __bang_lt)
DETOPS_MLU_VECTOR_BINARY(operator>, __bang_gt)
DETOPS_MLU_VECTOR_BINARY(operator==, __bang_eq)
DETOPS_MLU_VECTOR_BINARY(operator&, __bang_and)  // of truth values
DETOPS_MLU_VECTOR_BINARY(operator|, __bang_or)
DETOPS_MLU_VECTOR_BINARY(Min, __bang_minequal)  // the first if equal or unordered
DETOPS_MLU_VECTOR_BINARY(Max, __bang_maxequal)
DETOPS_MLU_VECTOR_SCALAR(operator+, __bang_add_scalar)
DETOPS_MLU_VECTOR_SCALAR(operator-, __bang_sub_scalar)
DETOPS_MLU_VECTOR_SCALAR(operator*, __bang_mul_scalar)
DETOPS_MLU_VECTOR_SCALAR(operator<, __bang_lt_scalar)
DETOPS_MLU_VECTOR_SCALAR(operator>, __bang_gt_scalar)
DETOPS_MLU_VECTOR_SCALAR(operator==, __bang_eq_scalar)
DETOPS_MLU_VECTOR_SCALAR(Max, __bang_maxequal_scalar)
#undef DETOPS_MLU_VECTOR_BINARY
#undef DETOPS_MLU_VECTOR_SCALAR

__mlu_func__ Vec Copy(Span a) {
  Vec result(a.pool, a.count);
  __bang_move(result.data, a.data, a.count * sizeof(float));
  return result;
}
__mlu_func__ Vec Filled(Pool* pool, int count, float value) {
  Vec result(pool, count);
  __bang_write_value(result.data, count, value);
  return result;
}
__mlu_func__ Vec Abs(Span a) {
  Vec result(a.pool, a.count);
  __bang_abs(result.data, a.data, a.count);
  return result;
}
__mlu_func__ Vec Not(Span a) {
  Vec result(a.pool, a.count);
  __bang_not(result.data, a.data, a.count);
  return result;
}
__mlu_func__ Vec Reciprocal(Span a) {
  Vec result(a.pool, a.count);
  __bang_recip(result.data, a.data, a.count);
  return result;
}
// `yes` where the mask is not 0, else `no`.
__mlu_func__ Vec Select(Span mask, Span yes, Span no) {
  Vec result = Copy(no);
  __bang_maskmove(result.data, yes.data, mask.data, mask.count);
  return result;
}

// b repeats along a.
__mlu_func__ Vec CycleSub(Span a, Span b) {
  Vec result(a.pool, a.count);
  __bang_cycle_sub(result.data, a.data, b.data, a.count, b.count);
  return result;
}
__mlu_func__ Vec CycleMul(Span a, Span b) {
  Vec result(a.pool, a.count);
  __bang_cycle_mul(result.data, a.data, b.data, a.count, b.count);
  return result;
}

// Of `rows` equal parts of a.
__mlu_func__ Vec SumOfRows(Span a, int rows) {
  Vec result = Copy(a);
  const int count = a.count / rows;
  while (rows > 1) {
    const int half = rows / 2;
    rows -= half;
    __bang_add(result.data, result.data, result.data + rows * count, half * count);
  }
  result.count = count;
  return result;
}
__mlu_func__ Vec MinOfRows(Span a, int rows) {
  Vec result = Copy(a);
  const int count = a.count / rows;
  while (rows > 1) {
    const int half = rows / 2;
    rows -= half;
    __bang_minequal(result.data, result.data, result.data + rows * count, half * count);
  }
  result.count = count;
  return result;
}

}  // namespace detops::mlu
