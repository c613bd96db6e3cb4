// SPDX-License-Identifier: Apache-2.0
//
// Failures as Python knows them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "detops/detops.h"

namespace detops::python {

[[noreturn]] inline void Throw(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  throw nanobind::python_error();
}

// ValueError for a wrong argument, MemoryError, RuntimeError for what the machine refuses
// otherwise.
inline PyObject* ExceptionOf(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_BAD_PARAM) return PyExc_ValueError;
  return status == MLUOP_STATUS_ALLOC_FAILED ? PyExc_MemoryError : PyExc_RuntimeError;
}

// The library's last error text without the C function in front of it.
inline std::string_view LastErrorText() {
  const std::string_view text = detopsGetLastErrorMessage();
  const size_t end = text.find(": ");
  return end == text.npos ? text : text.substr(end + 2);
}

// Where no operator of Python's was called, or for what is no fault of its arguments.
inline void Check(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) Throw(ExceptionOf(status), std::string(LastErrorText()));
}

// str(object), also where it has characters that UTF-8 has not.
inline std::string TextOf(nanobind::handle object) {
  const nanobind::object text = nanobind::steal(PyObject_Str(object.ptr()));
  if (!text.is_valid()) throw nanobind::python_error();
  const nanobind::object bytes =
      nanobind::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nanobind::python_error();
  return PyBytes_AsString(bytes.ptr());
}

}  // namespace detops::python
