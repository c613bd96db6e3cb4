// SPDX-License-Identifier: Apache-2.0
//
// A call of an operator in which every tensor and the workspace lie between pages that nothing may
// touch, and inputs can't be written: an access out of bounds ends the process, also where it
// only reads.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "fuzz/outcome.h"
#include "schema/device.h"
#include "schema/schema.h"

namespace detops::fuzz {

class GuardedMemory {
 public:
  enum class Edge { kBegin, kEnd };  // where the data touch the page that nothing may touch

  GuardedMemory(size_t bytes, Edge edge);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  void MakeReadOnly();

 private:
  size_t usable_;
  std::byte *pages_, *data_;
};

class GuardedCall {
 public:
  // The outputs' values are what lies there before a call. Both must outlive it.
  GuardedCall(const schema::Problem& problem, const std::vector<schema::Array>& outputs,
              GuardedMemory::Edge edge);

  Outcome Run(mluOpHandle_t handle);

 private:
  const schema::Problem& problem_;
  const std::vector<schema::Array>& outputs_;
  GuardedMemory::Edge edge_;
  std::deque<schema::Desc> descs_;
  std::deque<GuardedMemory> memory_;
  schema::Arguments arguments_ = {};
};

// Implementations of the operator that run on this processor, the reference first.
std::vector<std::string> CpuImplementations(std::string_view op);

// Kept for the life of the process, as making one starts threads.
mluOpHandle_t KeptHandle(const std::string& implementation, int threads);

}  // namespace detops::fuzz
