// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "array.h"
#include "detops/detops.h"

namespace detops::python {

// The calling thread's handle on the device, set to the stream; kept for the thread's next call.
// Throws with the library's text where the device is not usable.
mluOpHandle_t ThreadHandle(const Device& device, void* stream);
// The same on any device by its name, on its default queue.
mluOpHandle_t ThreadHandle(const std::string& device);

// The device that the calling thread's host arrays are sent to, as it was chosen, or as
// DETOPS_DEVICE names it; "" where they are computed on the host.
const std::string& ThreadDevice();
// Chooses it: None goes back to the default. Returns what was chosen before, or None. `function` is
// the one that the caller has called.
nb::object SetDevice(const char* function, nb::handle device);
// Its name: "cpu", "mlu590".
std::string GetDevice();

// How many threads the calling thread's next calls may use on the CPU; 0 is the library's default.
// Returns what was set before. `function` is the one that the caller has called.
int SetThreads(const char* function, nb::handle n);
// How many those are.
int GetThreads();

// After a fork the child has none of the threads that the handles know: it makes new ones.
void ForgetThreadHandles();

}  // namespace detops::python
