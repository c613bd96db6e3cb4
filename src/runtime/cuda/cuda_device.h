// SPDX-License-Identifier: Apache-2.0
//
// One NVIDIA GPU: memory and streams of CUDA's runtime.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "runtime/cuda/launch.h"
#include "runtime/device.h"

namespace detops::runtime {

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, std::string description, const cuda::Traits& traits);

  int ordinal() const { return ordinal_; }
  const cuda::Traits& traits() const { return traits_; }

  void* Allocate(size_t bytes) override;
  void Free(void* memory) override;
  void Memset(void* memory, int value, size_t bytes, cnrtQueue_t queue) override;
  void Memcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t direction,
              cnrtQueue_t queue) override;
  void MakeContiguous(const mluOpTensorStruct& desc, const void* src, void* dst,
                      cnrtQueue_t queue) override;
  cnrtQueue_t CreateQueue() override;
  cnrtQueue_t WrapStream(void* stream) override;
  void DestroyQueue(cnrtQueue_t queue) override;
  void Synchronize(cnrtQueue_t queue) override;
  cnrtNotifier_t CreateNotifier() override;
  void DestroyNotifier(cnrtNotifier_t notifier) override;
  void Place(cnrtNotifier_t notifier, cnrtQueue_t queue) override;
  void Wait(cnrtNotifier_t notifier) override;
  float MicrosecondsBetween(cnrtNotifier_t start, cnrtNotifier_t end) override;
  int64_t* TakeCounters() override;
  void GiveBackCounters(int64_t* counters) noexcept override;

 private:
  int ordinal_;
  cuda::Traits traits_;
  std::mutex counters_mutex_;
  std::vector<int64_t*> free_counters_;  // has room for all there are
  size_t all_counters_ = 0;
};

// All that the driver shows. Fails where there is none.
std::span<Device* const> CudaDevices();

}  // namespace detops::runtime
