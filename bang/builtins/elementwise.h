// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations without a call around them.
#ifndef BANG_BUILTINS_ELEMENTWISE_H_
#define BANG_BUILTINS_ELEMENTWISE_H_

#include "bang/vector_unit.h"

namespace bang {

void RunUnary(Operation operation, Type type, void* dst, const void* src, int64_t count);
// dst = src0 op src1, where src1 begins again with each `block`.
void RunBlocks(Operation operation, Type type, void* dst, const void* src0, const void* src1,
               int64_t count, int64_t block);

}  // namespace bang

#endif  // BANG_BUILTINS_ELEMENTWISE_H_
