// SPDX-License-Identifier: Apache-2.0
#pragma once

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

inline Shape RowMajorStrides(const Shape& shape) {
  Shape strides(shape.rank());
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// Strides of dims with fewer than two elements are never taken.
inline bool IsRowMajor(const Shape& shape, const Shape& strides) {
  int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] > 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace detops::python
