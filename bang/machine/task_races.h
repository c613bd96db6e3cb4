// SPDX-License-Identifier: Apache-2.0
//
// Races between the tasks of one launch on GDRAM. BLOCK tasks, and union tasks among each other,
// have no order: where one stores, no other may load or store, unless all stores bring the same
// bytes. Each task notes what it touches, and which bytes of GDRAM ever changed after their first
// store is noted for all; the launch compares the notes at its end. So what is found depends
// neither on threads nor on timing.
#ifndef BANG_MACHINE_TASK_RACES_H_
#define BANG_MACHINE_TASK_RACES_H_

#include <stdint.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/races.h"

namespace bang {

// A range of GDRAM that a task loaded from or stored to.
struct GdramAccess {
  const char* begin;
  const char* end;
  int task;
  uint32_t site;  // the number that GdramAccesses::site takes
};

// How many accesses the tasks of a launch may note before they give up, so that the host's memory
// lasts.
struct NotesLeft {
  std::atomic<int64_t> count{16'000'000};
  bool spent() const { return count.load(std::memory_order_relaxed) < 0; }
};

// Those of one BLOCK task, or of one union task, whose cores take turns.
class GdramAccesses {
 public:
  void Limit(NotesLeft* left) { left_ = left; }
  void Load(int task, const char* data, int64_t bytes, const Races::Site& site);
  void Store(int task, const char* data, int64_t bytes, const Races::Site& site);
  // Sorted by address and without overlaps.
  const std::vector<GdramAccess>& SortedLoads() { return Sort(&loads_), loads_.list; }
  const std::vector<GdramAccess>& SortedStores() { return Sort(&stores_), stores_.list; }
  const Races::Site& site(const GdramAccess& access) const { return sites_[access.site]; }

 private:
  struct Notes {
    std::vector<GdramAccess> list;
    size_t sort_at = 256;
  };
  void Add(Notes* notes, const GdramAccess& access);
  static void Sort(Notes* notes);

  uint32_t Number(const Races::Site& site);

  Notes loads_, stores_;
  std::vector<Races::Site> sites_;
  NotesLeft* left_ = nullptr;
};

// Which bytes were stored to in this launch, and which of them changed after their first store.
// Used from all threads.
class StoredBytes {
  static constexpr int64_t kPageBytes = 65536;
  struct Page {  // a bit per byte
    uint64_t stored[kPageBytes / 64] = {};
    uint64_t changed[kPageBytes / 64] = {};

    bool AnyStored(int64_t begin, int64_t end) const;
    void NoteStored(int64_t begin, int64_t end);
    void NoteChanged(int64_t begin, int64_t end);
    // `now` and `next` are the bytes that lie at `begin` of the page.
    void NoteChanges(int64_t begin, int64_t end, const char* now, const char* next);
  };

 public:
  // Moves the bytes, and notes it.
  void Store(char* dst, const char* src, int64_t bytes);

  // A scalar store is announced before it happens. Until Finish no other store reaches the page.
  class Scalar {
   public:
    bool pending() const { return lock_.owns_lock(); }

   private:
    friend class StoredBytes;
    std::unique_lock<std::mutex> lock_;
    Page* page_ = nullptr;
    const char* data_ = nullptr;
    int64_t bytes_ = 0;
    char before_[16];
  };
  void Announce(const char* data, int64_t bytes, Scalar* scalar);
  void Finish(Scalar* scalar);

  // Whether a byte of the range changed after its first store.
  bool AnyChanged(const char* begin, const char* end);

 private:
  static constexpr int kStripes = 64;
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages;
  };
  Stripe& StripeOf(uintptr_t page) { return stripes_[page % kStripes]; }
  static Page* PageOf(Stripe* stripe, uintptr_t page);

  Stripe stripes_[kStripes];
};

// What the comparison found: a race, if `later` is not null, and stores of the same bytes.
struct TaskRace {
  const GdramAccess* later = nullptr;  // of the task with the higher number
  const GdramAccess* earlier = nullptr;
  Races::Site later_site, earlier_site;
  bool later_stores, earlier_stores;
  const char* address;
};
struct EqualStores {
  const GdramAccess* later;
  Races::Site later_site;
};
// `tasks[i]` are the accesses of task, or union task, i.
TaskRace FindTaskRace(const std::vector<GdramAccesses*>& tasks, StoredBytes* stored,
                      std::vector<EqualStores>* equal);

}  // namespace bang

#endif  // BANG_MACHINE_TASK_RACES_H_
