// SPDX-License-Identifier: Apache-2.0
//
// The host: device memory is host memory, and a queue has always finished.
#pragma once

#include "runtime/device.h"

namespace detops::runtime {

class CpuDevice final : public Device {
 public:
  static CpuDevice& Instance();

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

 private:
  CpuDevice();
};

}  // namespace detops::runtime
