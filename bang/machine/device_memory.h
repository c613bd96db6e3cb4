// SPDX-License-Identifier: Apache-2.0
//
// The allocations of a simulated card's GDRAM.
#ifndef BANG_MACHINE_DEVICE_MEMORY_H_
#define BANG_MACHINE_DEVICE_MEMORY_H_

#include <stdint.h>

#include <atomic>
#include <deque>
#include <map>
#include <shared_mutex>

namespace bang {

struct Allocation {
  char* begin;
  int64_t bytes;
  int64_t number;  // the how-manyeth cnrtMalloc of the device, from 1: error texts name it
};

// Safe to call from many threads.
class DeviceMemory {
 public:
  explicit DeviceMemory(int64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  char* Allocate(int64_t bytes);  // null: not enough
  bool Free(void* data);          // false: no allocation begins there
  void FreeAll();
  bool WasFreed(const void* data) const;  // an allocation that was freed began there
  // The allocation that holds the byte at `address` (or ends there, if none holds it).
  bool Find(const void* address, Allocation* found) const;
  int64_t used() const;
  int64_t capacity() const { return capacity_; }
  // Changes with every Allocate and Free, so that a caller can keep what Find gave.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  void Release(const Allocation& allocation);

  const int64_t capacity_;
  mutable std::shared_mutex mutex_;
  std::map<const char*, Allocation> allocations_;
  std::map<const char*, int64_t> freed_;  // by where they began: the number of the last one there
  std::deque<Allocation> released_;  // whose addresses nobody gets yet
  int64_t used_ = 0;
  int64_t next_number_ = 1;
  std::atomic<uint64_t> generation_ = 0;
};

}  // namespace bang

#endif  // BANG_MACHINE_DEVICE_MEMORY_H_
