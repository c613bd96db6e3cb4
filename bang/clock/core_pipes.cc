// SPDX-License-Identifier: Apache-2.0
//
// The pipes behind a core's queues: when an instruction begins and ends, and what is counted then.
#include <algorithm>

#include "clock/core.h"

namespace bang {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

void Core::CopyEnded(Pipe pipe, int64_t time) {
  const int q = QueueOf(pipe);
  Queue& queue = queues_[q];
  queue.running = false;
  const int64_t alone = card_.gdram_start * (queue.cost.channel == Channel::kGdram) +
                        card_.sram_start * (queue.cost.channel == Channel::kSram) +
                        std::max(shared_.CyclesAlone(queue.cost), queue.cost.least);
  // Segments take their time, whatever the bandwidth.
  const int64_t begin = queue.begins.back();
  const int64_t end = std::max(time, begin + queue.cost.start + queue.cost.least);
  counters_.waits[static_cast<int>(Wait::kBandwidth)] += end - begin - alone;
  CountCopy(*queue.entries.front().operation, queue.cost.bytes);
  EndFirst(q, end, queue.cost.latency, alone);
  StartAll();
  Run();
}

void Core::StartAll() {
  for (bool started = true; started;) {
    started = false;
    for (int q = 0; q < kQueues; ++q) {
      while (StartFirst(q)) started = true;
    }
  }
}

// Begins the queue's first operation if it is known when; true: it has ended, too.
bool Core::StartFirst(int q) {
  Queue& queue = queues_[q];
  if (queue.entries.empty() || queue.running) return false;
  const Entry& entry = queue.entries.front();
  if (entry.has_marks && !Reached(entry.after)) return false;
  const Operation& operation = *entry.operation;
  const int64_t could_begin = std::max(entry.issued, queue.free);
  int64_t begin = could_begin;
  if (entry.has_marks) {
    for (int p = 0; p < kQueues; ++p) {
      if (entry.after[p]) begin = std::max(begin, queues_[p].ends[entry.after[p] - 1]);
    }
    if (spans_ && begin > could_begin) {
      AddSpan(operation.pipe, could_begin, begin, operation.site, Wait::kDependence);
    }
  }
  if (operation.kind == Kind::kCompute && operation.dependent && !queue.ends.empty()) {
    begin = std::max(begin, queue.ends.back());
  }
  counters_.waits[static_cast<int>(Wait::kDependence)] += begin - could_begin;
  queue.begins.push_back(begin);
  if (operation.kind == Kind::kCompute) {
    const int64_t cycles = VectorCycles(operation);
    ++counters_.vector_instructions;
    counters_.vector_bytes += operation.bytes;
    counters_.operations += operation.amount;
    if (operation.amount > 0) counters_.computed_bytes += operation.bytes;
    EndFirst(q, begin + cycles, card_.vector_latency, 0);
    return true;
  }
  queue.cost = CostOfCopy(operation, card_);
  if (queue.cost.channel == Channel::kLocal) {
    const int64_t cycles =
        std::max(DivideUp(queue.cost.bytes, card_.local_bytes_per_cycle), queue.cost.least);
    CountCopy(operation, 0);
    EndFirst(q, begin + queue.cost.start + cycles, queue.cost.latency, 0);
    return true;
  }
  queue.running = true;
  shared_.BeginCopy(unit_, operation.pipe, begin + queue.cost.start, queue.cost);
  return false;
}

void Core::EndFirst(int q, int64_t end, int64_t latency, int64_t alone) {
  Queue& queue = queues_[q];
  const Operation& operation = *queue.entries.front().operation;
  const int64_t begin = queue.begins.back();
  // Results come in order, so that waiting for one is waiting for all before it.
  const int64_t before = queue.ends.empty() ? 0 : queue.ends.back();
  const int64_t ready = std::max(end + latency, before);
  counters_.busy[static_cast<int>(operation.pipe)] += end - begin;
  SiteCounters& site = sites_[operation.site];
  ++site.count;
  site.busy += end - begin;
  site.bytes += operation.bytes;
  if (spans_) {
    AddSpan(operation.pipe, begin, end, operation.site, Wait::kNone);
    Span& span = spans_->back();
    span.ready = ready;
    span.bytes = operation.bytes;
    span.alone = alone;
    span.copy = operation.kind == Kind::kCopy;
    span.from = operation.from;
    span.to = operation.to;
  }
  queue.ends.push_back(ready);
  queue.free = end;
  queue.entries.pop_front();
}

void Core::CountCopy(const Operation& copy, int64_t moved) {
  const bool read = IsOffChip(copy.from), written = IsOffChip(copy.to);
  if (read) counters_.gdram_read += copy.bytes;
  if (written) counters_.gdram_written += copy.bytes;
  if (read || written) {
    counters_.gdram_moved += moved;
  } else if (copy.from == Space::kSram || copy.to == Space::kSram) {
    counters_.sram_bytes += copy.bytes;
  } else {
    counters_.local_bytes += copy.bytes;
  }
}

int64_t Core::VectorCycles(const Operation& operation) const {
  const int64_t blocks =
      std::max<int64_t>(DivideUp(operation.bytes, card_.vector_bytes_per_cycle), 1);
  const int64_t row = operation.cost < cost_cycles_.size() ? cost_cycles_[operation.cost] : 0;
  return card_.vector_start + blocks * (row ? row : std::max<int64_t>(operation.passes, 1));
}

}  // namespace bang
