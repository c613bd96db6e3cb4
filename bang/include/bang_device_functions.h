// SPDX-License-Identifier: Apache-2.0
//
// A part of bang.h under the name that programs include it by.
#ifndef BANG_DEVICE_FUNCTIONS_H_
#define BANG_DEVICE_FUNCTIONS_H_

#include "bang.h"

#endif  // BANG_DEVICE_FUNCTIONS_H_
