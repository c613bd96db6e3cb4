// SPDX-License-Identifier: Apache-2.0
//
// The threads of one handle: a oneTBB arena with a bound. Nothing starts before the first loop that
// is worth it, so small calls never meet the scheduler.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <memory>

namespace detops::cpu {

// What DETOPS_THREADS says, else as many as the machine runs at once.
int DefaultThreads();

class Threads {
 public:
  explicit Threads(int count) : count_(count) {}

  int count() const { return count_; }

  // body(begin, end) on parts of [0, size) of at least `grain`, in any order and at the same time.
  // One part, on this thread, when there is work for no more than one.
  template <class Body>
  void For(int64_t size, int64_t grain, const Body& body) {
    if (size <= 0) return;
    if (count_ == 1 || size <= grain) {
      body(int64_t{0}, size);
      return;
    }
    if (arena_ == nullptr) Start();
    arena_->execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<int64_t>(0, size, static_cast<size_t>(grain)),
          [&](const tbb::blocked_range<int64_t>& part) { body(part.begin(), part.end()); },
          tbb::simple_partitioner());
    });
  }

 private:
  void Start();

  int count_;
  std::unique_ptr<tbb::global_control> more_workers_;  // where more are wanted than processors
  std::unique_ptr<tbb::task_arena> arena_;
};

}  // namespace detops::cpu
