// SPDX-License-Identifier: Apache-2.0
//
// Choices where the hardware's behaviour isn't known: see assumptions.inc.
#ifndef BANG_BUILTINS_ASSUMPTIONS_H_
#define BANG_BUILTINS_ASSUMPTIONS_H_

namespace bang {

struct Assumptions {
#define ASSUMPTION(member, name, otherwise, usual, meaning) bool member = false;
#include "builtins/assumptions.inc"
};

const Assumptions& Assumed();
// As the environment's BANG_ASSUME; what it doesn't name has its default. False: it isn't
// understood.
bool SetAssumptions(const char* text);

}  // namespace bang

#endif  // BANG_BUILTINS_ASSUMPTIONS_H_
