// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every program.
#include <gtest/gtest.h>

#include <random>

#include "programs.h"

namespace bang {
namespace {

using Random = std::mt19937;

int64_t Below(Random& random, int64_t n) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
}

Operation RandomOperation(Random& random) {
  const int64_t bytes = 1 + Below(random, 20000);
  Operation operation;
  switch (Below(random, 9)) {
    case 0: return Scalar(Below(random, 50));
    case 1: return Access(static_cast<Space>(Below(random, 5)), Below(random, 10));
    case 2: return WaitOf(static_cast<uint8_t>(2 * Below(random, 8)));
    case 3:
      return PipeWait(static_cast<uint8_t>(2 * Below(random, 8)),
                      static_cast<uint8_t>(2 * Below(random, 8)));
    case 4: operation = Load(bytes); break;
    case 5: operation = Store(bytes); break;
    case 6: operation = Copy(Space::kSram, Space::kNram, bytes); break;
    case 7: operation = Copy(Space::kNram, Space::kWram, bytes); break;
    default: operation = Vector(bytes); operation.dependent = Below(random, 2);
  }
  if (operation.kind == Kind::kCopy && Below(random, 4) == 0) {
    operation.strided = true;
    operation.segments = static_cast<uint32_t>(1 + Below(random, bytes));
  }
  operation.blocking = Below(random, 4) == 0;
  if (Below(random, 4) == 0) operation.pipes = static_cast<uint8_t>(2 * Below(random, 8));
  return operation;
}

Operations RandomProgram(Random& random) {
  Operations operations;
  for (int64_t i = Below(random, 60); i > 0; --i) operations.push_back(RandomOperation(random));
  return operations;
}

// Barriers stand at the same places in the programs of a union task.
LaunchRecord RandomLaunch(Random& random) {
  const int clusters = static_cast<int>(Below(random, 4));
  const int tasks = 1 + static_cast<int>(Below(random, 6));
  if (clusters == 0) {
    std::vector<Operations> programs(static_cast<size_t>(tasks) * 5);
    for (Operations& program : programs) program = RandomProgram(random);
    return Block(programs);
  }
  std::vector<Operations> programs;
  const int per_task = clusters * kUnitsPerCluster;
  for (int task = 0; task < tasks; ++task) {
    std::vector<Operations> together(static_cast<size_t>(per_task));
    for (int64_t part = Below(random, 4); part >= 0; --part) {
      const auto kind = static_cast<BarrierKind>(Below(random, 4));
      for (int i = 0; i < per_task; ++i) {
        const Operations some = RandomProgram(random);
        Operations& program = together[static_cast<size_t>(i)];
        program.insert(program.end(), some.begin(), some.end());
        const bool mpu = i % kUnitsPerCluster == kCoresPerCluster;
        if (kind == BarrierKind::kIpus && mpu) continue;
        if (kind == BarrierKind::kMpus && !mpu) continue;
        program.push_back(BarrierOf(kind));
      }
    }
    programs.insert(programs.end(), together.begin(), together.end());
  }
  return Union(clusters, programs);
}

int64_t Moved(const Timeline& timeline) {
  int64_t moved = 0;
  for (const Counters& unit : timeline.units) moved += unit.gdram_moved;
  return moved;
}

TEST(RandomPrograms, Invariants) {
  const Card card = ReadCard(TEST_CARD);
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const LaunchRecord launch = RandomLaunch(random);
    const Timeline timeline = RunClock(launch, card, Detail::kTimeline);
    const Timeline again = RunClock(launch, card, Detail::kCounters);
    ASSERT_EQ(timeline.cycles, again.cycles) << seed;

    int64_t programs = 0;
    for (size_t i = 0; i < timeline.units.size(); ++i) {
      const Counters& unit = timeline.units[i];
      programs += unit.programs;
      ASSERT_LE(unit.resident, timeline.cycles) << seed;
      for (int64_t busy : unit.busy) ASSERT_LE(busy, unit.resident) << seed;
      int64_t scalar = unit.busy[0];
      for (Wait wait : {Wait::kIo, Wait::kMove, Wait::kCompute, Wait::kBarrier, Wait::kQueue}) {
        scalar += unit.waits[static_cast<int>(wait)];
      }
      ASSERT_EQ(scalar, unit.resident) << seed;  // a core works or waits, nothing else
      for (int64_t wait : unit.waits) ASSERT_GE(wait, 0) << seed;
      for (int w = 0; w < kWaitCount; ++w) ASSERT_EQ(unit.waits[w], again.units[i].waits[w]);
    }
    ASSERT_EQ(programs, static_cast<int64_t>(launch.programs.size())) << seed;
    // The memory never moves more than it can: 320 bytes per cycle.
    ASSERT_LE(Moved(timeline), 320 * timeline.cycles) << seed;

    // Spans of one pipe of one core don't overlap, and add up to the counters.
    std::vector<std::vector<Span>> tracks(timeline.units.size() * kPipeCount);
    for (const Span& span : timeline.spans) {
      ASSERT_LT(span.begin, span.end) << seed;
      ASSERT_LE(span.end, span.ready) << seed;
      tracks[span.unit * kPipeCount + static_cast<size_t>(span.pipe)].push_back(span);
    }
    for (size_t t = 0; t < tracks.size(); ++t) {
      std::sort(tracks[t].begin(), tracks[t].end(),
                [](const Span& a, const Span& b) { return a.begin < b.begin; });
      int64_t busy = 0, end = 0;
      for (const Span& span : tracks[t]) {
        ASSERT_GE(span.begin, end) << seed;
        end = span.end;
        if (span.wait == Wait::kNone) busy += span.end - span.begin;
      }
      ASSERT_EQ(busy, timeline.units[t / kPipeCount].busy[t % kPipeCount]) << seed;
    }
  }
}

// One core alone: whatever gets faster, the program does not get slower. (Of several cores that is
// not so: who shares with whom changes.)
TEST(RandomPrograms, FasterPartsOfOneCore) {
  const Card card = ReadCard(TEST_CARD);
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const LaunchRecord launch = Block({RandomProgram(random)});
    const int64_t cycles = RunClock(launch, card, Detail::kCounters).cycles;
    Card faster = card;
    faster.gdram_bandwidth = faster.gdram_cluster_bandwidth = faster.gdram_core_bandwidth *= 2;
    ASSERT_LE(RunClock(launch, faster, Detail::kCounters).cycles, cycles) << seed;
    faster = card;
    faster.vector_bytes_per_cycle *= 2;
    ASSERT_LE(RunClock(launch, faster, Detail::kCounters).cycles, cycles) << seed;
    faster = card;
    faster.gdram_read_latency = faster.issue = faster.sync = 0;
    ASSERT_LE(RunClock(launch, faster, Detail::kCounters).cycles, cycles) << seed;
    faster = card;
    faster.queue_depth = 100;
    ASSERT_LE(RunClock(launch, faster, Detail::kCounters).cycles, cycles) << seed;
  }
}

}  // namespace
}  // namespace bang
