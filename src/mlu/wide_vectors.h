// SPDX-License-Identifier: Apache-2.0
//
// Vectors of numbers of about 46 bits, each the sum of two floats, by additions and products that
// round once each (whether a fused multiply-add does is not public). For kernels only.
//
// Errors are given for numbers up to 16, and absolute: relative to the largest operand.
#pragma once

#include "mlu/vectors.h"

namespace detops::mlu {

struct WideVec {
  Vec hi, lo;  // hi is the float nearest to hi + lo

  __mlu_func__ WideVec Part(int begin, int size) const {
    return {hi.Part(begin, size), lo.Part(begin, size)};
  }
};

__mlu_func__ WideVec NewWide(Arena* arena, int count) {
  return {arena->New(count), arena->New(count)};
}

// hi + lo == a + b exactly.
__mlu_func__ WideVec TwoSum(Vec a, Vec b) {
  const WideVec result = NewWide(a.arena, a.count);
  const Scope scope(a.arena);
  const Vec part = a.arena->New(a.count);
  __bang_add(result.hi.data, a.data, b.data, a.count);
  __bang_sub(part.data, result.hi.data, a.data, a.count);
  __bang_sub(result.lo.data, result.hi.data, part.data, a.count);
  __bang_sub(part.data, b.data, part.data, a.count);
  __bang_sub(result.lo.data, a.data, result.lo.data, a.count);
  __bang_add(result.lo.data, result.lo.data, part.data, a.count);
  return result;
}
// The same, for |a| >= |b|; also sets `to`, which may be one of them.
__mlu_func__ void FastTwoSum(WideVec to, Vec a, Vec b) {
  const Scope scope(a.arena);
  const Vec sum = a + b;
  __bang_sub(to.hi.data, sum.data, a.data, a.count);
  __bang_sub(to.lo.data, b.data, to.hi.data, a.count);
  __bang_move(to.hi.data, sum.data, a.count * sizeof(float));
}
// hi + lo == a - b exactly; b repeats along a.
__mlu_func__ WideVec CycleDifference(Vec a, Vec b) {
  const WideVec result = NewWide(a.arena, a.count);
  const Scope scope(a.arena);
  const Vec part = a.arena->New(a.count);
  __bang_cycle_sub(result.hi.data, a.data, b.data, a.count, b.count);
  __bang_sub(part.data, result.hi.data, a.data, a.count);  // -b, rounded
  __bang_sub(result.lo.data, result.hi.data, part.data, a.count);
  __bang_cycle_add(part.data, part.data, b.data, a.count, b.count);
  __bang_sub(result.lo.data, a.data, result.lo.data, a.count);
  __bang_sub(result.lo.data, result.lo.data, part.data, a.count);
  return result;
}

// Two floats of 12 bits each whose sum is a.
__mlu_func__ WideVec Halves(Vec a) {
  const WideVec result = NewWide(a.arena, a.count);
  __bang_mul_scalar(result.hi.data, a.data, 4097.0f, a.count);
  __bang_sub(result.lo.data, result.hi.data, a.data, a.count);
  __bang_sub(result.hi.data, result.hi.data, result.lo.data, a.count);
  __bang_sub(result.lo.data, a.data, result.hi.data, a.count);
  return result;
}
// hi + lo == a * b exactly, where no product is below 2^-100; b repeats along a.
__mlu_func__ WideVec CycleTwoProduct(Vec a, Vec b) {
  const WideVec result = NewWide(a.arena, a.count);
  const Scope scope(a.arena);
  const WideVec x = Halves(a), y = Halves(b);
  const Vec part = a.arena->New(a.count);
  const int count = a.count, cycle = b.count;
  __bang_cycle_mul(result.hi.data, a.data, b.data, count, cycle);
  __bang_cycle_mul(result.lo.data, x.hi.data, y.hi.data, count, cycle);
  __bang_sub(result.lo.data, result.lo.data, result.hi.data, count);
  __bang_cycle_mul(part.data, x.hi.data, y.lo.data, count, cycle);
  __bang_add(result.lo.data, result.lo.data, part.data, count);
  __bang_cycle_mul(part.data, x.lo.data, y.hi.data, count, cycle);
  __bang_add(result.lo.data, result.lo.data, part.data, count);
  __bang_cycle_mul(part.data, x.lo.data, y.lo.data, count, cycle);
  __bang_add(result.lo.data, result.lo.data, part.data, count);
  return result;
}

// Error below 2^-45 of the larger one.
__mlu_func__ WideVec operator+(const WideVec& a, const WideVec& b) {
  const WideVec result = TwoSum(a.hi, b.hi);
  const Scope scope(a.hi.arena);
  const Vec low = a.lo + b.lo;
  __bang_add(low.data, low.data, result.lo.data, low.count);
  FastTwoSum(result, result.hi, low);
  return result;
}
__mlu_func__ WideVec operator-(const WideVec& a, const WideVec& b) {
  const WideVec result = CycleDifference(a.hi, b.hi);
  const Scope scope(a.hi.arena);
  const Vec low = a.lo - b.lo;
  __bang_add(low.data, low.data, result.lo.data, low.count);
  FastTwoSum(result, result.hi, low);
  return result;
}
// Error below 2^-45 of the product; b repeats along a.
__mlu_func__ WideVec CycleMul(const WideVec& a, const WideVec& b) {
  const WideVec result = CycleTwoProduct(a.hi, b.hi);
  const Scope scope(a.hi.arena);
  const Vec low = CycleMul(a.hi, b.lo), other = CycleMul(a.lo, b.hi);
  __bang_add(low.data, low.data, other.data, low.count);
  __bang_add(low.data, low.data, result.lo.data, low.count);
  FastTwoSum(result, result.hi, low);
  return result;
}
__mlu_func__ WideVec operator*(const WideVec& a, const WideVec& b) { return CycleMul(a, b); }
__mlu_func__ WideVec operator*(const WideVec& a, float b) {
  Arena* const arena = a.hi.arena;
  return CycleMul(a, {Filled(arena, 1, b), Filled(arena, 1, 0.0f)});
}

__mlu_func__ WideVec Abs(const WideVec& a) {
  const WideVec result = NewWide(a.hi.arena, a.hi.count);
  const Scope scope(a.hi.arena);
  const Vec sign = a.hi < 0.0f;
  __bang_mul_scalar(sign.data, sign.data, -2.0f, sign.count);
  __bang_add_scalar(sign.data, sign.data, 1.0f, sign.count);
  __bang_mul(result.hi.data, a.hi.data, sign.data, sign.count);
  __bang_mul(result.lo.data, a.lo.data, sign.data, sign.count);
  return result;
}
__mlu_func__ WideVec Select(Vec mask, const WideVec& yes, const WideVec& no) {
  return {Select(mask, yes.hi, no.hi), Select(mask, yes.lo, no.lo)};
}
__mlu_func__ Vec operator<(const WideVec& a, const WideVec& b) {
  const Vec equal = a.hi == b.hi, low = a.lo < b.lo;
  __bang_and(equal.data, equal.data, low.data, equal.count);
  return (a.hi < b.hi) | equal;
}
__mlu_func__ WideVec Min(const WideVec& a, const WideVec& b) { return Select(a < b, a, b); }
__mlu_func__ WideVec Max(const WideVec& a, const WideVec& b) { return Select(a < b, b, a); }

// Error below 2^-41 of it, for numbers above 2^-100, if reciprocals of floats are good to 2^-21.
__mlu_func__ WideVec Reciprocal(const WideVec& a) {
  const WideVec result = NewWide(a.hi.arena, a.hi.count);
  const Scope scope(a.hi.arena);
  const Vec first = Reciprocal(a.hi);
  // 1 - a * first
  const WideVec product = CycleTwoProduct(a.hi, first);
  const Vec rest = product.hi * -1.0f;
  __bang_add_scalar(rest.data, rest.data, 1.0f, rest.count);
  __bang_sub(rest.data, rest.data, product.lo.data, rest.count);
  const Vec low = a.lo * first;
  __bang_sub(rest.data, rest.data, low.data, rest.count);
  __bang_mul(rest.data, rest.data, first.data, rest.count);
  FastTwoSum(result, first, rest);
  return result;
}

// Of `rows` equal parts.
__mlu_func__ WideVec SumOfRows(const WideVec& a, int rows) {
  const int count = a.hi.count / rows;
  WideVec result = a.Part(0, count) + a.Part(count, count);
  for (int i = 2; i < rows; ++i) result = result + a.Part(i * count, count);
  return result;
}

}  // namespace detops::mlu
