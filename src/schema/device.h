// SPDX-License-Identifier: Apache-2.0
//
// What a program holds to make calls, released when it goes: a handle, a descriptor, device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "detops/detops.h"

namespace detops::schema {

// Throws std::runtime_error with the library's text.
void Require(mluOpStatus_t status);

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
  Desc();  // without dims
  Desc(mluOpDataType_t dtype, const std::vector<int64_t>& dims,
       mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY);
  ~Desc();
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
  operator mluOpTensorDescriptor_t() const { return desc_; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
};

// Device memory for the same tensor in several sets, one behind the other, each between guard
// bytes.
class Buffer {
 public:
  // `shift` bytes behind an aligned address.
  Buffer(mluOpHandle_t handle, size_t bytes, int64_t sets, size_t shift = 0);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  size_t bytes() const { return bytes_; }
  void* at(int64_t set) const { return base_ + static_cast<size_t>(set) * stride_ + first_; }
  // Writes all sets, so that no page is met for the first time while the clock runs.
  void Upload(const void* host);
  // Bytes that no result has, into the set.
  void Poison(int64_t set);
  void Download(int64_t set, std::byte* host) const;
  // Whether nothing wrote beside the data.
  bool GuardsIntact() const;

 private:
  mluOpHandle_t handle_;
  size_t bytes_, first_, stride_;
  int64_t sets_;
  std::byte* base_ = nullptr;
};

}  // namespace detops::schema
