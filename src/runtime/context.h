// SPDX-License-Identifier: Apache-2.0
//
// The struct behind mluOpHandle_t.
#pragma once

#include <string>

#include "cnrt.h"
#include "core/status.h"
#include "mlu_op.h"
#include "runtime/cpu/threads.h"
#include "runtime/device.h"
#include "runtime/implementation.h"

// What the handles of other libraries that speak mluOp call their chips; here always unknown.
typedef enum {
  MLUOP_UNKNOWN_DEVICE = 0,
  MLUOP_MLU220 = 220,
  MLUOP_MLU270 = 270,
  MLUOP_MLU290 = 290,
  MLUOP_MLU370 = 372,
  MLUOP_MLU590 = 592
} mluOpDevType_t;

namespace detops::runtime {
class CallLog;
}

struct mluOpContext {
  // These two stay first: existing clients read them.
  cnrtQueue_t queue = nullptr;
  mluOpDevType_t arch = MLUOP_UNKNOWN_DEVICE;

  detops::runtime::Device* device = nullptr;
  std::string forced_implementation;  // "" when the table chooses
  const char* last_implementation = "";
  detops::runtime::Work last_work;
  size_t last_workspace = 0;                       // in bytes
  bool last_call_ran = false;                      // a kernel; false where there was nothing to do
  const detops::runtime::CallLog* call = nullptr;  // the one in progress
  detops::runtime::Threads threads;
  mluOpQuantizeRoundMode_t round_mode = MLUOP_ROUND_HALF_TO_EVEN;
  mluOpAtomicsMode_t atomics_mode = MLUOP_ATOMICS_NOT_ALLOWED;

  ~mluOpContext() {
    if (scratch != nullptr) device->Free(scratch);
    if (counters != nullptr) device->GiveBackCounters(counters);
  }

  // Waits for the queue where the call counts on the device.
  detops::runtime::Work LastWork() const {
    if (!last_work.on_device) return last_work;
    int64_t counts[2];
    device->Memcpy(counts, counters, sizeof(counts), cnrtMemcpyDevToHost, queue);
    device->Synchronize(queue);
    return {counts[0], counts[1]};
  }

  // For operators whose C function has no workspace argument: kept for the next call, so that only
  // a larger one than any before allocates.
  void* Scratch(size_t bytes) {
    if (bytes > scratch_bytes) {
      if (scratch != nullptr) device->Free(scratch);
      scratch = nullptr;
      scratch_bytes = 0;
      scratch = device->Allocate(bytes);
      scratch_bytes = bytes;
    }
    return scratch;
  }

  void* scratch = nullptr;
  size_t scratch_bytes = 0;
  int64_t* counters = nullptr;  // of the device
};

namespace detops::runtime {

inline mluOpContext& RequireHandle(mluOpHandle_t handle) {
  if (handle == nullptr) {
    core::BadParam("handle: is null, expected one from mluOpCreate or detopsCreate");
  }
  return *handle;
}

}  // namespace detops::runtime
