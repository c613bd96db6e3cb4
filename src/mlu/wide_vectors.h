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
};
struct WideSpan {
  Span hi, lo;
  __mlu_func__ WideSpan(const WideVec& v) : hi(v.hi), lo(v.lo) {}
  __mlu_func__ WideSpan(Span high, Span low) : hi(high), lo(low) {}
  __mlu_func__ WideSpan Part(int begin, int count) const {
    return {hi.Part(begin, count), lo.Part(begin, count)};
  }
};

// hi + lo == a + b exactly.
__mlu_func__ WideVec TwoSum(Span a, Span b) {
  Vec sum = a + b;
  const Vec b_part = sum - a;
  Vec rest = sum - b_part;
  __bang_sub(rest.data, a.data, rest.data, rest.count);
  __bang_sub(b_part.data, b.data, b_part.data, rest.count);
  __bang_add(rest.data, rest.data, b_part.data, rest.count);
  return {static_cast<Vec&&>(sum), static_cast<Vec&&>(rest)};
}
// The same, for |a| >= |b|.
__mlu_func__ WideVec FastTwoSum(Span a, Span b) {
  Vec sum = a + b;
  Vec rest = sum - a;
  __bang_sub(rest.data, b.data, rest.data, rest.count);
  return {static_cast<Vec&&>(sum), static_cast<Vec&&>(rest)};
}
// hi + lo == a - b exactly; b repeats along a.
__mlu_func__ WideVec CycleDifference(Span a, Span b) {
  Vec difference = CycleSub(a, b);
  const Vec b_part = difference - a;  // -b, rounded
  Vec rest = difference - b_part;
  __bang_sub(rest.data, a.data, rest.data, rest.count);
  __bang_cycle_add(b_part.data, b_part.data, b.data, rest.count, b.count);
  __bang_sub(rest.data, rest.data, b_part.data, rest.count);
  return {static_cast<Vec&&>(difference), static_cast<Vec&&>(rest)};
}

// Two floats of 12 bits each whose sum is a.
__mlu_func__ WideVec Halves(Span a) {
  Vec high = a * 4097.0f;
  const Vec rest = high - a;
  __bang_sub(high.data, high.data, rest.data, high.count);
  Vec low = a - high;
  return {static_cast<Vec&&>(high), static_cast<Vec&&>(low)};
}
// hi + lo == a * b exactly, where no product is below 2^-100; b repeats along a.
__mlu_func__ WideVec CycleTwoProduct(Span a, Span b) {
  const WideVec x = Halves(a), y = Halves(b);
  Vec product = CycleMul(a, b);
  Vec rest = CycleMul(x.hi, y.hi);
  __bang_sub(rest.data, rest.data, product.data, rest.count);
  const Vec part = CycleMul(x.hi, y.lo);
  __bang_add(rest.data, rest.data, part.data, rest.count);
  __bang_cycle_mul(part.data, x.lo.data, y.hi.data, rest.count, b.count);
  __bang_add(rest.data, rest.data, part.data, rest.count);
  __bang_cycle_mul(part.data, x.lo.data, y.lo.data, rest.count, b.count);
  __bang_add(rest.data, rest.data, part.data, rest.count);
  return {static_cast<Vec&&>(product), static_cast<Vec&&>(rest)};
}

// Error below 2^-45 of the larger one.
__mlu_func__ WideVec operator+(const WideSpan& a, const WideSpan& b) {
  const WideVec sum = TwoSum(a.hi, b.hi);
  const Vec low = a.lo + b.lo;
  __bang_add(low.data, low.data, sum.lo.data, low.count);
  return FastTwoSum(sum.hi, low);
}
__mlu_func__ WideVec operator-(const WideSpan& a, const WideSpan& b) {
  const Vec high = b.hi * -1.0f, low = b.lo * -1.0f;
  return a + WideSpan(high, low);
}
// Error below 2^-45 of the product; b repeats along a.
__mlu_func__ WideVec CycleMul(const WideSpan& a, const WideSpan& b) {
  const WideVec product = CycleTwoProduct(a.hi, b.hi);
  const Vec low = CycleMul(a.hi, b.lo), other = CycleMul(a.lo, b.hi);
  __bang_add(low.data, low.data, other.data, low.count);
  __bang_add(low.data, low.data, product.lo.data, low.count);
  return FastTwoSum(product.hi, low);
}
__mlu_func__ WideVec operator*(const WideSpan& a, const WideSpan& b) { return CycleMul(a, b); }
__mlu_func__ WideVec operator*(const WideSpan& a, float b) {
  const Vec factor = Filled(a.hi.pool, 1, b);
  const WideVec product = CycleTwoProduct(a.hi, factor);
  const Vec low = a.lo * b;
  __bang_add(low.data, low.data, product.lo.data, low.count);
  return FastTwoSum(product.hi, low);
}

__mlu_func__ WideVec Negative(const WideSpan& a) { return {a.hi * -1.0f, a.lo * -1.0f}; }
__mlu_func__ WideVec Abs(const WideSpan& a) {
  const Vec negative = a.hi < 0.0f;
  const Vec sign = negative * -2.0f;
  __bang_add_scalar(sign.data, sign.data, 1.0f, sign.count);
  return {a.hi * sign, a.lo * sign};
}
__mlu_func__ WideVec Select(Span mask, const WideSpan& yes, const WideSpan& no) {
  return {Select(mask, yes.hi, no.hi), Select(mask, yes.lo, no.lo)};
}
__mlu_func__ Vec operator<(const WideSpan& a, const WideSpan& b) {
  const Vec equal = a.hi == b.hi, low = a.lo < b.lo;
  __bang_and(equal.data, equal.data, low.data, equal.count);
  return (a.hi < b.hi) | equal;
}
__mlu_func__ WideVec Min(const WideSpan& a, const WideSpan& b) { return Select(a < b, a, b); }
__mlu_func__ WideVec Max(const WideSpan& a, const WideSpan& b) { return Select(a < b, b, a); }

// Error below 2^-43 of it, for numbers above 2^-60, if reciprocals of floats are good to 2^-21.
__mlu_func__ WideVec Reciprocal(const WideSpan& a) {
  const Vec first = Reciprocal(a.hi);
  // 1 - a * first
  const WideVec product = CycleTwoProduct(a.hi, first);
  Vec rest = product.hi * -1.0f;
  __bang_add_scalar(rest.data, rest.data, 1.0f, rest.count);
  __bang_sub(rest.data, rest.data, product.lo.data, rest.count);
  const Vec low = a.lo * first;
  __bang_sub(rest.data, rest.data, low.data, rest.count);
  __bang_mul(rest.data, rest.data, first.data, rest.count);
  return FastTwoSum(first, rest);
}

__mlu_func__ WideVec SumOfRows(const WideSpan& a, int rows) {
  const int count = a.hi.count / rows;
  WideVec result = a.Part(0, count) + a.Part(count, count);
  for (int i = 2; i < rows; ++i) result = result + a.Part(i * count, count);
  return result;
}

}  // namespace detops::mlu
