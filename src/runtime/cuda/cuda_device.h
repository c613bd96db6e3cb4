// SPDX-License-Identifier: Apache-2.0
//
// One NVIDIA GPU: memory and streams of CUDA's runtime.
#pragma once

#include "runtime/device.h"

namespace detops::runtime {

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, std::string description, int multiprocessors, bool can_start_early);

  int ordinal() const { return ordinal_; }
  int multiprocessors() const { return multiprocessors_; }
  // Whether a kernel may begin while the one before it ends (compute capability 9.0 and later).
  bool can_start_early() const { return can_start_early_; }

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

 private:
  int ordinal_;
  int multiprocessors_;
  bool can_start_early_;
};

// All that the driver shows. Fails where there is none.
std::span<Device* const> CudaDevices();

}  // namespace detops::runtime
