// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <new>

#include "detops/detops.h"

namespace detops::python {

// Dims or strides, without an allocation.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    for (int64_t dim : dims) dims_[static_cast<size_t>(rank_++)] = dim;
  }
  explicit Shape(int rank) : rank_(rank) {}

  int rank() const { return rank_; }
  const int64_t* data() const { return dims_.data(); }
  int64_t& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  // 0 past the rank: the library says what is wrong with the rank.
  int64_t operator[](int i) const { return i < rank_ ? dims_[static_cast<size_t>(i)] : 0; }

  int64_t count() const {
    if (std::find(dims_.begin(), dims_.begin() + rank_, 0) != dims_.begin() + rank_) return 0;
    int64_t product = 1;
    for (int i = 0; i < rank_; ++i) {
      if (__builtin_mul_overflow(product, (*this)[i], &product)) throw std::bad_alloc();
    }
    return product;
  }

 private:
  int rank_ = 0;
  std::array<int64_t, MLUOP_DIM_MAX> dims_ = {};
};

// Of a shape whose count() fits, or of an empty one: its strides are never taken.
inline Shape RowMajorStrides(const Shape& shape) {
  Shape strides(shape.rank());
  if (shape.count() == 0) return strides;
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// Strides of dims with fewer than two elements are never taken.
inline bool IsRowMajor(const Shape& shape, const Shape& strides) {
  const Shape expected = RowMajorStrides(shape);
  if (shape.count() == 0) return true;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] > 1 && strides[i] != expected[i]) return false;
  }
  return true;
}

}  // namespace detops::python
