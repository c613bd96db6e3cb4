// SPDX-License-Identifier: Apache-2.0
//
// The cores and MPUs that run union tasks together. They take turns: one runs until it waits or
// ends, then the lowest that can goes on. So a kernel does the same on every run, and a barrier that
// not all reach is seen at once.
#ifndef BANG_MACHINE_UNION_TASK_H_
#define BANG_MACHINE_UNION_TASK_H_

#include <stdint.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bang/machine.h"
#include "machine/races.h"
#include "machine/sram.h"

namespace bang {

class RunningCore;

constexpr int kMembersPerCluster = 5;  // four cores and the MPU behind them

class UnionTask {
 public:
  // `next_unit` numbers the union tasks of the launch that nobody has begun.
  UnionTask(int clusters, std::atomic<int64_t>* next_unit, int64_t units);

  int members() const { return static_cast<int>(seats_.size()); }
  static int Cluster(int member) { return member / kMembersPerCluster; }
  static bool IsMpu(int member) { return member % kMembersPerCluster == kMembersPerCluster - 1; }

  // Takes the first union task. Before any member's thread enters.
  void Start();
  // A member's thread: waits for its turn at the beginning of a union task, and returns that one's
  // number; -1: there are no more.
  int64_t Enter(int member, RunningCore* core);
  // The member has ended. `failed`: the others have to, too.
  void Leave(int member, bool failed);
  bool abandoned() const { return abandoned_; }

  // These end the calling member by Failure for a deadlock, and by Abandoned where another failed.
  void Barrier(int member, BarrierKind kind, const char* name, Where where);
  void Lock(int member, int id, Where where);
  void Unlock(int member, int id, Where where);

  Races& races() { return races_; }
  int clusters() const { return static_cast<int>(sram_.size()); }
  Sram& sram(int cluster) { return sram_[cluster]; }

 private:
  enum class State : uint8_t { kReady, kAtBarrier, kAtLock, kEnded };
  struct Seat {
    State state = State::kReady;
    BarrierKind kind = BarrierKind::kIpus;
    int lock = 0;
    const char* name = "";
    Where where{};
    RunningCore* core = nullptr;
    std::atomic<int> turn{0};
  };
  struct Mutex {
    int owner = -1;
    std::vector<int> clock;
  };

  void TakeUnit();
  bool Belongs(int member, BarrierKind kind, int cluster) const;
  bool TryMeet(BarrierKind kind, int cluster);
  int FindReady() const;
  void GiveTurn(int member);
  void WaitForTurn(int member);
  void Pause(int member);  // gives the turn away, and waits for it
  std::string Deadlock() const;

  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Sram> sram_;
  std::map<int, Mutex> mutexes_;
  Races races_;
  std::atomic<int64_t>* next_unit_;
  const int64_t units_;
  int64_t unit_ = -1;
  bool abandoned_ = false;
};

}  // namespace bang

#endif  // BANG_MACHINE_UNION_TASK_H_
