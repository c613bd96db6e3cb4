// SPDX-License-Identifier: Apache-2.0
//
// The library's indices are int32; Python's users index with int64.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "call.h"

namespace detops::python {

// The dtype argument: None, or int32 or int64 as any library spells it.
Element IndexElement(const char* function, nb::handle dtype);

// Indices as the caller wants them, from int32.
Output CopyIndices(const Call& call, const int32_t* indices, const Shape& shape, Element element);

// An array of indices that an operator fills as int32: on the host in place, in the upper half of
// int64 memory.
class IndexOutput {
 public:
  IndexOutput(const Call& call, const Shape& shape, Element element);
  int32_t* data() const { return data_; }
  nb::object Finish();

 private:
  const Call& call_;
  Element element_;
  int64_t count_;
  Output output_;
  int32_t* data_;
};

}  // namespace detops::python
