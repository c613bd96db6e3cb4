// SPDX-License-Identifier: Apache-2.0
//
// One value each: what scalar code calls.
#include <string.h>

#include "bang/vector_unit.h"
#include "builtins/elementwise.h"
#include "builtins/loops.h"

namespace bang {

uint64_t FunctionValue(Operation operation, Type type, uint64_t x, uint64_t y) {
  const Type loop_type = type == Type::kF16 || type == Type::kBF16 ? Type::kF32 : type;
  uint64_t result = 0;
  if (HostLoops().unary(operation, loop_type) != nullptr) {
    RunUnary(operation, type, &result, &x, 1);
  } else {
    RunBlocks(operation, type, &result, &x, &y, 1, 1);
  }
  return result;
}

}  // namespace bang
