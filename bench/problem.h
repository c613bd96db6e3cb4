// SPDX-License-Identifier: Apache-2.0
//
// One call of an operator with its data on a device, ready to be repeated. All through the C API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "detops/detops.h"

namespace detops::bench {

// Throws with the library's text.
void Require(mluOpStatus_t status);

// "cpu:reference" runs on "cpu".
std::string DeviceOf(const std::string& implementation);

class Handle {
 public:
  explicit Handle(const std::string& device);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator mluOpHandle_t() const { return handle_; }

 private:
  mluOpHandle_t handle_ = nullptr;
};

class Desc {
 public:
  Desc(mluOpDataType_t dtype, const std::vector<int64_t>& dims,
       mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY);
  ~Desc();
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
  operator mluOpTensorDescriptor_t() const { return desc_; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
};

// Device memory for the same tensor in several sets, one behind the other.
class Buffer {
 public:
  Buffer(mluOpHandle_t handle, size_t bytes, int64_t sets);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  size_t bytes() const { return bytes_; }
  void* at(int64_t set) const { return base_ + static_cast<size_t>(set) * stride_; }
  // Writes all sets, so that no page is met for the first time while the clock runs.
  void Upload(const void* host);
  // Bytes that no result has, into the set.
  void Poison(int64_t set);
  void Download(int64_t set, std::byte* host) const;

 private:
  mluOpHandle_t handle_;
  size_t bytes_, stride_;
  int64_t sets_;
  std::byte* base_ = nullptr;
};

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
