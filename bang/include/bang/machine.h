// SPDX-License-Identifier: Apache-2.0
//
// What the built-ins that are no vector instructions stand on: copies, syncs, barriers, locks. The
// header of the built-ins gives them their names.
#ifndef BANG_MACHINE_H_
#define BANG_MACHINE_H_

#include <stdint.h>

#include "bang/launch.h"
#include "bang/where.h"

typedef enum {
  GDRAM2NRAM,
  NRAM2GDRAM,
  LDRAM2NRAM,
  NRAM2LDRAM,
  GDRAM2WRAM,
  WRAM2GDRAM,
  LDRAM2WRAM,
  WRAM2LDRAM,
  NRAM2NRAM,
  NRAM2WRAM,
  WRAM2NRAM,
  GDRAM2SRAM,
  SRAM2GDRAM,
  LDRAM2SRAM,
  SRAM2LDRAM,
  SRAM2NRAM,
  NRAM2SRAM,
  SRAM2WRAM,
  WRAM2SRAM,
  GDRAM2GDRAM,
  GDRAM2LDRAM,
  LDRAM2GDRAM,
  LDRAM2LDRAM,
  SRAM2SRAM
} mluMemcpyDirection_t;

namespace bang {

// One side of a copy: (count2 + 1) groups of (count1 + 1) segments of `bytes`; counts are the
// number minus one, strides are in bytes, as the built-ins take them.
struct CopySide {
  int64_t stride1 = 0;
  int64_t count1 = 0;
  int64_t stride2 = 0;
  int64_t count2 = 0;
};

struct CopyShape {
  int64_t bytes;  // of a segment
  CopySide dst;
  CopySide src;
};

// `name` is the built-in's, for error texts.
void Copy(const char* name, bool async, void* dst, const void* src, const CopyShape& shape,
          mluMemcpyDirection_t direction, Where where);
// The same to the SRAM of a cluster of the union task: dst is the place in the own one.
void CopyToCluster(const char* name, bool async, void* dst, const void* src, int64_t bytes,
                   mluMemcpyDirection_t direction, int64_t cluster, Where where);

// `count` pieces of `bytes`; piece i of the scattered side begins at its base + offsets[i] bytes,
// of the other at i * stride. Offsets are in NRAM, the scattered side is GDRAM. Blocking.
struct PieceList {
  const uint32_t* offsets;
  const void* mask;  // bits in NRAM, pieces whose bit is 0 are left out; null: all
  int64_t bytes;
  int64_t stride;
  int64_t count;
};
void Gather(const char* name, void* dst, const void* src, const PieceList& pieces, Where where);
void Scatter(const char* name, void* dst, const void* src, const PieceList& pieces, Where where);

// `count` elements of `element_bytes` (1, 2, 4, 8) with the bits of `value`, in the given space, by
// the pipe that reaches it.
void Fill(const char* name, void* dst, int64_t count, int element_bytes, uint64_t value,
          Space space, Where where);

enum PipeBits : unsigned { kIoBit = 1, kMoveBit = 2, kComputeBit = 4 };

void Sync(const char* name, unsigned pipes, Where where);  // waits for these pipes
// The pipes of `consumers` wait for those of `producers`; the core goes on.
void SyncPipes(const char* name, unsigned producers, unsigned consumers, Where where);

enum class BarrierKind : uint8_t {
  kIpus,     // all cores of the union task, without MPUs: __sync_all_ipu
  kMpus,     // all MPUs of the union task: __sync_all_mpu
  kCluster,  // the cores and the MPU of a cluster: __sync_cluster
  kAll       // all cores and MPUs of the union task: __sync_all
};
void Barrier(const char* name, BarrierKind kind, Where where);

void Lock(int id, Where where);
void Unlock(int id, Where where);

// A read-modify-write of `bytes` of GDRAM, seen by no other core in between; `update` gets the old
// bits and returns the new ones. Returns the old bits.
uint64_t AtomicUpdate(const char* name, void* gdram, int bytes, uint64_t (*update)(uint64_t, uint64_t),
                      uint64_t operand, Where where);

bool IsIn(const void* address, Space space);  // __is_nram and their like

// Appends to what the task prints; printed in the order of tasks.
void Print(const char* format, ...) __attribute__((format(printf, 1, 2)));

[[noreturn]] void Stop(const char* reason, Where where);  // __abort, a failed __assert
// What assert of <cassert> calls, and macros of libraries: __assert_fail in device code.
[[noreturn]] inline void AssertFailed(const char* reason, const char* file, unsigned line,
                                      const char*) {
  Stop(reason, {file, static_cast<int>(line)});
}

}  // namespace bang

#endif  // BANG_MACHINE_H_
