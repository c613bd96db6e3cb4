// SPDX-License-Identifier: Apache-2.0
//
// The vector unit's loops. They are compiled once per instruction set of the host and give the same
// bits in each; half and bfloat16_t go through float, block by block (see blocks.h).
#ifndef BANG_BUILTINS_LOOPS_H_
#define BANG_BUILTINS_LOOPS_H_

#include <stdint.h>

#include "bang/vector_unit.h"

namespace bang {

// dst may be a source. Null where a type has no such operation.
using Loop1 = void (*)(void* dst, const void* src, int64_t count);
using Loop2 = void (*)(void* dst, const void* src0, const void* src1, int64_t count);

struct Loops {
  Loop1 (*unary)(Operation operation, Type type);
  Loop2 (*binary)(Operation operation, Type type);
  // a * b + c, rounded once. `narrow`: to odd, so that rounding it again to a type of 16 bits gives
  // what rounding the exact value would. dst may be a, b or c.
  void (*multiply_add)(float* dst, const float* a, const float* b, const float* c, int64_t count,
                       bool narrow);
  void (*half_to_float)(float* dst, const uint16_t* src, int64_t count);
  void (*bfloat16_to_float)(float* dst, const uint16_t* src, int64_t count);
  // Nearest even. The results of arithmetic: a NaN comes out as 0x7E00 or 0x7FC0, with its sign.
  void (*float_to_half)(uint16_t* dst, const float* src, int64_t count);
  void (*float_to_bfloat16)(uint16_t* dst, const float* src, int64_t count);
};

// Those of the best instruction set that this host has.
const Loops& HostLoops();

extern const Loops kLoopsBaseline;
#ifdef __x86_64__
extern const Loops kLoopsAvx2;
extern const Loops kLoopsAvx512;
#endif

}  // namespace bang

#endif  // BANG_BUILTINS_LOOPS_H_
