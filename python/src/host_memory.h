// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace detops::python {

// Uninitialised host memory for the time of a call. Each thread keeps some of it for the next call:
// fresh pages would cost more than many an operator.
class HostMemory {
 public:
  HostMemory() = default;
  explicit HostMemory(size_t bytes);
  ~HostMemory();
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;

  void* data() const { return block_.data; }

  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
  };

 private:
  Block block_;
};

}  // namespace detops::python
