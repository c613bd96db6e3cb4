// SPDX-License-Identifier: Apache-2.0
//
// Arrays with the buffer protocol.
#include <algorithm>
#include <bit>

#include "array_checks.h"

namespace detops::python {
namespace {

bool IsNativeFormat(const char* format, char code) {
  if (format == nullptr) return false;
  constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';
  // '@' and '=' both mean the byte order of this machine.
  if (*format == '@' || *format == '=' || *format == kNativeOrder) ++format;
  return format[0] == code && format[1] == '\0';
}

mluOpDataType_t TypeOf(const Buffer& buffer) {
  if (IsNativeFormat(buffer->format, 'f') && buffer->itemsize == 4) return MLUOP_DTYPE_FLOAT;
  if (IsNativeFormat(buffer->format, 'e') && buffer->itemsize == 2) return MLUOP_DTYPE_HALF;
  return MLUOP_DTYPE_INVALID;
}

}  // namespace

bool Array::ReadBuffer(const Argument& argument, nb::handle object, Types types) {
  Buffer buffer;
  if (!buffer.Get(object, PyBUF_RECORDS_RO)) {
    const bool says_why_not =
        PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError);
    if (!says_why_not) throw nb::python_error();
    PyErr_Clear();  // NumPy exports no dates, for one; the conversion names the type.
    return false;
  }
  shape_ = CheckedShape(argument, buffer->ndim, buffer->shape);
  int64_t bytes;
  if (__builtin_mul_overflow(shape_.count(), buffer->itemsize, &bytes) || bytes != buffer->len ||
      buffer->itemsize < 0) {
    ThrowMalformed(argument,
                   "says that its elements have " + std::to_string(buffer->len) + " bytes");
  }
  if (buffer->suboffsets != nullptr &&
      std::any_of(buffer->suboffsets, buffer->suboffsets + buffer->ndim,
                  [](Py_ssize_t offset) { return offset >= 0; })) {
    ThrowMalformed(argument, "gives pointers to its rows, which were not asked for");
  }
  CheckMemory(argument, shape_, buffer->buf, buffer->strides, 1);
  dtype_ = TypeOf(buffer);
  if (!Accepts(types, dtype_)) return false;
  const auto address = reinterpret_cast<uintptr_t>(buffer->buf);
  if (shape_.count() > 0 && address % static_cast<size_t>(buffer->itemsize) != 0) return false;

  strides_ = RowMajorStrides(shape_);
  if (buffer->strides != nullptr) {  // ctypes gives none
    for (int i = 0; i < buffer->ndim; ++i) {
      // A field of a larger record may lie between elements.
      if (buffer->strides[i] % buffer->itemsize != 0) return false;
      strides_[i] = buffer->strides[i] / buffer->itemsize;
    }
  }
  data_ = buffer->buf;
  buffer_ = std::move(buffer);
  return true;
}

}  // namespace detops::python
