// SPDX-License-Identifier: Apache-2.0
//
// A CUDA runtime with several devices, for machines that have none or one: the plug-in is linked
// with it instead of CUDA's. Memory is host memory and kernels do nothing, but each call is refused
// where CUDA would refuse it, or would execute it on another device than intended: a stream, memory
// or kernel attribute of a device that is not the thread's current one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace detops::test::fake_cuda {

// Of different generations, so that requests for one device do not fit another.
struct DeviceModel {
  int major, minor, multiprocessors;
  size_t shared_memory;  // that a block may request
};
inline constexpr DeviceModel kDevices[] = {
    {9, 0, 132, 227 << 10}, {7, 5, 40, 64 << 10}, {8, 0, 108, 163 << 10}};
inline constexpr int kDeviceCount = static_cast<int>(std::size(kDevices));

// The generations that the plug-in has code for, ascending.
inline constexpr int kCompiledFor[] = {DETOPS_COMPILED_FOR};

// The number of kernels launched on the device so far.
int64_t LaunchesOn(int device);

}  // namespace detops::test::fake_cuda
