// SPDX-License-Identifier: Apache-2.0
//
// The scalar pipe: operations in their order, and what a core waits for.
#include "clock/core.h"

#include <algorithm>

namespace bang {
namespace {

// In the order of Wait and of the queues.
constexpr Wait kWaitFor[] = {Wait::kIo, Wait::kMove, Wait::kCompute};
constexpr uint8_t kAllPipes = PipeBit(Pipe::kIo) | PipeBit(Pipe::kMove) | PipeBit(Pipe::kCompute);

int64_t AccessCycles(Space space, const Card& card) {
  switch (space) {
    case Space::kNram: return card.scalar_access_nram;
    case Space::kWram: return card.scalar_access_wram;
    case Space::kSram: return card.scalar_access_sram;
    case Space::kLdram: return card.scalar_access_ldram;
    case Space::kGdram: return card.scalar_access_gdram;
  }
  return 0;
}

}  // namespace

Core::Core(int unit, const Card& card, const std::vector<int64_t>& cost_cycles, SharedParts& shared,
           Detail detail, Timeline& timeline)
    : unit_(unit),
      card_(card),
      cost_cycles_(cost_cycles),
      shared_(shared),
      counters_(timeline.units[static_cast<size_t>(unit)]),
      sites_(timeline.sites),
      spans_(detail == Detail::kTimeline ? &timeline.spans : nullptr) {}

void Core::Begin(const Program& program, int64_t time) {
  program_ = &program;
  next_ = 0;
  phase_ = Phase::kNew;
  began_ = time_ = time;
  scalar_span_ = -1;
  for (Queue& queue : queues_) {
    queue.begins.clear();
    queue.ends.clear();
    queue.after = {};
    queue.has_marks = false;
    queue.free = time;
  }
  ++counters_.programs;
  Run();
}

void Core::BarrierOpened(int64_t time) {
  StoodStill(Wait::kBarrier, time, program_->operations[next_].site);
  phase_ = Phase::kOpened;
  Run();
}

void Core::Run() {
  if (phase_ == Phase::kArrived || !program_) return;
  const std::vector<Operation>& operations = program_->operations;
  for (; next_ < operations.size(); ++next_) {
    if (!Step(operations[next_])) return;
    phase_ = Phase::kNew;
  }
  // A task ends with its pipes.
  if (!WaitFor(MarksOf(kAllPipes), operations.empty() ? 0 : operations.back().site)) return;
  counters_.resident += time_ - began_;
  program_ = nullptr;
  shared_.ProgramEnded(unit_, time_);
}

bool Core::Step(const Operation& operation) {
  switch (operation.kind) {
    case Kind::kScalar: Busy(operation.amount * card_.scalar_operator, operation.site); return true;
    case Kind::kAccess:
      Busy(operation.amount * AccessCycles(operation.from, card_), operation.site);
      return true;
    case Kind::kCompute:
    case Kind::kCopy: return StepQueued(operation);
    case Kind::kWait:
      if (phase_ == Phase::kNew) Busy(card_.sync, operation.site);
      phase_ = Phase::kIssued;
      return WaitFor(MarksOf(operation.pipes), operation.site);
    case Kind::kPipeWait: {
      Busy(card_.sync, operation.site);
      const Marks marks = MarksOf(operation.pipes);
      for (int q = 0; q < kQueues; ++q) {
        if (!(operation.consumers & PipeBit(static_cast<Pipe>(q + 1)))) continue;
        queues_[q].has_marks = true;
        for (int p = 0; p < kQueues; ++p) {
          queues_[q].after[p] = std::max(queues_[q].after[p], marks[p]);
        }
      }
      return true;
    }
    case Kind::kBarrier: return StepBarrier(operation);
  }
  return true;
}

bool Core::StepQueued(const Operation& operation) {
  Queue& queue = queues_[QueueOf(operation.pipe)];
  if (phase_ == Phase::kNew) {
    // There is a place in the queue when the operation `depth` places ahead has begun.
    const size_t depth = static_cast<size_t>(card_.queue_depth);
    if (queue.pushed() >= depth) {
      const size_t ahead = queue.pushed() - depth;
      if (queue.begins.size() <= ahead) return false;
      StoodStill(Wait::kQueue, queue.begins[ahead], operation.site);
    }
    Busy(card_.issue, operation.site);
    phase_ = Phase::kIssued;
  }
  if (phase_ == Phase::kIssued) {
    // What blocks keeps the core from going on anyway: it waits in the core, where it is counted as
    // what it waits for.
    const Marks after = MarksOf(operation.pipes);
    if (operation.blocking && !WaitFor(after, operation.site)) return false;
    Entry entry{&operation, time_, queue.after, queue.has_marks};
    if (operation.pipes && !operation.blocking) {
      entry.has_marks = true;
      for (int p = 0; p < kQueues; ++p) entry.after[p] = std::max(entry.after[p], after[p]);
    }
    queue.has_marks = false;
    queue.after = {};
    queue.entries.push_back(entry);
    phase_ = Phase::kQueued;
    StartAll();
  }
  return !operation.blocking || WaitFor(MarksOf(PipeBit(operation.pipe)), operation.site);
}

bool Core::StepBarrier(const Operation& operation) {
  if (phase_ == Phase::kOpened) return true;
  if (phase_ == Phase::kNew) Busy(card_.sync, operation.site);
  phase_ = Phase::kIssued;
  if (!WaitFor(MarksOf(kAllPipes), operation.site)) return false;
  phase_ = Phase::kArrived;
  shared_.Arrive(unit_, operation.barrier, time_);
  return false;
}

Core::Marks Core::MarksOf(uint8_t pipes) const {
  Marks marks = {};
  for (int q = 0; q < kQueues; ++q) {
    if (pipes & PipeBit(static_cast<Pipe>(q + 1))) marks[q] = queues_[q].pushed();
  }
  return marks;
}

bool Core::Reached(const Marks& marks) const {
  for (int q = 0; q < kQueues; ++q) {
    if (queues_[q].ends.size() < marks[q]) return false;
  }
  return true;
}

// The core goes on when these have ended; it waited for the one that ended last.
bool Core::WaitFor(const Marks& marks, uint32_t site) {
  if (!Reached(marks)) return false;
  int last = 0;
  int64_t until = time_;
  for (int q = 0; q < kQueues; ++q) {
    if (marks[q] == 0 || queues_[q].ends[marks[q] - 1] <= until) continue;
    until = queues_[q].ends[marks[q] - 1];
    last = q;
  }
  StoodStill(kWaitFor[last], until, site);
  return true;
}

void Core::Busy(int64_t cycles, uint32_t site) {
  if (cycles == 0) return;
  const int64_t begin = time_;
  time_ += cycles;
  counters_.busy[static_cast<int>(Pipe::kScalar)] += cycles;
  sites_[site].busy += cycles;
  if (!spans_) return;
  // What follows without a gap is one span: handing on instructions takes a few cycles each.
  if (scalar_span_ >= 0) {
    Span& span = (*spans_)[static_cast<size_t>(scalar_span_)];
    span.end = span.ready = time_;
    if (span.site == 0) span.site = site;
    return;
  }
  scalar_span_ = static_cast<ptrdiff_t>(spans_->size());
  AddSpan(Pipe::kScalar, begin, time_, site, Wait::kNone);
}

void Core::StoodStill(Wait wait, int64_t until, uint32_t site) {
  if (until <= time_) return;
  counters_.waits[static_cast<int>(wait)] += until - time_;
  sites_[site].waited += until - time_;
  if (spans_) AddSpan(Pipe::kScalar, time_, until, site, wait);
  scalar_span_ = -1;
  time_ = until;
}

void Core::AddSpan(Pipe pipe, int64_t begin, int64_t end, uint32_t site, Wait wait) {
  Span span = {};
  span.begin = begin;
  span.end = span.ready = end;
  span.site = site;
  span.task = program_->task;
  span.unit = static_cast<uint16_t>(unit_);
  span.pipe = pipe;
  span.wait = wait;
  spans_->push_back(span);
}

}  // namespace bang
