// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/launch.h"

namespace detops::runtime {
namespace {

using cuda::Check;
using cuda::DeviceScope;
using cuda::StreamOf;

cudaMemcpyKind KindOf(cnrtMemTransDir_t direction) {
  switch (direction) {
    case cnrtMemcpyHostToDev: return cudaMemcpyHostToDevice;
    case cnrtMemcpyDevToHost: return cudaMemcpyDeviceToHost;
    case cnrtMemcpyHostToHost: return cudaMemcpyHostToHost;
    default: return cudaMemcpyDeviceToDevice;
  }
}

// Dims and strides of a tensor, as a kernel's parameter.
struct Strided {
  int rank;
  int64_t dims[MLUOP_DIM_MAX], strides[MLUOP_DIM_MAX];
};

template <class Element>
__global__ void MakeContiguousKernel(Strided tensor, int64_t count, const Element* src,
                                     Element* dst) {
  cuda::BeginKernel();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    int64_t rest = i, offset = 0;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      offset += rest % tensor.dims[d] * tensor.strides[d];
      rest /= tensor.dims[d];
    }
    dst[i] = src[offset];
  }
}

template <class Element>
void LaunchMakeContiguous(const Strided& tensor, int64_t count, const void* src, void* dst,
                          cudaStream_t stream) {
  MakeContiguousKernel<<<cuda::BlocksFor(count, 256), 256, 0, stream>>>(
      tensor, count, static_cast<const Element*>(src), static_cast<Element*>(dst));
  Check(cudaGetLastError(), "making a tensor contiguous");
}

}  // namespace

CudaDevice::CudaDevice(int ordinal, std::string description, const cuda::Traits& traits)
    : Device(core::Concat("cuda:", ordinal), std::move(description)),
      ordinal_(ordinal),
      traits_(traits) {}

void* CudaDevice::Allocate(size_t bytes) {
  const DeviceScope scope(ordinal_);
  void* memory = nullptr;
  Check(cudaMalloc(&memory, std::max<size_t>(bytes, 1)),
        core::Concat("allocating ", bytes, " bytes on ", name()).c_str());
  return memory;
}

void CudaDevice::Free(void* memory) {
  const DeviceScope scope(ordinal_);
  Check(cudaFree(memory), "freeing memory");
}

void CudaDevice::Memset(void* memory, int value, size_t bytes, cnrtQueue_t queue) {
  if (bytes == 0) return;
  const DeviceScope scope(ordinal_);
  Check(cudaMemsetAsync(memory, value, bytes, StreamOf(queue)), "setting memory");
}

void CudaDevice::Memcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t direction,
                        cnrtQueue_t queue) {
  if (bytes == 0) return;
  const DeviceScope scope(ordinal_);
  Check(cudaMemcpyAsync(dst, src, bytes, KindOf(direction), StreamOf(queue)), "copying memory");
}

void CudaDevice::MakeContiguous(const mluOpTensorStruct& desc, const void* src, void* dst,
                                cnrtQueue_t queue) {
  const DeviceScope scope(ordinal_);
  Strided tensor = {desc.rank, {}, {}};
  std::copy_n(desc.dims.begin(), desc.rank, tensor.dims);
  std::copy_n(desc.strides.begin(), desc.rank, tensor.strides);
  const auto launch = [&]<class Element>(Element) {
    LaunchMakeContiguous<Element>(tensor, desc.ElementCount(), src, dst, StreamOf(queue));
  };
  switch (core::DtypeBytes(desc.dtype)) {
    case 1: return launch(uint8_t{});
    case 2: return launch(uint16_t{});
    case 4: return launch(uint32_t{});
    case 8: return launch(uint64_t{});
    default: return launch(ulonglong2{});
  }
}

cnrtQueue_t CudaDevice::CreateQueue() {
  const DeviceScope scope(ordinal_);
  auto queue = std::make_unique<CudaQueue>();
  queue->device = this;
  queue->owned = true;
  Check(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking), "creating a stream");
  return queue.release();
}

cnrtQueue_t CudaDevice::WrapStream(void* stream) {
  auto queue = std::make_unique<CudaQueue>();
  queue->device = this;
  queue->owned = false;
  queue->stream = static_cast<cudaStream_t>(stream);
  return queue.release();
}

