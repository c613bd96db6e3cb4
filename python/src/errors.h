// SPDX-License-Identifier: Apache-2.0
//
// Failures as Python knows them, with the library's text.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "detops/detops.h"

namespace detops::python {

// ValueError for a wrong argument, RuntimeError for what the machine refuses.
inline void Check(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  const std::string text = detopsGetLastErrorMessage();
  if (status == MLUOP_STATUS_BAD_PARAM) throw nanobind::value_error(text.c_str());
  throw std::runtime_error(text);
}

[[noreturn]] inline void ThrowTypeError(const std::string& text) {
  throw nanobind::type_error(text.c_str());
}

[[noreturn]] inline void ThrowValueError(const std::string& text) {
  throw nanobind::value_error(text.c_str());
}

}  // namespace detops::python
