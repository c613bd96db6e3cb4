// SPDX-License-Identifier: Apache-2.0
//
// One MLU: memory and queues of the vendor's runtime, or of the simulator that takes its place.
#pragma once

#include <atomic>
#include <cstdint>
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

// What the runtime says of a card.
struct MluFacts {
  int arch;  // 372 or 592
  int clusters, cores_per_cluster;
  int clock_khz;
  double bytes_per_second;  // of its memory; 0 where the runtime does not say
};

class MluDevice final : public Device {
 public:
  MluDevice(int ordinal, const MluFacts& facts, std::string name, std::string description);

  int ordinal() const { return ordinal_; }
  int arch() const { return facts_.arch; }
  int clusters() const { return facts_.clusters; }
  int cores_per_cluster() const { return facts_.cores_per_cluster; }

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
  detopsDeviceProperties Properties() const override;

 private:
  void Took() { ++held_; }
  void GaveBack();

  int ordinal_;
  MluFacts facts_;
  std::atomic<int64_t> held_ = 0;  // memory, queues and notifiers that the caller has
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
