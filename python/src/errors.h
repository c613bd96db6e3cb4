// SPDX-License-Identifier: Apache-2.0
//
// Failures as Python knows them, with the library's text.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "detops/detops.h"

namespace detops::python {

// ValueError for a wrong argument, MemoryError, RuntimeError for what the machine refuses
// otherwise.
inline void Check(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  PyObject* const type = status == MLUOP_STATUS_BAD_PARAM      ? PyExc_ValueError
                         : status == MLUOP_STATUS_ALLOC_FAILED ? PyExc_MemoryError
                                                               : PyExc_RuntimeError;
  PyErr_SetString(type, detopsGetLastErrorMessage());
  throw nanobind::python_error();
}

[[noreturn]] inline void ThrowTypeError(const std::string& text) {
  throw nanobind::type_error(text.c_str());
}

[[noreturn]] inline void ThrowValueError(const std::string& text) {
  throw nanobind::value_error(text.c_str());
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
