// SPDX-License-Identifier: Apache-2.0
#include "cuda/fake/cudart.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

// A stream is identified by its address, and so is an event.
struct CUstream_st {
  int device;
};
struct CUevent_st {
  int device;
};

namespace detops::test::fake_cuda {
namespace {

constexpr size_t kSharedMemoryUnasked = 48 << 10;

struct State {
  std::mutex mutex;
  std::map<const std::byte*, std::pair<size_t, int>> memory;  // begin: bytes, device
  std::set<cudaStream_t> streams;
  std::map<std::pair<const void*, int>, size_t> shared_memory;  // per kernel and device
  int64_t launches[kDeviceCount] = {};
};

State& Everything() {
  static State state;
  return state;
}

thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t Done(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

const DeviceModel& Current() { return kDevices[current]; }

// The default stream is the current device's.
bool IsHere(const State& state, cudaStream_t stream) {
  return stream == nullptr || (state.streams.contains(stream) && stream->device == current);
}

// Whether all of the memory is in one allocation on the current device.
bool IsHere(const State& state, const void* memory, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(memory);
  auto next = state.memory.upper_bound(begin);
  if (next == state.memory.begin()) return false;
  const auto& [first, block] = *--next;
  return begin + bytes <= first + block.first && block.second == current;
}

cudaError_t Launch(const void* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  if (!IsHere(state, stream)) return Done(cudaErrorInvalidResourceHandle);
  const auto asked = state.shared_memory.find({kernel, current});
  const size_t allowed = asked == state.shared_memory.end() ? kSharedMemoryUnasked : asked->second;
  const int64_t threads = int64_t{block.x} * block.y * block.z;
  if (shared > allowed || threads == 0 || threads > 1024 || grid.x == 0 || grid.y == 0 ||
      grid.z == 0 || grid.y > 65535 || grid.z > 65535) {
    return Done(cudaErrorInvalidValue);
  }
  ++state.launches[current];
  return cudaSuccess;
}

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

int64_t LaunchesOn(int device) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  return state.launches[device];
}

}  // namespace detops::test::fake_cuda

using namespace detops::test::fake_cuda;

extern "C" {

// ---- errors -------------------------------------------------------------------------------------

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    default: return "another error";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidResourceHandle: return "of another device";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidValue: return "invalid argument";
    default: return "something that no function here says";
  }
}

// ---- devices ------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDeviceCount;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDeviceCount) return Done(cudaErrorInvalidValue);
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  const DeviceModel& model = kDevices[device];
  std::strcpy(properties->name, "a GPU that is none");
  properties->major = model.major;
  properties->minor = model.minor;
  properties->multiProcessorCount = model.multiprocessors;
  properties->sharedMemPerBlockOptin = model.shared_memory;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const DeviceModel& model = kDevices[device];
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = model.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = model.minor; break;
    case cudaDevAttrMultiProcessorCount: *value = model.multiprocessors; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = kSharedMemoryUnasked; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(model.shared_memory);
      break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    default: return Done(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

// ---- memory -------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return Done(cudaErrorMemoryAllocation);
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  state.memory[static_cast<const std::byte*>(*memory)] = {bytes, current};
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  if (memory != nullptr && state.memory.erase(static_cast<const std::byte*>(memory)) == 0) {
    return Done(cudaErrorInvalidValue);
  }
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  if (!IsHere(state, stream) || !IsHere(state, memory, bytes)) {
    return Done(cudaErrorInvalidResourceHandle);
  }
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (!IsHere(state, stream) || (to_device && !IsHere(state, to, bytes)) ||
      (from_device && !IsHere(state, from, bytes))) {
    return Done(cudaErrorInvalidResourceHandle);
  }
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

// ---- streams ------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  *stream = new CUstream_st{current};
  state.streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  if (state.streams.erase(stream) == 0) return Done(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  return IsHere(state, stream) ? cudaSuccess : Done(cudaErrorInvalidResourceHandle);
}

// ---- events -------------------------------------------------------------------------------------

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st{current};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  const bool here = event->device == current && IsHere(state, stream);
  return here ? cudaSuccess : Done(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}

// ---- kernels ------------------------------------------------------------------------------------

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      static_cast<size_t>(value) > Current().shared_memory) {
    return Done(cudaErrorInvalidValue);
  }
  State& state = Everything();
  const std::lock_guard lock(state.mutex);
  state.shared_memory[{kernel, current}] = static_cast<size_t>(value);
  return cudaSuccess;
}
// CUB selects its tile sizes by the generation that a kernel was compiled for.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  const int wanted = 10 * Current().major + Current().minor;
  int best = *std::begin(kCompiledFor);  // where there is no older code, any of it: it won't run
  for (const int architecture : kCompiledFor) {
    if (architecture <= wanted) best = std::max(best, architecture);
  }
  attributes->ptxVersion = attributes->binaryVersion = best;
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   size_t, unsigned) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void**) {
  return Launch(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                config->stream);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void**, size_t shared,
                             cudaStream_t stream) {
  return Launch(kernel, grid, block, shared, stream);
}

// ---- what the compiler calls --------------------------------------------------------------------

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  const Configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**, size_t shared,
                               cudaStream_t stream) {
  return Launch(kernel, grid, block, shared, stream);
}
void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

}  // extern "C"
