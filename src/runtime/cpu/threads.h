// SPDX-License-Identifier: Apache-2.0
//
// The threads of one handle: a oneTBB arena with a bound. Nothing starts before the first loop that
// is worth it, so small calls never meet the scheduler.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace detops::runtime {

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

  // What take(begin, end, out), which returns where it ends, writes for parts of [0, size), one
  // part after the other; returns how many. It writes no more than one for each; `items` has room
  // for all.
  template <class Item, class Take>
  int64_t Collect(int64_t size, int64_t grain, Item* items, const Take& take) {
    constexpr int64_t kMostParts = 256;
    const int64_t parts = count_ == 1 ? 1 : std::clamp<int64_t>(size / grain, 1, kMostParts);
    const auto begin_of = [&](int64_t part) { return size * part / parts; };
    std::array<Item*, kMostParts> ends;
    For(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        ends[part] = take(begin_of(part), begin_of(part + 1), items + begin_of(part));
      }
    });
    Item* out = ends[0];
    for (int64_t part = 1; part < parts; ++part) {
      Item* const first = items + begin_of(part);
      out = out == first ? ends[part] : std::move(first, ends[part], out);
    }
    return out - items;
  }

 private:
  void Start();

  int count_;
  std::unique_ptr<tbb::global_control> more_workers_;  // where more are wanted than processors
  std::unique_ptr<tbb::task_arena> arena_;
};

}  // namespace detops::runtime
