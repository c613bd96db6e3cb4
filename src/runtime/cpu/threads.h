// SPDX-License-Identifier: Apache-2.0
//
// The threads of one handle: a bound on how many work for it at once. None is started before the
// first loop that is worth it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/cpu/workers.h"

namespace detops::runtime {

// What DETOPS_THREADS says, else as many as the machine runs at once. Refuses a DETOPS_THREADS that
// is no number of threads.
int DefaultThreads();

class Threads {
 public:
  Threads() : Threads(DefaultThreads()) {}
  explicit Threads(int count) : handle_{.threads = count} {}

  int count() const { return handle_.threads; }

  // body(begin, end), which throws nothing, on parts of [0, size) of at most `grain`, in any order
  // and at the same time. One part, on this thread, when there is work for no more than one.
  template <class Body>
  void For(int64_t size, int64_t grain, const Body& body) {
    if (size <= 0) return;
    if (count() == 1 || size <= grain) {
      body(int64_t{0}, size);
      return;
    }
    const auto run = [](const void* of, int64_t begin, int64_t end) {
      (*static_cast<const Body*>(of))(begin, end);
    };
    RunLoop(handle_, size, (size - 1) / grain + 1, run, &body);
  }

  // What take(begin, end, out), which returns where it ends, writes for parts of [0, size), one
  // part after the other; returns how many. It writes no more than one for each; `items` has room
  // for all.
  template <class Item, class Take>
  int64_t Collect(int64_t size, int64_t grain, Item* items, const Take& take) {
    constexpr int64_t kMostParts = 256;
    const int64_t parts = count() == 1 ? 1 : std::clamp<int64_t>(size / grain, 1, kMostParts);
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
  HandleThreads handle_;
};

}  // namespace detops::runtime
