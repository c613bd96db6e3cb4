// SPDX-License-Identifier: Apache-2.0
//
// The older name of bang.h, with the older names of types.
#ifndef BANG_MLU_H_
#define BANG_MLU_H_

#include "bang.h"

typedef int8_t int8;
typedef int16_t int16;

#endif  // BANG_MLU_H_
