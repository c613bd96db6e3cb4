// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cnrt.h"

void Scale(cnrtQueue_t queue, float *data, int n);
int Arch();
