// SPDX-License-Identifier: Apache-2.0
#include "schema/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "math/half.h"
#include "schema/host_memory.h"

namespace detops::schema {
namespace {

bool IsNan(mluOpDataType_t dtype, const std::byte* element) {
  if (dtype == MLUOP_DTYPE_HALF) {
    uint16_t bits;
    std::memcpy(&bits, element, sizeof(bits));
    return (bits & 0x7fff) > 0x7c00;
  }
  if (dtype != MLUOP_DTYPE_FLOAT) return false;
  float value;
  std::memcpy(&value, element, sizeof(value));
  return std::isnan(value);
}

}  // namespace

size_t SizeOf(mluOpDataType_t dtype) { return dtype == MLUOP_DTYPE_HALF ? 2 : 4; }

const char* NameOf(mluOpDataType_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF: return "half";
    case MLUOP_DTYPE_FLOAT: return "float";
    case MLUOP_DTYPE_INT32: return "int32";
    default: return "unknown";
  }
}

std::string TextOf(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

double BytesOf(const Shape& shape, mluOpDataType_t dtype) {
  auto bytes = static_cast<double>(SizeOf(dtype));
  for (const int64_t dim : shape) bytes *= static_cast<double>(dim);
  return bytes;
}

void RequireMemory(double bytes, const std::string& what) {
  const auto memory = static_cast<double>(HostMemory());
  if (2 * bytes <= memory) return;
  throw UserError(
      fmt::format("{}: {:.3g} GB on the host and as much on the device are more than this "
                  "machine's memory of {:.3g} GB",
                  what, bytes * 1e-9, memory * 1e-9));
}

int64_t CheckedCount(const Shape& shape, mluOpDataType_t dtype, const std::string& what) {
  if (shape.size() > MLUOP_DIM_MAX) {
    throw UserError(
        fmt::format("{}: has {} dims, at most {} are possible", what, shape.size(), MLUOP_DIM_MAX));
  }
  int64_t count = 1;
  bool overflow = false;
  for (const int64_t dim : shape) {
    if (dim < 0)
      throw UserError(fmt::format("{}: shape {} has a negative dim", what, TextOf(shape)));
    // A 0 among them excuses no overflow: parts of the shape are multiplied elsewhere.
    overflow = overflow || (dim != 0 && count > std::numeric_limits<int64_t>::max() / dim);
    if (!overflow && dim != 0) count *= dim;
  }
  if (overflow) {
    throw UserError(fmt::format("{}: shape {} of {} is more than this machine can count", what,
                                TextOf(shape), NameOf(dtype)));
  }
  const bool empty = std::ranges::find(shape, 0) != shape.end();
  RequireMemory(empty ? 0 : static_cast<double>(count) * static_cast<double>(SizeOf(dtype)),
                fmt::format("{}: shape {} of {}", what, TextOf(shape), NameOf(dtype)));
  return empty ? 0 : count;
}

Array::Array(mluOpDataType_t dtype, Shape shape, const std::string& what)
    : dtype_(dtype), shape_(std::move(shape)) {
  bytes_.resize(static_cast<size_t>(CheckedCount(shape_, dtype_, what)) * SizeOf(dtype_));
}

Array Array::Outline(mluOpDataType_t dtype, Shape shape) {
  Array array;
  array.dtype_ = dtype;
  array.shape_ = std::move(shape);
  return array;
}

Array Array::FromFloats(mluOpDataType_t dtype, Shape shape, std::span<const float> values) {
  Array array(dtype, std::move(shape));
  if (array.count() != static_cast<int64_t>(values.size())) {
    throw UserError(fmt::format("shape {} does not hold the {} values of this kind of scene",
                                TextOf(array.shape()), values.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case MLUOP_DTYPE_HALF: array.As<math::Half>()[i] = math::ToHalf(values[i]); break;
      case MLUOP_DTYPE_INT32: array.As<int32_t>()[i] = static_cast<int32_t>(values[i]); break;
      default: array.As<float>()[i] = values[i];
    }
  }
  return array;
}

Array Array::Gather(const Array& buffer, Shape shape, const Shape& strides) {
  Array array(buffer.dtype(), std::move(shape));
  const size_t size = SizeOf(array.dtype_);
  Shape index(array.shape_.size(), 0);
  for (int64_t to = 0; to < array.count(); ++to) {
    const int64_t from =
        std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
    std::memcpy(array.bytes_.data() + static_cast<size_t>(to) * size,
                buffer.bytes_.data() + static_cast<size_t>(from) * size, size);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == array.shape_[d];) index[d] = 0;
  }
  return array;
}

std::vector<float> Array::Floats() const {
  std::vector<float> values(static_cast<size_t>(count()));
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype_) {
      case MLUOP_DTYPE_HALF: values[i] = math::ToFloat(As<math::Half>()[i]); break;
      case MLUOP_DTYPE_INT32: values[i] = static_cast<float>(As<int32_t>()[i]); break;
      default: values[i] = As<float>()[i];
    }
  }
  return values;
}

void Array::Reshape(Shape shape) {
  if (CheckedCount(shape, dtype_, "tensor") != count()) throw std::logic_error("another count");
  shape_ = std::move(shape);
}

void Array::KeepRows(int64_t rows) {
  if (shape_.empty() || shape_[0] == 0) return;
  const int64_t row_bytes = static_cast<int64_t>(bytes_.size()) / shape_[0];
  shape_[0] = std::clamp<int64_t>(rows, 0, shape_[0]);
  bytes_.resize(static_cast<size_t>(shape_[0] * row_bytes));
}

bool SameBits(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin())) return true;
  const size_t size = SizeOf(a.dtype());
  for (size_t at = 0; at < a.bytes().size(); at += size) {
    const std::byte *x = a.bytes().data() + at, *y = b.bytes().data() + at;
    if (std::memcmp(x, y, size) != 0 && !(IsNan(a.dtype(), x) && IsNan(b.dtype(), y))) return false;
  }
  return true;
}

}  // namespace detops::schema
