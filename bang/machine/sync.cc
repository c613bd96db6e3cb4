// SPDX-License-Identifier: Apache-2.0
//
// Syncs, barriers and locks.
#include "bang/machine.h"
#include "machine/running_core.h"
#include "machine/union_task.h"

namespace bang {
namespace {

constexpr unsigned kAllPipes = kIoBit | kMoveBit | kComputeBit;

// PipeBits, which programs see, as the clock's bits.
uint8_t ClockBits(unsigned pipes) {
  return static_cast<uint8_t>((pipes & kIoBit ? PipeBit(Pipe::kIo) : 0) |
                              (pipes & kMoveBit ? PipeBit(Pipe::kMove) : 0) |
                              (pipes & kComputeBit ? PipeBit(Pipe::kCompute) : 0));
}

void Drain(RunningCore& core, unsigned pipes) {
  core.Complete(pipes);
  if (pipes & kComputeBit) core.in_flight().DropCompute();
}

void Record(RunningCore& core, Operation operation, const char* name, Where where) {
  if (!core.recorder().on()) return;
  operation.site = core.recorder().glossary().Site(name, where);
  core.recorder().Add(operation);
}

}  // namespace

void Sync(const char* name, unsigned pipes, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  Drain(core, pipes);
  Record(core, {.kind = Kind::kWait, .pipes = ClockBits(pipes)}, name, where);
}

void SyncPipes(const char* name, unsigned producers, unsigned consumers, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  core.PerformAll(producers);
  core.in_flight().Wait(producers, consumers);
  Record(core,
         {.kind = Kind::kPipeWait, .pipes = ClockBits(producers), .consumers = ClockBits(consumers)},
         name, where);
}

void Barrier(const char* name, BarrierKind kind, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  if (core.unit() == nullptr) {
    Sync(name, kAllPipes, where);
    return;
  }
  // For an MPU __sync_all_ipu is nothing, nor is __sync_all_mpu for a core.
  if ((kind == BarrierKind::kIpus && core.is_mpu()) ||
      (kind == BarrierKind::kMpus && !core.is_mpu())) {
    return;
  }
  Drain(core, kAllPipes);
  Record(core, {.kind = Kind::kBarrier, .barrier = kind}, name, where);
  core.unit()->Barrier(core.member(), kind, name, where);
}

void Lock(int id, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  if (core.unit() != nullptr) core.unit()->Lock(core.member(), id, where);
}

void Unlock(int id, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  if (core.unit() == nullptr) return;
  Drain(core, kAllPipes);
  core.unit()->Unlock(core.member(), id, where);
}

uint64_t AtomicUpdate(const char* name, void* gdram, int bytes,
                      uint64_t (*update)(uint64_t, uint64_t), uint64_t operand, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  const Region region = Contiguous(gdram, bytes);
  if (core.checks()) {
    core.Locate(name, "dst", where, region, Space::kGdram);
    core.CheckInFlight({name, "dst", Pipe::kScalar, true, false}, where, region);
  }
  // The tasks of a kernel with atomics run one after another, and a union task's cores take turns.
  uint64_t old = 0;
  __builtin_memcpy(&old, gdram, bytes);
  const uint64_t changed = update(old, operand);
  __builtin_memcpy(gdram, &changed, bytes);
  Operation operation{.kind = Kind::kCopy, .pipe = Pipe::kIo, .blocking = true};
  operation.from = operation.to = Space::kGdram;
  operation.bytes = bytes;
  Record(core, operation, name, where);
  return old;
}

}  // namespace bang
