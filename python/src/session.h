// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "array.h"
#include "detops/detops.h"

namespace detops::python {

// The calling thread's handle on the device, set to the stream; kept for the thread's next call.
// Throws with the library's text where the device is not usable.
mluOpHandle_t ThreadHandle(const Device& device, void* stream);

// How many threads the calling thread's next calls may use on the CPU; 0 is the library's default.
// Returns what was set before. `function` is the one that the caller has called.
int SetThreads(const char* function, nb::handle n);
// How many those are.
int GetThreads();

// After a fork the child has none of the threads that the handles know: it makes new ones.
void ForgetThreadHandles();

}  // namespace detops::python
