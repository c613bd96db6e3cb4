// SPDX-License-Identifier: Apache-2.0
//
// Launching kernels, with every error of CUDA turned into a failure that carries its text.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/status.h"
#include "runtime/implementation.h"

// A queue of a CUDA device.
struct CudaQueue : cnrtQueue {
  cudaStream_t stream;
  bool owned;  // else the caller's
};

namespace detops::cuda {

inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that it is not reported again for a later call
  core::Fail(error == cudaErrorMemoryAllocation ? MLUOP_STATUS_ALLOC_FAILED
                                                : MLUOP_STATUS_EXECUTION_FAILED,
             what, ": CUDA says \"", cudaGetErrorString(error), "\" (", cudaGetErrorName(error),
             ")");
}

inline cudaStream_t StreamOf(cnrtQueue_t queue) {
  return queue == nullptr ? nullptr : static_cast<CudaQueue*>(queue)->stream;
}

// What a launch has to know of its device.
struct Traits {
  int multiprocessors;
  size_t shared_memory;  // that a block may have, in bytes
  // Whether a kernel may begin while the one before it ends (compute capability 9.0 and later).
  bool can_start_early;
};

// Makes a device the thread's current one for CUDA, and gives the old one back. CUB sizes and
// launches for the current one.
class DeviceScope {
 public:
  explicit DeviceScope(const runtime::Device& device);  // runtime/cuda/cuda_device.cu
  explicit DeviceScope(int ordinal) {
    Check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ != ordinal) Check(cudaSetDevice(ordinal), "cudaSetDevice");
    changed_ = before_ != ordinal;
  }
  ~DeviceScope() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

// One operator call: its device, stream and launches.
class Launcher {
 public:
  explicit Launcher(const runtime::Launch& launch);  // runtime/cuda/cuda_device.cu

  cudaStream_t stream() const { return stream_; }
  int multiprocessors() const { return traits_.multiprocessors; }
  size_t shared_memory() const { return traits_.shared_memory; }

  // Where the call's kernels count pairs and candidates, [2]: they do.
  unsigned long long* CountWork() {
    work_.on_device = true;
    return reinterpret_cast<unsigned long long*>(counters_);
  }

  // For the next launch alone.
  Launcher& WithSharedMemory(size_t bytes) {
    shared_memory_ = bytes;
    return *this;
  }

  // Parameters are those of the kernel; what is passed is converted to them. The kernel may be
  // started while the one before it runs, so it has to call BeginKernel first of all.
  template <class... Parameters>
  void operator()(const char* what, void (*kernel)(Parameters...), dim3 grid, int threads,
                  std::type_identity_t<Parameters>... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream_;
    config.dynamicSmemBytes = std::exchange(shared_memory_, 0);
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = traits_.can_start_early ? 1 : 0;
    Check(cudaLaunchKernelEx(&config, kernel, arguments...), what);
  }

 private:
  DeviceScope scope_;
  cudaStream_t stream_;
  Traits traits_;
  runtime::Work& work_;
  int64_t* counters_;
  size_t shared_memory_ = 0;
};

#ifdef __CUDACC__
// By every thread of a kernel before anything else. Waits until all that the kernel before wrote
// can be read; from then on the next kernel may be started, which waits here in its turn: so most
// of the time that a start takes passes while another kernel works.
__device__ inline void BeginKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
#endif

// Blocks for a kernel whose threads walk over `items` with the grid's stride.
inline unsigned BlocksFor(int64_t items, int64_t items_a_block, int64_t most = 65535) {
  return static_cast<unsigned>(
      std::clamp<int64_t>((items + items_a_block - 1) / items_a_block, 1, most));
}

}  // namespace detops::cuda
