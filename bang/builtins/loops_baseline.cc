// SPDX-License-Identifier: Apache-2.0
//
// What every host of its kind has.
#define BANG_LOOPS kLoopsBaseline
#include "builtins/loops.inc"
