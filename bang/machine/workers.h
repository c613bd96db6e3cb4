// SPDX-License-Identifier: Apache-2.0
//
// The threads that run cores. They stay for the next launch, for their arrays are their own.
#ifndef BANG_MACHINE_WORKERS_H_
#define BANG_MACHINE_WORKERS_H_

#include <chrono>
#include <functional>

namespace bang {

class RunningCore;

// Below a thread's stack: as much as a function's variables can jump over.
constexpr size_t kStackGuardBytes = size_t{1} << 20;

// Runs job(0, core), ..., job(count - 1, core) on as many threads and waits for all; each has a core of its
// own, the same in every call. False: the threads can't be had, and nothing ran. Not from two
// threads at a time. From `interrupt` on all get kTimeSignal again and again.
bool RunWorkers(int count, std::chrono::steady_clock::time_point interrupt,
                const std::function<void(int, RunningCore*)>& job);

}  // namespace bang

#endif  // BANG_MACHINE_WORKERS_H_
