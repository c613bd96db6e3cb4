// SPDX-License-Identifier: Apache-2.0
//
// A row of the table of implementations. core/dispatch.h takes a checked plan to one.
//
// An operator is a struct with
//   kName             "poly_nms"
//   Plan              what the checks established; has bool Empty() const
//   Args              the data pointers
//   Table()           its implementations, best first, the reference last
//   RequireArgs(plan, args)          null pointers that this plan needs
//   WriteEmpty(plan, args, handle)   the result of an empty plan
#pragma once

#include <cstdint>
#include <vector>

#include "core/workspace.h"
#include "runtime/device.h"

namespace detops::cpu {
class Threads;
}

namespace detops::core {

// What a call did, where its implementation counts it.
struct Work {
  int64_t pairs = -1;  // evaluated: boxes clipped or compared, points tested
  int64_t looks = -1;  // cells and boxes looked at to find them

  Work& operator+=(const Work& more) {
    pairs += more.pairs;
    looks += more.looks;
    return *this;
  }
};

// What a run has beside its data.
struct Launch {
  runtime::Device& device;
  cnrtQueue_t queue;      // null is the device's default one
  cpu::Threads& threads;  // of the handle, for CPU kernels
  Work& work;             // set by implementations that count it
};

template <class Op>
struct Implementation {
  const char* name;          // "cpu:reference"
  runtime::Backend backend;  // of the devices it runs on
  // Why this machine can't run it, in a few words ("needs AVX-512"), or null.
  const char* (*unusable)();
  // Why it can't run this plan, or null. Never about invalid arguments: those the plan refused.
  const char* (*unsupported)(const typename Op::Plan&);
  // In bytes. A library that it calls may want more on one device than on another.
  int64_t (*workspace)(const typename Op::Plan&, const runtime::Device&);
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
int64_t NoWorkspace(const Plan&, const runtime::Device&) {
  return 0;
}

// For tables that several backends fill.
template <class Op>
std::vector<Implementation<Op>> BestFirst(const Implementation<Op>& best,
                                          std::vector<Implementation<Op>> others) {
  others.insert(others.begin(), best);
  return others;
}

}  // namespace detops::core
