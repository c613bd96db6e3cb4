// SPDX-License-Identifier: Apache-2.0
//
// An implementation of an operator. runtime/dispatch.h takes a checked plan to one.
//
// An operator is a struct with
//   kName             "poly_nms"
//   Plan              what the checks established; has bool Empty() const
//   Args              the data pointers
//   Table()           its implementations on the processor, best first, the reference last; those
//                     on other devices are in plug-ins (runtime/backend.h)
//   RequireArgs(plan, args)          null pointers that this plan needs
//   WriteEmpty(plan, args, handle)   the result of an empty plan
#pragma once

#include <cstdint>

#include "core/workspace.h"
#include "runtime/device.h"

namespace detops::runtime {

class Threads;

// What a call did, where its implementation counts it.
struct Work {
  int64_t pairs = -1;       // evaluated: boxes clipped or compared, points tested
  int64_t candidates = -1;  // cells and boxes examined to find them
  bool on_device = false;   // both are in Launch::counters instead, once the queue is done

  Work& operator+=(const Work& more) {
    pairs += more.pairs;
    candidates += more.candidates;
    return *this;
  }
};

// What a run has beside its data.
struct Launch {
  Device& device;
  cnrtQueue_t queue;  // null is the device's default one
  Threads& threads;   // of the handle, for CPU kernels
  Work& work;         // set by implementations that count it
  int64_t* counters;  // [2] pairs, candidates: on devices that count after a call has returned
};

template <class Op>
struct Implementation {
  const char* name;  // "cpu:reference"
  // Why this machine can't run it, in a few words ("needs AVX-512"), or null.
  const char* (*unusable)();
  // Why it can't run this plan, or null. Never about invalid arguments: those the plan refused.
  const char* (*unsupported)(const typename Op::Plan&);
  // In bytes. A library that it calls may want more on one device than on another.
  int64_t (*workspace)(const typename Op::Plan&, const Device&);
  // No allocation, no printing, no waiting.
  void (*run)(const typename Op::Plan&, const typename Op::Args&, void* workspace,
              const Launch& launch);
};

// For implementations that run everywhere, take every plan, and need no memory.
inline const char* UsableEverywhere() { return nullptr; }
template <class Plan>
const char* SupportsAll(const Plan&) {
  return nullptr;
}
template <class Plan>
int64_t NoWorkspace(const Plan&, const Device&) {
  return 0;
}

}  // namespace detops::runtime
