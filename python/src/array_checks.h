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

// Of an array with elements: that there is memory, and that the distances in it, of so many bytes
// per unit of the strides, fit into 64 bits. NumPy, which converts other types, does not look.
template <class Stride>
void CheckMemory(const Argument& argument, const Shape& shape, const void* data,
                 const Stride* strides, int64_t unit) {
  if (shape.count() == 0) return;
  if (data == nullptr) ThrowValueError(argument, "is null, but has elements");
  if (strides == nullptr) return;
  int64_t low = 0, high = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;  // its stride is never taken
    int64_t distance;
    if (__builtin_mul_overflow(shape[i] - 1, int64_t{strides[i]}, &distance) ||
        __builtin_mul_overflow(distance, unit, &distance) ||
        __builtin_add_overflow(distance, distance < 0 ? low : high, &(distance < 0 ? low : high))) {
      ThrowMalformed(argument, "gives strides that lead out of all memory");
    }
  }
}

}  // namespace detops::python
