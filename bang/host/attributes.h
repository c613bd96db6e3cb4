// SPDX-License-Identifier: Apache-2.0
#ifndef BANG_HOST_ATTRIBUTES_H_
#define BANG_HOST_ATTRIBUTES_H_

#include "cnrt.h"
#include "host/devices.h"

namespace bang {

// False: there is no such attribute. The driver's interface has the same numbers.
bool GetAttribute(SimulatedDevice& device, int attribute, int* value);

// The most clusters that a union task can have: 1, 2, 4 or 8.
int MaxUnionClusters(const Card& card);

}  // namespace bang

#endif  // BANG_HOST_ATTRIBUTES_H_
