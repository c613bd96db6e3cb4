// SPDX-License-Identifier: Apache-2.0
//
// Compiled with -mavx2.
#define BANG_LOOPS kLoopsAvx2
#include "builtins/loops.inc"
