// SPDX-License-Identifier: Apache-2.0
#include "scale.h"

void ScaleTwice(cnrtQueue_t queue, float *data, int n) {
  Scale(queue, data, n);
  Scale(queue, data, n);
}
