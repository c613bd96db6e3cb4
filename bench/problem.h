// SPDX-License-Identifier: Apache-2.0
//
// One call of an operator with its data on a device, ready to be repeated. All through the C API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "schema/device.h"

namespace detops::bench {

// "cpu:reference" runs on "cpu".
std::string DeviceOf(const std::string& implementation);

using schema::Buffer;
using schema::Desc;
using schema::Handle;
using schema::Require;

struct Place {
  std::string device;
  int64_t sets = 1;  // of inputs and outputs, to be used in turn
};

class Problem {
 public:
  explicit Problem(const Place& place) : handle_(place.device), sets_(place.sets) {}
  virtual ~Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  virtual mluOpStatus_t Run(mluOpHandle_t handle, int64_t set) = 0;

  int64_t sets() const { return sets_; }
  // All outputs of set 0. What a call leaves unwritten keeps the bytes of Poison, so that equal
  // results are equal as a whole.
  void Poison();
  std::vector<std::byte> Result() const;

 protected:
  template <class T>
  const Buffer& Input(const std::vector<T>& values) {
    Buffer& buffer = inputs_.emplace_back(handle_, values.size() * sizeof(T), sets_);
    buffer.Upload(values.data());
    return buffer;
  }
  const Buffer& Output(int64_t bytes);
  // One for all sets.
  const Buffer& Workspace(size_t bytes) { return inputs_.emplace_back(handle_, bytes, 1); }
  mluOpHandle_t memory_handle() const { return handle_; }

 private:
  Handle handle_;  // outlives the buffers
  int64_t sets_;
  std::deque<Buffer> inputs_, outputs_;
};

}  // namespace detops::bench
