// SPDX-License-Identifier: Apache-2.0
#include "argument.h"

#include <limits>

#include "errors.h"
#include "kept.h"

namespace detops::python {
namespace {

// 'giou', -3, None; of what may be long, the type alone.
std::string Shown(nb::handle value) {
  PyObject* const object = value.ptr();
  const bool is_short = value.is_none() || PyBool_Check(object) || PyLong_Check(object) ||
                        PyFloat_Check(object) || PyUnicode_Check(object);
  if (!is_short) return "of type " + TextOf(value.type().attr("__name__"));
  const nb::object text = nb::steal(PyObject_Repr(object));
  if (!text.is_valid()) throw nb::python_error();
  constexpr size_t kLongest = 60;
  const std::string shown = TextOf(text);
  return shown.size() <= kLongest ? shown : shown.substr(0, kLongest) + "...";
}

[[noreturn]] void ThrowScalar(PyObject* type, const char* function, const char* name,
                              nb::handle value, const std::string& expected) {
  Throw(type,
        std::string(function) + ": " + name + " is " + Shown(value) + "; expected " + expected);
}

// A conversion failed: its own exceptions other than these are left as they are, as those of a
// tensor that lies on a device may be.
void ForgetTypeError() {
  const bool is_the_type = PyErr_ExceptionMatches(PyExc_TypeError) ||
                           PyErr_ExceptionMatches(PyExc_ValueError) ||
                           PyErr_ExceptionMatches(PyExc_OverflowError);
  if (!is_the_type) throw nb::python_error();
  PyErr_Clear();
}

std::string Named(const Argument& argument) {
  return std::string(argument.function) + ": " + argument.name + " ";
}

}  // namespace

void ThrowTypeError(const Argument& argument, const std::string& text) {
  Throw(PyExc_TypeError, Named(argument) + text);
}

void ThrowValueError(const Argument& argument, const std::string& text) {
  Throw(PyExc_ValueError, Named(argument) + text);
}

double ToNumber(const char* function, const char* name, nb::handle value) {
  if (!PyUnicode_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number != -1.0 || PyErr_Occurred() == nullptr) return number;
    ForgetTypeError();
  }
  ThrowScalar(PyExc_TypeError, function, name, value, "a number");
}

int ToInt(const char* function, const char* name, nb::handle value) {
  constexpr const char* kExpected = "an integer";
  if (PyBool_Check(value.ptr())) ThrowScalar(PyExc_TypeError, function, name, value, kExpected);
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    ForgetTypeError();
    ThrowScalar(PyExc_TypeError, function, name, value, kExpected);
  }
  constexpr int kLeast = std::numeric_limits<int>::min(), kMost = std::numeric_limits<int>::max();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || number < kLeast || number > kMost) {
    ThrowScalar(PyExc_ValueError, function, name, index,
                "at least " + std::to_string(kLeast) + " and at most " + std::to_string(kMost));
  }
  return static_cast<int>(number);
}

bool ToBool(const char* function, const char* name, nb::handle value) {
  static PyObject* slot = nullptr;
  const nb::handle numpy_bool = Kept(slot, "numpy", "bool_");
  if (PyBool_Check(value.ptr()) ||
      PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(numpy_bool.ptr()))) {
    return PyObject_IsTrue(value.ptr()) == 1;
  }
  ThrowScalar(PyExc_TypeError, function, name, value, "True or False");
}

bool IsSecond(const char* function, const char* name, nb::handle value, const char* first,
              const char* second) {
  if (PyUnicode_Check(value.ptr())) {
    if (PyUnicode_CompareWithASCIIString(value.ptr(), second) == 0) return true;
    if (PyUnicode_CompareWithASCIIString(value.ptr(), first) == 0) return false;
  }
  ThrowScalar(PyExc_ValueError, function, name, value,
              std::string("'") + first + "' or '" + second + "'");
}

}  // namespace detops::python
