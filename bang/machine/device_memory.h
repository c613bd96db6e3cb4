// SPDX-License-Identifier: Apache-2.0
//
// The allocations of a simulated card's GDRAM.
#ifndef BANG_MACHINE_DEVICE_MEMORY_H_
#define BANG_MACHINE_DEVICE_MEMORY_H_

#include <stdint.h>

#include <map>
#include <shared_mutex>
#include <string>

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
  // The allocation that holds the byte at `address` (or ends there, if none holds it).
  bool Find(const void* address, Allocation* found) const;
  int64_t used() const;
  int64_t capacity() const { return capacity_; }
  // Changes with every Allocate and Free, so that a caller can keep what Find gave.
  uint64_t generation() const;

 private:
  const int64_t capacity_;
  mutable std::shared_mutex mutex_;
  std::map<const char*, Allocation> allocations_;
  int64_t used_ = 0;
  int64_t next_number_ = 1;
  uint64_t generation_ = 0;
};

}  // namespace bang

#endif  // BANG_MACHINE_DEVICE_MEMORY_H_
