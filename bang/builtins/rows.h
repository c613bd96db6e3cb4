// SPDX-License-Identifier: Apache-2.0
//
// The table of built-ins as the library looks it up.
#ifndef BANG_BUILTINS_ROWS_H_
#define BANG_BUILTINS_ROWS_H_

#include "bang/vector_unit.h"
#include "machine/vector_call.h"

namespace bang {

struct Row {
  const char* name;
  Operation operation;  // kNone for conversions: those are called with their rounding
  int passes;
  const char* kind;

  VectorCost Cost(int64_t bytes, int64_t operations) const {
    return {.bytes = bytes, .passes = passes, .operations = operations, .kind = kind};
  }
};

const Row& RowOf(BuiltIn id);

}  // namespace bang

#endif  // BANG_BUILTINS_ROWS_H_
