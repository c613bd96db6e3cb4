// SPDX-License-Identifier: Apache-2.0
#include "machine/device_memory.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>

#include "machine/options.h"

namespace bang {
namespace {

// Fresh memory of a card holds anything; what a program must not rely on is not zero here. Large
// allocations end in zeros all the same, for a page that nobody writes costs no memory of the host.
constexpr int kGarbage = 0x4b;
constexpr int64_t kMaxGarbageBytes = int64_t{64} << 20;

// What lies beyond the end of an allocation is no other one's, so that overruns are noticed.
constexpr int64_t kGapBytes = 64 << 10;
// The addresses of so many freed allocations stay unused, so that late uses of them are noticed.
constexpr size_t kMaxReleased = 1000;
constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

DeviceMemory::DeviceMemory(int64_t capacity) : capacity_(capacity) {}

DeviceMemory::~DeviceMemory() {
  FreeAll();
  for (const Allocation& released : released_) munmap(released.begin, released.bytes + kGapBytes);
}

char* DeviceMemory::Allocate(int64_t bytes) {
  const std::unique_lock lock(mutex_);
  if (bytes < 0 || bytes > capacity_ - used_) return nullptr;
  void* data = mmap(nullptr, bytes + kGapBytes, PROT_READ | PROT_WRITE, kReserved, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  if (GetOptions().check) memset(data, kGarbage, std::min(bytes, kMaxGarbageBytes));
  char* begin = static_cast<char*>(data);
  allocations_[begin] = {begin, bytes, next_number_++};
  freed_.erase(begin);
  used_ += bytes;
  ++generation_;
  return begin;
}

bool DeviceMemory::Free(void* data) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(static_cast<const char*>(data));
  if (found == allocations_.end()) return false;
  const Allocation allocation = found->second;
  allocations_.erase(found);
  freed_[allocation.begin] = allocation.number;
  used_ -= allocation.bytes;
  ++generation_;
  Release(allocation);
  return true;
}

void DeviceMemory::Release(const Allocation& allocation) {
  mmap(allocation.begin, allocation.bytes + kGapBytes, PROT_NONE, kReserved | MAP_FIXED, -1, 0);
  released_.push_back(allocation);
  if (released_.size() <= kMaxReleased) return;
  munmap(released_.front().begin, released_.front().bytes + kGapBytes);
  released_.pop_front();
}

void DeviceMemory::FreeAll() {
  const std::unique_lock lock(mutex_);
  for (const auto& [begin, allocation] : allocations_) {
    Release(allocation);
    freed_[begin] = allocation.number;
  }
  allocations_.clear();
  used_ = 0;
  ++generation_;
}

bool DeviceMemory::WasFreed(const void* data) const {
  const std::shared_lock lock(mutex_);
  return freed_.count(static_cast<const char*>(data)) != 0;
}

bool DeviceMemory::Find(const void* address, Allocation* found) const {
  const char* at = static_cast<const char*>(address);
  const std::shared_lock lock(mutex_);
  const auto next = allocations_.upper_bound(at);
  if (next == allocations_.begin()) return false;
  const Allocation& candidate = std::prev(next)->second;
  if (at > candidate.begin + candidate.bytes) return false;
  *found = candidate;
  return true;
}

int64_t DeviceMemory::used() const {
  const std::shared_lock lock(mutex_);
  return used_;
}

}  // namespace bang
