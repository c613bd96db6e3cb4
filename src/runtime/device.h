// SPDX-License-Identifier: Apache-2.0
//
// What the library wants of a device: memory, queues, and notifiers, which take the time. Kernels
// are not here; they find their way through the table of implementations.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "cnrt.h"
#include "core/tensor_desc.h"
#include "detops/detops.h"

namespace detops::runtime {

// Every method throws core::Failure.
class Device {
 public:
  Device(std::string name, std::string description)
      : name_(std::move(name)), description_(std::move(description)) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }  // "cpu", "cuda:0", "mlu590"
  const std::string& description() const { return description_; }

  // For 0 bytes too a pointer that Free takes.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  // On the queue; null is the default one.
  virtual void Memset(void* memory, int value, size_t bytes, cnrtQueue_t queue) = 0;
  virtual void Memcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t direction,
                      cnrtQueue_t queue) = 0;
  // Any strides to row-major.
  virtual void MakeContiguous(const mluOpTensorStruct& desc, const void* src, void* dst,
                              cnrtQueue_t queue) = 0;
  virtual cnrtQueue_t CreateQueue() = 0;
  // A queue that is the caller's own stream.
  virtual cnrtQueue_t WrapStream(void* stream) = 0;
  virtual void DestroyQueue(cnrtQueue_t queue) = 0;
  virtual void Synchronize(cnrtQueue_t queue) = 0;

  virtual cnrtNotifier_t CreateNotifier() = 0;
  virtual void DestroyNotifier(cnrtNotifier_t notifier) = 0;
  virtual void Place(cnrtNotifier_t notifier, cnrtQueue_t queue) = 0;
  virtual void Wait(cnrtNotifier_t notifier) = 0;
  // Both were placed.
  virtual float MicrosecondsBetween(cnrtNotifier_t start, cnrtNotifier_t end) = 0;

  // Where the calls of a handle count what they do (Launch::counters), or null. They stay allocated
  // when they are given back: a graph may be replayed after its handle is gone.
  virtual int64_t* TakeCounters() { return nullptr; }
  virtual void GiveBackCounters(int64_t*) noexcept {}

  virtual detopsDeviceProperties Properties() const { return {}; }

 private:
  std::string name_, description_;
};

// "cuda" of "cuda:0" and "cuda:simt", "mlu" of "mlu590".
constexpr std::string_view BackendNameOf(std::string_view device_or_implementation) {
  return device_or_implementation.substr(0, device_or_implementation.find_first_of(":0123456789"));
}

// "cpu", "cuda:1"; "cuda" is the first. Fails with the names there are.
Device& FindDevice(std::string_view name);

// The calling thread's: what DETOPS_DEVICE names, else the processor, until it is set.
Device& CurrentDevice();
void SetCurrentDevice(Device& device);

}  // namespace detops::runtime

struct cnrtQueue {
  detops::runtime::Device* device;
};

struct cnrtNotifier {
  detops::runtime::Device* device;
  bool placed = false;
};
