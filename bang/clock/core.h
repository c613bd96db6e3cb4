// SPDX-License-Identifier: Apache-2.0
//
// One core, or one MPU, while it runs programs: the scalar pipe takes the operations in order and
// hands them to the queues of the other pipes, each of which takes them in order.
//
// A core goes ahead by itself, in its own time, as far as it can: what it can't tell alone (when a
// copy ends that shares bandwidth, when a barrier opens) it asks of its Card side, and stops where
// it needs the answer.
#ifndef BANG_CLOCK_CORE_H_
#define BANG_CLOCK_CORE_H_

#include <stdint.h>

#include <array>
#include <deque>
#include <vector>

#include "clock/card.h"
#include "clock/clock.h"
#include "clock/copy_cost.h"
#include "clock/operations.h"

namespace bang {

// What the cores of a card share.
class SharedParts {
 public:
  virtual ~SharedParts() = default;
  // A copy of `unit` reaches its channel at `time`; ends with Core::CopyEnded.
  virtual void BeginCopy(int unit, Pipe pipe, int64_t time, const CopyCost& cost) = 0;
  virtual int64_t CyclesAlone(const CopyCost& cost) const = 0;
  // A core's pipes are empty and it waits; ends with Core::BarrierOpened.
  virtual void Arrive(int unit, BarrierKind kind, int64_t time) = 0;
  virtual void ProgramEnded(int unit, int64_t time) = 0;
};

class Core {
 public:
  // `timeline` has room for this unit and all sites. `cost_cycles[i]` is what Operation::cost i
  // costs per pass, 0: the card's file has no such row.
  Core(int unit, const Card& card, const std::vector<int64_t>& cost_cycles, SharedParts& shared,
       Detail detail, Timeline& timeline);

  void Begin(const Program& program, int64_t time);
  void CopyEnded(Pipe pipe, int64_t time);
  void BarrierOpened(int64_t time);

 private:
  static constexpr int kQueues = kPipeCount - 1;  // every pipe but the scalar one

  // How many operations must have ended on each queue.
  using Marks = std::array<size_t, kQueues>;

  struct Entry {
    const Operation* operation;
    int64_t issued;
    Marks after;
    bool has_marks;
  };
  struct Queue {
    std::deque<Entry> entries;    // the first may be a copy that runs
    std::vector<int64_t> begins;  // of all that have begun
    std::vector<int64_t> ends;    // results there, of all that have ended
    Marks after = {};             // of the next entry: kPipeWait
    bool has_marks = false;
    bool running = false;
    CopyCost cost = {};  // of the copy that runs
    int64_t free = 0;    // when the pipe can begin the next
    size_t pushed() const { return ends.size() + entries.size(); }
  };

  static int QueueOf(Pipe pipe) { return static_cast<int>(pipe) - 1; }
  Marks MarksOf(uint8_t pipes) const;
  bool Reached(const Marks& marks) const;

  void Run();
  // One operation; false: it must go on later, at the same operation.
  bool Step(const Operation& operation);
  bool StepQueued(const Operation& operation);
  bool StepBarrier(const Operation& operation);
  bool WaitFor(const Marks& marks, uint32_t site);
  void Busy(int64_t cycles, uint32_t site);
  void StoodStill(Wait wait, int64_t until, uint32_t site);

  void AddSpan(Pipe pipe, int64_t begin, int64_t end, uint32_t site, Wait wait);
  void StartAll();
  bool StartFirst(int queue);
  void EndFirst(int queue, int64_t end, int64_t latency, int64_t alone);
  void CountCopy(const Operation& copy, int64_t moved);
  int64_t VectorCycles(const Operation& operation) const;

  const int unit_;
  const Card& card_;
  const std::vector<int64_t>& cost_cycles_;
  SharedParts& shared_;
  Counters& counters_;
  std::vector<SiteCounters>& sites_;
  std::vector<Span>* const spans_;  // null: nobody wants them

  const Program* program_ = nullptr;
  size_t next_ = 0;  // operation of the program
  enum class Phase { kNew, kIssued, kQueued, kArrived, kOpened };
  Phase phase_ = Phase::kNew;  // of that operation
  int64_t began_ = 0;          // the program
  int64_t time_ = 0;           // of the scalar pipe
  std::array<Queue, kQueues> queues_;
  ptrdiff_t scalar_span_ = -1;  // the last span of the scalar pipe, if it may be made longer
};

}  // namespace bang

#endif  // BANG_CLOCK_CORE_H_