void CudaDevice::DestroyQueue(cnrtQueue_t queue) {
  const std::unique_ptr<CudaQueue> owner(static_cast<CudaQueue*>(queue));
  if (!owner->owned) return;
  const DeviceScope scope(ordinal_);
  Check(cudaStreamDestroy(owner->stream), "destroying a stream");
}

void CudaDevice::Synchronize(cnrtQueue_t queue) {
  const DeviceScope scope(ordinal_);
  Check(cudaStreamSynchronize(StreamOf(queue)), "waiting for the queue");
}

namespace {

struct CudaNotifier : cnrtNotifier {
  cudaEvent_t event = nullptr;
};

cudaEvent_t EventOf(cnrtNotifier_t notifier) { return static_cast<CudaNotifier*>(notifier)->event; }

}  // namespace

cnrtNotifier_t CudaDevice::CreateNotifier() {
  const DeviceScope scope(ordinal_);
  auto notifier = std::make_unique<CudaNotifier>();
  notifier->device = this;
  Check(cudaEventCreate(&notifier->event), "creating an event");
  return notifier.release();
}

void CudaDevice::DestroyNotifier(cnrtNotifier_t notifier) {
  const std::unique_ptr<CudaNotifier> owner(static_cast<CudaNotifier*>(notifier));
  const DeviceScope scope(ordinal_);
  Check(cudaEventDestroy(owner->event), "destroying an event");
}

void CudaDevice::Place(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  const DeviceScope scope(ordinal_);
  Check(cudaEventRecord(EventOf(notifier), StreamOf(queue)), "recording an event");
}

void CudaDevice::Wait(cnrtNotifier_t notifier) {
  Check(cudaEventSynchronize(EventOf(notifier)), "waiting for an event");
}

float CudaDevice::MicrosecondsBetween(cnrtNotifier_t start, cnrtNotifier_t end) {
  Wait(end);
  float milliseconds = 0;
  Check(cudaEventElapsedTime(&milliseconds, EventOf(start), EventOf(end)), "reading events");
  return 1e3f * milliseconds;
}

int64_t* CudaDevice::TakeCounters() {
  const std::lock_guard lock(counters_mutex_);
  if (free_counters_.empty()) {
    free_counters_.reserve(all_counters_ + 1);
    free_counters_.push_back(static_cast<int64_t*>(Allocate(2 * sizeof(int64_t))));
    ++all_counters_;
  }
  int64_t* const counters = free_counters_.back();
  free_counters_.pop_back();
  return counters;
}

void CudaDevice::GiveBackCounters(int64_t* counters) noexcept {
  const std::lock_guard lock(counters_mutex_);
  free_counters_.push_back(counters);
}

// Kernels wait for the one before only where they were compiled for 9.0 or later (BeginKernel). The
// code that a device runs is known to be such if some was compiled for its own generation.
static bool CanStartEarly(int major, int minor) {
  constexpr int kCompiledFor[] = {__CUDA_ARCH_LIST__};
  return major >= 9 && std::ranges::any_of(kCompiledFor, [=](int architecture) {
           return architecture / 100 == major && architecture <= 100 * major + 10 * minor;
         });
}

std::span<Device* const> CudaDevices() {
  static const auto devices = [] {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
      core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "CUDA says \"", cudaGetErrorString(error), "\"");
    }
    if (count == 0) core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "the driver shows none");
    std::vector<std::unique_ptr<CudaDevice>> all;
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp properties;
      Check(cudaGetDeviceProperties(&properties, i), "asking for a device's properties");
      const cuda::Traits traits = {properties.multiProcessorCount,
                                   properties.sharedMemPerBlockOptin,
                                   CanStartEarly(properties.major, properties.minor)};
      all.push_back(std::make_unique<CudaDevice>(i, properties.name, traits));
    }
    return all;
  }();
  static const auto pointers = [] {
    std::vector<Device*> all;
    for (const auto& device : devices) all.push_back(device.get());
    return all;
  }();
  return pointers;
}

}  // namespace detops::runtime

namespace detops::cuda {

DeviceScope::DeviceScope(const runtime::Device& device)
    : DeviceScope(static_cast<const runtime::CudaDevice&>(device).ordinal()) {}

Launcher::Launcher(const runtime::Launch& launch)
    : scope_(launch.device),
      stream_(StreamOf(launch.queue)),
      traits_(static_cast<runtime::CudaDevice&>(launch.device).traits()),
      work_(launch.work),
      counters_(launch.counters) {}

}  // namespace detops::cuda
