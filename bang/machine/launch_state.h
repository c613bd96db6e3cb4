// SPDX-License-Identifier: Apache-2.0
//
// What all cores of one launch share.
#ifndef BANG_MACHINE_LAUNCH_STATE_H_
#define BANG_MACHINE_LAUNCH_STATE_H_

#include <stdint.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bang/launch.h"
#include "clock/card.h"
#include "clock/operations.h"
#include "machine/device.h"
#include "machine/recorder.h"
#include "machine/task_races.h"

namespace bang {

// Something odd that is allowed: "file:line: warning: …".
struct Remark {
  std::string text;
  int64_t times;
};

// What one BLOCK task, or one union task, leaves behind.
struct UnitResult {
  std::vector<Program> programs;
  std::vector<const Glossary*> glossaries;  // of each program
  std::string output;                       // what its cores printed, core by core
  std::vector<Remark> remarks;
  std::string failure;  // empty: it ended well
  GdramAccesses accesses;
};

struct LaunchState {
  KernelRecord kernel;
  Module module;
  const void* body;
  void (*run_copy)(const void* body);
  Where where;  // of the launch

  Device* device;
  const Card* card;
  cnrtDim3_t dim;
  int64_t tasks;
  int union_clusters;  // 0: BLOCK
  int tasks_per_unit;  // 1: BLOCK, 4 n: UNIONn
  int64_t units;

  const void* code_begin;  // of the program or library with the kernel
  const void* code_end;

  bool check;
  std::chrono::steady_clock::time_point deadline;
  double time_limit;  // seconds; 0: none

  // What tasks stored to GDRAM; null: nobody asks, for there is one task, or they run in order.
  std::unique_ptr<StoredBytes> stored;
  NotesLeft notes_left;

  // Units behind the first that failed need not run; those before it might fail, too.
  std::atomic<int64_t> first_failed{std::numeric_limits<int64_t>::max()};
  std::atomic<bool> recording{true};
  std::atomic<int64_t> operations_recorded{0};
  std::vector<UnitResult> results;
};

}  // namespace bang

#endif  // BANG_MACHINE_LAUNCH_STATE_H_
