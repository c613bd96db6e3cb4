// SPDX-License-Identifier: Apache-2.0
//
// From what the cores did to when they did it. docs/clock.md describes the model.
#ifndef BANG_CLOCK_CLOCK_H_
#define BANG_CLOCK_CLOCK_H_

#include <stdint.h>

#include <vector>

#include "clock/card.h"
#include "clock/operations.h"

namespace bang {

enum class Detail { kCounters, kTimeline };

// Why a core, or one of its pipes, stood still.
enum class Wait : uint8_t {
  kIo,  // the core, for its own pipe
  kMove,
  kCompute,
  kBarrier,     // the core, for other cores
  kQueue,       // the core, for a place in a pipe's queue
  kDependence,  // a pipe, for a result: of another pipe, or of its instruction before
  kBandwidth,   // a copy took longer than it takes alone
  kNone         // of a span: work, no wait
};
constexpr int kWaitCount = static_cast<int>(Wait::kNone);

// The cores of a cluster, then its MPU.
constexpr int kUnitsPerCluster = kCoresPerCluster + 1;

// Of one core or MPU. Cycles, bytes as the program asked for them, operations.
struct Counters {
  int64_t programs = 0;
  int64_t resident = 0;  // from the starts of its tasks to their ends
  int64_t busy[kPipeCount] = {};
  int64_t waits[kWaitCount] = {};
  int64_t gdram_read = 0, gdram_written = 0;
  int64_t sram_bytes = 0;   // by the Move pipe, to and from SRAM
  int64_t local_bytes = 0;  // copies within a core
  int64_t gdram_moved = 0;  // what GDRAM moved for that: whole units, and penalties as bytes
  int64_t vector_instructions = 0;
  int64_t vector_bytes = 0;
  int64_t operations = 0;
  int64_t computed_bytes = 0;  // vector_bytes of the instructions that count operations

  Counters& operator+=(const Counters& other);
};

// Of one line of the source, all cores together.
struct SiteCounters {
  int64_t count = 0;   // of instructions on a pipe
  int64_t busy = 0;    // cycles of that pipe, and of the scalar pipe
  int64_t waited = 0;  // cycles that cores stood still there
  int64_t bytes = 0;
};

struct Span {
  int64_t begin, end;
  int64_t ready;  // when the result is there; at `end` or later
  int64_t bytes;  // of a copy, or of the widest operand
  int64_t alone;  // cycles that it would have taken alone; 0: it shares with nobody
  uint32_t site;  // index into LaunchRecord::sites
  int32_t task;
  uint16_t unit;  // index into Timeline::units
  Pipe pipe;
  Wait wait;  // kNone: work
  bool copy;
  Space from, to;  // of a copy
};

// What a run of the clock gives: see timeline/ for what is made of it. Times are in cycles.
struct Timeline {
  int64_t cycles = 0;
  std::vector<Counters> units;      // kUnitsPerCluster per cluster of the card
  std::vector<SiteCounters> sites;  // by the number of the site
  std::vector<Span> spans;          // Detail::kTimeline: of every unit, in the order of its time
};

// The launch as the card would do it. Throws std::invalid_argument for a record that can't end: of
// cores that wait at a barrier for ever, or of more clusters than the card has.
Timeline RunClock(const LaunchRecord& launch, const Card& card, Detail detail);

}  // namespace bang

#endif  // BANG_CLOCK_CLOCK_H_
