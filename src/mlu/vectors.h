// SPDX-License-Identifier: Apache-2.0
//
// Vectors of floats in NRAM as values, so that formulas can be read: a * b + c is two vector
// instructions and one temporary. For kernels only.
//
// Vectors come from the front of an arena, and all that a block of code made go when its Scope
// ends.
#pragma once

#include <stdint.h>

namespace detops::mlu {

struct Vec;

class Arena {
 public:
  __mlu_func__ Arena(float* memory, int64_t floats) : next_(memory), end_(memory + floats) {}
  __mlu_func__ Vec New(int count);

 private:
  friend class Scope;
  float *next_, *end_;
};

// A view: copies are of the same vector.
struct Vec {
  Arena* arena;  // where results go
  float* data;
  int count;

  __mlu_func__ Vec Part(int begin, int size) const { return {arena, data + begin, size}; }
  __mlu_func__ int32_t* Bits() const { return reinterpret_cast<int32_t*>(data); }
};

// Uninitialised.
__mlu_func__ Vec Arena::New(int count) {
  const Vec result = {this, next_, count};
  next_ += count;
  return result;
}

class Scope {
 public:
  __mlu_func__ Scope(Arena* arena) : arena_(arena), next_(arena->next_) {}
  // An overflow would have been of memory behind the arena: kernels are tested for that.
  __mlu_func__ ~Scope() { arena_->next_ = next_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Arena* const arena_;
  float* const next_;
};

#define DETOPS_MLU_BINARY(name, built_in)           \
  __mlu_func__ Vec name(Vec a, Vec b) {             \
    const Vec result = a.arena->New(a.count);       \
    built_in(result.data, a.data, b.data, a.count); \
    return result;                                  \
  }
#define DETOPS_MLU_SCALAR(name, built_in)      \
  __mlu_func__ Vec name(Vec a, float b) {      \
    const Vec result = a.arena->New(a.count);  \
    built_in(result.data, a.data, b, a.count); \
    return result;                             \
  }
#define DETOPS_MLU_UNARY(name, built_in)      \
  __mlu_func__ Vec name(Vec a) {              \
    const Vec result = a.arena->New(a.count); \
    built_in(result.data, a.data, a.count);   \
    return result;                            \
  }
// b repeats along a.
#define DETOPS_MLU_CYCLE(name, built_in)                     \
  __mlu_func__ Vec name(Vec a, Vec b) {                      \
    const Vec result = a.arena->New(a.count);                \
    built_in(result.data, a.data, b.data, a.count, b.count); \
    return result;                                           \
  }
DETOPS_MLU_BINARY(operator+, __bang_add)
DETOPS_MLU_BINARY(operator-, __bang_sub)
DETOPS_MLU_BINARY(operator*, __bang_mul)
DETOPS_MLU_BINARY(operator<, __bang_lt)
DETOPS_MLU_BINARY(operator>, __bang_gt)
DETOPS_MLU_BINARY(operator==, __bang_eq)
DETOPS_MLU_BINARY(operator&, __bang_and)  // of truth values
DETOPS_MLU_BINARY(operator|, __bang_or)
DETOPS_MLU_BINARY(Min, __bang_minequal)  // the first if equal or unordered
DETOPS_MLU_BINARY(Max, __bang_maxequal)
DETOPS_MLU_SCALAR(operator+, __bang_add_scalar)
DETOPS_MLU_SCALAR(operator-, __bang_sub_scalar)
DETOPS_MLU_SCALAR(operator*, __bang_mul_scalar)
DETOPS_MLU_SCALAR(operator<, __bang_lt_scalar)
DETOPS_MLU_SCALAR(operator>, __bang_gt_scalar)
DETOPS_MLU_SCALAR(operator==, __bang_eq_scalar)
DETOPS_MLU_SCALAR(Max, __bang_maxequal_scalar)
DETOPS_MLU_UNARY(Abs, __bang_abs)
DETOPS_MLU_UNARY(Not, __bang_not)
DETOPS_MLU_UNARY(Reciprocal, __bang_recip)
DETOPS_MLU_CYCLE(CycleSub, __bang_cycle_sub)
DETOPS_MLU_CYCLE(CycleMul, __bang_cycle_mul)
#undef DETOPS_MLU_BINARY
#undef DETOPS_MLU_SCALAR
#undef DETOPS_MLU_UNARY
#undef DETOPS_MLU_CYCLE

__mlu_func__ Vec Copy(Vec a) {
  const Vec result = a.arena->New(a.count);
  __bang_move(result.data, a.data, a.count * sizeof(float));
  return result;
}
__mlu_func__ Vec Filled(Arena* arena, int count, float value) {
  const Vec result = arena->New(count);
  __bang_write_value(result.data, count, value);
  return result;
}
// `yes` where the mask is not 0, else `no`.
__mlu_func__ Vec Select(Vec mask, Vec yes, Vec no) {
  const Vec result = Copy(no);
  __bang_maskmove(result.data, yes.data, mask.data, mask.count);
  return result;
}

// Of `rows` equal parts of a, which is overwritten.
__mlu_func__ Vec SumOfRows(Vec a, int rows) {
  const int count = a.count / rows;
  while (rows > 1) {
    const int half = rows / 2;
    rows -= half;
    __bang_add(a.data, a.data, a.data + rows * count, half * count);
  }
  return a.Part(0, count);
}
__mlu_func__ Vec MinOfRows(Vec a, int rows) {
  const int count = a.count / rows;
  while (rows > 1) {
    const int half = rows / 2;
    rows -= half;
    __bang_minequal(a.data, a.data, a.data + rows * count, half * count);
  }
  return a.Part(0, count);
}

}  // namespace detops::mlu
