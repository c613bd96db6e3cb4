// SPDX-License-Identifier: Apache-2.0
//
// A problem on a device, ready to be called again and again: descriptors, inputs, room for the
// results, workspace.
#pragma once

#include <deque>
#include <vector>

#include "schema/device.h"
#include "schema/schema.h"

namespace detops::schema {

class Invocation {
 public:
  struct Options {
    int64_t sets = 1;  // of inputs and outputs, to be used in turn; each is a copy of the same data
    size_t unaligned =
        0;  // this many elements behind an aligned address; half of that, a third ...
  };

  // The handle must outlive it. Throws std::runtime_error with the library's text.
  Invocation(mluOpHandle_t handle, const Problem& problem) : Invocation(handle, problem, {}) {}
  Invocation(mluOpHandle_t handle, const Problem& problem, const Options& options);

  // Asks for the workspace's size and allocates it. To be called once, before Start.
  mluOpStatus_t Prepare();
  // Puts a call on the handle's queue, with the next set of data; waits for nothing.
  mluOpStatus_t Start() { return StartOn(arguments_.handle); }
  // The same with another handle of the same device.
  mluOpStatus_t StartOn(mluOpHandle_t handle);
  // Bytes that no result has, into the outputs of the first set.
  void Poison();
  // Of the first set, whole: what a call did not write is poison, or what was there before.
  std::vector<Array> Results() const;
  bool GuardsIntact() const;

  // Of the first set, by position in the problem's inputs.
  void* input(size_t i) const { return buffers_[i].at(0); }
  size_t workspace_bytes() const { return arguments_.workspace_size; }
  int64_t sets() const { return sets_; }

 private:
  const Problem& problem_;
  std::vector<Array> shapes_;  // of the outputs
  std::deque<Desc> descs_;
  std::deque<Buffer> buffers_;
  std::deque<Buffer> workspace_;  // one, after Prepare
  Arguments arguments_ = {};
  int64_t sets_, next_ = 0;
};

}  // namespace detops::schema
