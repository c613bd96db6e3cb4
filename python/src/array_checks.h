// SPDX-License-Identifier: Apache-2.0
//
// What is checked of an array before it is read, whichever way it comes. Exporters are other
// people's code: what they leave out or get wrong is an exception here, never a crash.
#pragma once

#include <string>

#include "array.h"
#include "errors.h"

namespace detops::python {

inline bool Accepts(Types types, mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_FLOAT || (dtype == MLUOP_DTYPE_HALF && types == Types::kHalfOrFloat);
}

inline const char* Wanted(Types types) {
  return types == Types::kFloat ? "float32" : "float32 or float16";
}

[[noreturn]] inline void ThrowMalformed(const Argument& argument, const std::string& what) {
  ThrowTypeError(argument, "is malformed: its library " + what + "; pass a copy, numpy.array(...)");
}

template <class Dim>
Shape CheckedShape(const Argument& argument, int rank, const Dim* dims) {
  if (rank == 0) ThrowValueError(argument, std::string("is a scalar; expected ") + argument.shape);
  if (rank > MLUOP_DIM_MAX) {
    ThrowValueError(
        argument, "has " + std::to_string(rank) + " dims; expected " + std::string(argument.shape));
  }
  if (rank < 0 || dims == nullptr) ThrowMalformed(argument, "gives no shape");
  Shape shape(rank);
  for (int i = 0; i < rank; ++i) {
    shape[i] = dims[i];
    if (dims[i] < 0) {
      ThrowMalformed(argument,
                     "says that dim " + std::to_string(i) + " is " + std::to_string(dims[i]));
    }
  }
  return shape;
}

}  // namespace detops::python
