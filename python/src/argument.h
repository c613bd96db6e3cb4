// SPDX-License-Identifier: Apache-2.0
//
// What a Python function calls its arguments and what it takes: what its errors say.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace detops::python {

namespace nb = nanobind;

// An array.
struct Argument {
  const char* function;         // "poly_nms"
  const char* name;             // "dets"
  const char* shape;            // what to pass: "(N, 9), or (N, 8) with scores="
  const char* name_in_library;  // what the library's error texts call it: "boxes"
  const char* geometry = "";    // for detops._convert: "box", "corners" or "box3d", if it has them
  int columns = 0;              // of "no boxes", where any empty list or array means that
};

// TypeError or ValueError with "poly_nms: dets " and the text.
[[noreturn]] void ThrowTypeError(const Argument& argument, const std::string& text);
[[noreturn]] void ThrowValueError(const Argument& argument, const std::string& text);

// Scalars. What is not one of the kind is an error that names it.
double ToNumber(const char* function, const char* name, nb::handle value);
int ToInt(const char* function, const char* name, nb::handle value);
bool ToBool(const char* function, const char* name, nb::handle value);
// Whether an argument that is one of two words is the second.
bool IsSecond(const char* function, const char* name, nb::handle value, const char* first,
              const char* second);

}  // namespace detops::python
