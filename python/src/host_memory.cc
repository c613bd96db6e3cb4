// SPDX-License-Identifier: Apache-2.0
#include "host_memory.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "core/per_thread.h"

namespace detops::python {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMostKept = size_t{64} << 20;  // bytes a thread

class Pool {
 public:
  ~Pool() {
    for (const HostMemory::Block& block : blocks_) std::free(block.data);
  }

  // The smallest block that is large enough.
  HostMemory::Block Take(size_t bytes) {
    auto best = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
      if (it->bytes >= bytes && (best == blocks_.end() || it->bytes < best->bytes)) best = it;
    }
    if (best == blocks_.end()) return {};
    const HostMemory::Block block = *best;
    kept_ -= block.bytes;
    blocks_.erase(best);
    return block;
  }

  void Give(HostMemory::Block block) noexcept {
    if (blocks_.size() == kMostBlocks || kept_ + block.bytes > kMostKept) {
      std::free(block.data);
      return;
    }
    blocks_.push_back(block);
    kept_ += block.bytes;
  }

  Pool() { blocks_.reserve(kMostBlocks); }

 private:
  static constexpr size_t kMostBlocks = 8;
  std::vector<HostMemory::Block> blocks_;
  size_t kept_ = 0;
};

Pool& ThreadPool() {
  static core::PerThread<Pool> pools;
  return pools.Mine();
}

}  // namespace

HostMemory::HostMemory(size_t bytes) : block_(ThreadPool().Take(bytes)) {
  if (block_.data != nullptr) return;
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
  void* data = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) throw std::bad_alloc();
  block_ = {data, rounded};
}

HostMemory::~HostMemory() {
  if (block_.data != nullptr) ThreadPool().Give(block_);
}

HostMemory::HostMemory(HostMemory&& other) noexcept : block_(std::exchange(other.block_, {})) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(block_, other.block_);
  return *this;
}

}  // namespace detops::python
