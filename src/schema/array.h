// SPDX-License-Identifier: Apache-2.0
//
// A tensor on the host, row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlu_op.h"

namespace detops::schema {

// Something that the user of a command line can mend: an argument or a file.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Shape = std::vector<int64_t>;

// half, float or int32: what the operators take and give.
size_t SizeOf(mluOpDataType_t dtype);
const char* NameOf(mluOpDataType_t dtype);  // "float"

// The product. Throws UserError, naming `what`, for a negative dim, for a product beyond 64 bits,
// and where its bytes are more than this machine can hold.
int64_t CheckedCount(const Shape& shape, mluOpDataType_t dtype, const std::string& what);

// The product times the size of an element, however large.
double BytesOf(const Shape& shape, mluOpDataType_t dtype);
// Throws UserError, which begins with `what`, unless this machine has room for that much twice:
// data are there on the host and on the device, which is the host's memory too, or needs as much
// there.
void RequireMemory(double bytes, const std::string& what);

std::string TextOf(const Shape& shape);  // "[2000,9]"

class Array {
 public:
  Array() = default;
  // Zeros.
  Array(mluOpDataType_t dtype, Shape shape, const std::string& what = "tensor");
  // Type and shape without elements, to ask what a call would need.
  static Array Outline(mluOpDataType_t dtype, Shape shape);
  // From floats, rounded where the type is half. The count must be the shape's.
  static Array FromFloats(mluOpDataType_t dtype, Shape shape, std::span<const float> values);
  // What lies in a buffer with these strides, in elements; none of them may lead out of it.
  static Array Gather(const Array& buffer, Shape shape, const Shape& strides);

  mluOpDataType_t dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // 0 for a dim that is not there, so that a wrong rank reaches the library, which names it.
  int64_t dim(size_t i) const { return i < shape_.size() ? shape_[i] : 0; }
  int64_t count() const { return static_cast<int64_t>(bytes_.size() / SizeOf(dtype_)); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }

  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> As() {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  // Half and int32 too, widened or converted.
  std::vector<float> Floats() const;

  // Gives the same elements another shape of the same count.
  void Reshape(Shape shape);
  // Keeps the first rows.
  void KeepRows(int64_t rows);

 private:
  mluOpDataType_t dtype_ = MLUOP_DTYPE_FLOAT;
  Shape shape_ = {0};
  std::vector<std::byte> bytes_;
};

// Equal bit for bit, any NaN equal to any other.
bool SameBits(const Array& a, const Array& b);

}  // namespace detops::schema
