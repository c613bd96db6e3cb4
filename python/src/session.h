// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "array.h"
#include "detops/detops.h"

namespace detops::python {

// The calling thread's handle on the device, set to the stream; kept for the thread's next call.
// Throws with the library's text where the device is not usable.
mluOpHandle_t ThreadHandle(const Device& device, void* stream);

// After a fork the child has none of the threads that the handles know: it makes new ones.
void ForgetThreadHandles();

}  // namespace detops::python
