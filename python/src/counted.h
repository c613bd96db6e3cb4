// SPDX-License-Identifier: Apache-2.0
//
// For operators whose results have a size that the data gives. On the host they write into memory
// of ours, and the caller gets arrays of the exact size. On a device the caller's library makes
// arrays of the largest size, and the call waits for the count: the results' shape is made of it.
#pragma once

#include <cstdint>
#include <utility>

#include "call.h"

namespace detops::python {

// The memory that an operator wants besides its arguments, where the arguments lie.
class Workspace {
 public:
  Workspace(const Call& call, size_t bytes) {
    if (call.on_device()) {
      device_ = call.Empty({static_cast<int64_t>(bytes)}, Element::kByte);
    } else {
      host_ = HostMemory(bytes);
    }
  }
  void* data() const { return host_.data() != nullptr ? host_.data() : device_.data; }

 private:
  HostMemory host_;
  Output device_ = {};
};

inline int32_t ReadCount(const Call& call, const void* device_count) {
  int32_t count = 0;
  call.RunInPlace([&](mluOpHandle_t handle) {
    return detopsCopyToHost(handle, &count, device_count, sizeof count);
  });
  return count;
}

// The first rows of a device array, as the caller gets them.
inline nb::object Front(const Call& call, Output output, int64_t rows) {
  const nb::object front =
      nb::make_tuple(nb::slice(nb::int_(0), nb::int_(rows), nb::none()), nb::ellipsis());
  output.object = output.object[front];
  return call.Finish(std::move(output));
}

}  // namespace detops::python
