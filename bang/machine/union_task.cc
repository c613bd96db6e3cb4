// SPDX-License-Identifier: Apache-2.0
#include "machine/union_task.h"

#include "machine/running_core.h"
#include "machine/failure.h"

namespace bang {

UnionTask::UnionTask(int clusters, std::atomic<int64_t>* next_unit, int64_t units)
    : sram_(clusters),
      races_(clusters * kMembersPerCluster),
      next_unit_(next_unit),
      units_(units) {
  for (int i = 0; i < clusters * kMembersPerCluster; ++i) {
    seats_.push_back(std::make_unique<Seat>());
  }
}

void UnionTask::TakeUnit() {
  unit_ = next_unit_->fetch_add(1);
  if (unit_ >= units_) unit_ = -1;
  for (auto& seat : seats_) seat->state = State::kReady;
  for (Sram& sram : sram_) sram.Clear();
  mutexes_.clear();
  races_ = Races(members());
  abandoned_ = false;
}

void UnionTask::Start() {
  TakeUnit();
  GiveTurn(0);
}

int64_t UnionTask::Enter(int member, RunningCore* core) {
  WaitForTurn(member);
  seats_[member]->core = core;
  // Nobody is left to give it on to the others.
  if (unit_ < 0 && member + 1 < members()) GiveTurn(member + 1);
  return unit_;
}

void UnionTask::Leave(int member, bool failed) {
  seats_[member]->state = State::kEnded;
  if (failed) abandoned_ = true;
  if (abandoned_) {
    for (auto& seat : seats_) {
      if (seat->state != State::kEnded) seat->state = State::kReady;
    }
  }
  int next = FindReady();
  if (next < 0) {
    bool all_ended = true;
    for (const auto& seat : seats_) all_ended &= seat->state == State::kEnded;
    if (all_ended) {
      TakeUnit();
      next = 0;
    } else {
      // The others wait for ever. The first that waits has to say so.
      next = 0;
      while (seats_[next]->state == State::kEnded) ++next;
    }
  }
  GiveTurn(next);
}

bool UnionTask::Belongs(int member, BarrierKind kind, int cluster) const {
  switch (kind) {
    case BarrierKind::kIpus:
      return !IsMpu(member);
    case BarrierKind::kMpus:
      return IsMpu(member);
    case BarrierKind::kCluster:
      return Cluster(member) == cluster;
    case BarrierKind::kAll:
      return true;
  }
  return false;
}

bool UnionTask::TryMeet(BarrierKind kind, int cluster) {
  std::vector<int> met;
  bool all = true;  // of those that have not ended
  for (int i = 0; i < members(); ++i) {
    const Seat& seat = *seats_[i];
    if (!Belongs(i, kind, cluster)) {
      all &= seat.state == State::kEnded;
      continue;
    }
    if (seat.state != State::kAtBarrier || seat.kind != kind) return false;
    met.push_back(i);
  }
  for (int i : met) seats_[i]->state = State::kReady;
  races_.Meet(met, all);
  return true;
}

void UnionTask::Barrier(int member, BarrierKind kind, const char* name, Where where) {
  if (!Belongs(member, kind, Cluster(member))) return;
  Seat& seat = *seats_[member];
  seat.state = State::kAtBarrier;
  seat.kind = kind;
  seat.name = name;
  seat.where = where;
  TryMeet(kind, Cluster(member));
  Pause(member);
}

void UnionTask::Lock(int member, int id, Where where) {
  Mutex& mutex = mutexes_[id];
  Seat& seat = *seats_[member];
  if (mutex.owner == member) {
    seat.core->Fail(where, Format("__bang_lock: this core holds lock %d already", id));
  }
  while (mutex.owner >= 0) {
    seat.state = State::kAtLock;
    seat.lock = id;
    seat.name = "__bang_lock";
    seat.where = where;
    Pause(member);
  }
  mutex.owner = member;
  races_.Acquire(member, mutex.clock);
}

void UnionTask::Unlock(int member, int id, Where where) {
  Mutex& mutex = mutexes_[id];
  if (mutex.owner != member) {
    seats_[member]->core->Fail(where, Format("__bang_unlock: this core does not hold lock %d", id));
  }
  mutex.owner = -1;
  races_.Release(member, &mutex.clock);
  for (auto& seat : seats_) {
    if (seat->state == State::kAtLock && seat->lock == id) seat->state = State::kReady;
  }
}

int UnionTask::FindReady() const {
  for (int i = 0; i < members(); ++i) {
    if (seats_[i]->state == State::kReady) return i;
  }
  return -1;
}

void UnionTask::GiveTurn(int member) {
  seats_[member]->turn.store(1, std::memory_order_release);
  seats_[member]->turn.notify_one();
}

void UnionTask::WaitForTurn(int member) {
  std::atomic<int>& turn = seats_[member]->turn;
  turn.wait(0, std::memory_order_acquire);
  turn.store(0, std::memory_order_relaxed);
}

void UnionTask::Pause(int member) {
  const int next = FindReady();
  if (next >= 0 && next != member) {
    GiveTurn(next);
    WaitForTurn(member);
  }
  if (abandoned_) throw Abandoned();
  // The turn came, or stayed, without a reason to go on: nobody can.
  Seat& seat = *seats_[member];
  if (seat.state != State::kReady) seat.core->Fail(seat.where, Deadlock());
}

std::string UnionTask::Deadlock() const {
  std::string text = "deadlock: no core of the union task can go on";
  for (const auto& seat : seats_) {
    if (seat->core == nullptr) continue;
    text += "\n  " + seat->core->Name();
    switch (seat->state) {
      case State::kAtBarrier:
        text += Format(" waits in %s at %s", seat->name, At(seat->where).c_str());
        break;
      case State::kAtLock:
        text += Format(" waits for lock %d at %s", seat->lock, At(seat->where).c_str());
        break;
      default:
        text += " has ended";
    }
  }
  return text;
}

}  // namespace bang
