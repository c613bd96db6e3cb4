// SPDX-License-Identifier: Apache-2.0
//
// One MLU: memory and queues of the vendor's runtime, or of the simulator that takes its place.
#pragma once

#include <span>

#include "mlu/card.h"
#include "runtime/device.h"
#include "runtime/mlu/cnrt_functions.h"

namespace detops::runtime {

// cnrtQueue_t is a pointer to a struct that the runtime keeps to itself: here it is ours, around
// one of the runtime's.
struct MluQueue : cnrtQueue {
  cnrtQueue_t queue;
  bool owned;  // else the caller's
};

class MluDevice final : public Device {
 public:
  MluDevice(int ordinal, int arch, int clusters, int cores_per_cluster, std::string name,
            std::string description);

  int ordinal() const { return ordinal_; }
  int arch() const { return arch_; }  // 372 or 592
  int clusters() const { return clusters_; }
  int cores_per_cluster() const { return cores_per_cluster_; }

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
  int ordinal_, arch_, clusters_, cores_per_cluster_;
};

// All that the runtime shows. Fails where there is none.
std::span<Device* const> MluDevices();

}  // namespace detops::runtime

namespace detops::mlu {

// Every error of the runtime becomes a failure that carries its name.
void Check(cnrtRet_t error, const char* what);

inline cnrtQueue_t QueueOf(cnrtQueue_t queue) {
  return queue == nullptr ? nullptr : static_cast<runtime::MluQueue*>(queue)->queue;
}

// Makes a device the thread's current one for the runtime, and gives the old one back.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace detops::mlu
