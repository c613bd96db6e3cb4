// SPDX-License-Identifier: Apache-2.0
//
// What the cores of a launch did, in the order of their programs: what the clock turns into time.
// Nothing here depends on a card.
#ifndef BANG_CLOCK_OPERATIONS_H_
#define BANG_CLOCK_OPERATIONS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "bang/launch.h"
#include "bang/machine.h"

namespace bang {

enum class Pipe : uint8_t { kScalar, kIo, kMove, kCompute };
constexpr int kPipeCount = 4;
constexpr uint8_t PipeBit(Pipe pipe) { return static_cast<uint8_t>(1u << static_cast<int>(pipe)); }

enum class Kind : uint8_t {
  kScalar,    // `amount` operators of scalar code
  kAccess,    // `amount` scalar loads and stores of the space `from`
  kCompute,   // a vector instruction: `bytes` through the unit, `amount` operations on elements
  kCopy,      // `segments` segments, `bytes` in all, from `from` to `to`
  kWait,      // the core waits until what is on the pipes of `pipes` has ended
  kPipeWait,  // the pipes of `consumers` start nothing later before what is on `pipes` has ended
  kBarrier    // of `barrier`'s members; the own pipes are drained first
};

struct Operation {
  Kind kind;
  Pipe pipe = Pipe::kScalar;  // kCompute, kCopy: the pipe that does it
  bool blocking = false;      // the core goes on when it has ended
  uint8_t pipes = 0;          // kWait, kPipeWait; kCompute, kCopy: waits for these pipes first
  uint8_t consumers = 0;      // kPipeWait
  BarrierKind barrier = BarrierKind::kIpus;
  Space from = Space::kNram;  // kCopy, kAccess
  Space to = Space::kNram;    // kCopy
  bool strided = false;       // kCopy: segments that are not contiguous on the GDRAM side
  uint8_t cost = 0;           // kCompute: index into Launch::costs; 0: `passes` simple instructions
  uint16_t passes = 1;        // kCompute
  bool dependent = true;      // kCompute: uses what the vector instruction before it wrote
  uint32_t site = 0;          // index into Launch::sites
  uint32_t segments = 1;      // kCopy
  // kCopy with a side in GDRAM or LDRAM (both: the destination's), by CountGdramUnits; units 0: not
  // counted, as if every segment began with a unit.
  uint32_t units = 0, partial_units = 0;
  int64_t bytes = 0;
  int64_t amount = 0;
};

struct CallSite {
  const char* name;  // the built-in; null: scalar code
  const char* file;
  int line;
};

// What one core (or MPU) did for one task.
struct Program {
  int task;     // taskId of the core; of an MPU: the first of its cluster's
  int cluster;  // in the union task, 0 for BLOCK
  int core;     // in the cluster, kMpuCoreId for the MPU
  std::vector<Operation> operations;
};

// All programs of a launch. Those of one union task stand together, cluster by cluster, the four
// cores before the MPU; union tasks are in order. BLOCK: one program per task.
struct LaunchRecord {
  std::string kernel;
  const char* file;
  int line;
  int64_t tasks;
  int union_clusters;     // 0: BLOCK
  int programs_per_unit;  // 1: BLOCK; 5 n: UNIONn
  std::vector<Program> programs;
  std::vector<CallSite> sites;
  std::vector<std::string> costs;  // names of rows of the card's cost table; [0] is empty
};

}  // namespace bang

#endif  // BANG_CLOCK_OPERATIONS_H_
