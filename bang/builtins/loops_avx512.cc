// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -mavx512f and what comes with it.
#define BANG_LOOPS kLoopsAvx512
#include "builtins/loops.inc"
