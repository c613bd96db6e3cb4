// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace detops::python {

// What an object exports through the buffer protocol, given back at the end. The GIL is held.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { PyBuffer_Release(&view_); }  // does nothing where there is none
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }

  // False where the object exports none, with Python's error.
  bool Get(nanobind::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) == 0) return true;
    view_ = {};
    return false;
  }
  const Py_buffer* operator->() const { return &view_; }

 private:
  Py_buffer view_ = {};
};

}  // namespace detops::python
