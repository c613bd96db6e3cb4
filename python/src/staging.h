// SPDX-License-Identifier: Apache-2.0
//
// Host arrays on a device that does not see the host's memory: copied there before a call, and
// results back after it. Elsewhere each function gives its argument back.
#pragma once

#include <cstddef>
#include <vector>

#include "array.h"
#include "detops/detops.h"

namespace detops::python {

class Staging {
 public:
  // The library refused a step; its last error says why.
  struct Failure {
    mluOpStatus_t status;
  };

  Staging(mluOpHandle_t handle, bool copies) : handle_(handle), copies_(copies) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // For an operator to read.
  const void* Read(const Array& array);
  // For it to write, by CopyBack.
  void* Write(void* host, size_t bytes);
  template <class T>
  T* Write(T* host, int64_t count) {
    return static_cast<T*>(Write(static_cast<void*>(host), static_cast<size_t>(count) * sizeof(T)));
  }
  // For its own use.
  void* Scratch(void* host, size_t bytes);
  // Waits for the operator. Once, after it succeeded.
  void CopyBack();

 private:
  void* Allocate(size_t bytes);

  struct Result {
    void *host, *device;
    size_t bytes;
  };
  mluOpHandle_t handle_;
  bool copies_;
  std::vector<void*> memory_;
  std::vector<Result> results_;
};

}  // namespace detops::python
