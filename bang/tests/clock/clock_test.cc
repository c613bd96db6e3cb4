// SPDX-License-Identifier: Apache-2.0
//
// Cycles worked out by hand from test.card. Every launch begins with launch_cycles 1000, every task
// with task_start 10, so a core's first cycle is 1010.
#include "clock/clock.h"

#include <gtest/gtest.h>

#include "programs.h"

namespace bang {
namespace {

class ClockTest : public testing::Test {
 protected:
  int64_t Cycles(const LaunchRecord& launch) {
    timeline = RunClock(launch, card, Detail::kTimeline);
    return timeline.cycles;
  }
  int64_t Waited(Wait wait, int unit = 0) {
    return timeline.units[unit].waits[static_cast<int>(wait)];
  }
  int64_t WasBusy(Pipe pipe, int unit = 0) {
    return timeline.units[unit].busy[static_cast<int>(pipe)];
  }

  Card card = ReadCard(TEST_CARD);
  Timeline timeline;
};

TEST_F(ClockTest, NothingToDo) {
  EXPECT_EQ(Cycles(Block({})), 1000);
  EXPECT_EQ(Cycles(Block({{}})), 1010);
}

TEST_F(ClockTest, ScalarCode) {
  // 5 operators of 2, then 3 + 5 + 7 + 11 + 13 for an access of each space.
  EXPECT_EQ(Cycles(Block(
                {{Scalar(5), Access(Space::kNram, 1), Access(Space::kWram, 1),
                  Access(Space::kSram, 1), Access(Space::kLdram, 1), Access(Space::kGdram, 1)}})),
            1010 + 10 + 39);
  EXPECT_EQ(WasBusy(Pipe::kScalar), 49);
}

// Load, add, store of 4096 bytes with a wait after each:
//   load   issued 1011, moves 4096 / 128 = 32 cycles after a start of 10: 1053, there at 1153
//   add    issued 1154, 8 + 32 cycles: 1194, there at 1210
//   store  issued 1211, 4096 * 1.25 / 128 = 40 cycles after 10: 1261, there at 1311
// The core waits from 1013 (issue and sync are done) for IO, from 1156 for Compute, from 1213 for
// IO.
TEST_F(ClockTest, LoadAddStore) {
  EXPECT_EQ(Cycles(Block({{Load(4096), WaitOf(kIoPipe), Vector(4096), WaitOf(kComputePipe),
                           Store(4096), WaitOf(kIoPipe)}})),
            1311);
  EXPECT_EQ(WasBusy(Pipe::kScalar), 9);
  EXPECT_EQ(WasBusy(Pipe::kIo), 42 + 50);
  EXPECT_EQ(WasBusy(Pipe::kCompute), 40);
  EXPECT_EQ(Waited(Wait::kIo), (1153 - 1013) + (1311 - 1213));
  EXPECT_EQ(Waited(Wait::kCompute), 1210 - 1156);
  EXPECT_EQ(Waited(Wait::kBandwidth), 0);
  EXPECT_EQ(timeline.units[0].gdram_read, 4096);
  EXPECT_EQ(timeline.units[0].gdram_written, 4096);
  EXPECT_EQ(timeline.units[0].gdram_moved, 4096 + 5120);
  EXPECT_EQ(timeline.units[0].operations, 1024);
  EXPECT_EQ(timeline.units[0].computed_bytes, 4096);
  EXPECT_EQ(timeline.units[0].resident, 301);
}

// Without a wait at its end a task still ends with its pipes; blocking copies need no waits.
TEST_F(ClockTest, BlockingCopies) {
  EXPECT_EQ(
      Cycles(Block({{Blocking(Load(4096)), Vector(4096), Blocking(Store(4096), kComputePipe)}})),
      // The load as above without the sync's 2 cycles hidden in the wait: there at 1153. The
      // store is issued at 1155 and begins when the sum is there, at 1210.
      1210 + 10 + 40 + 50);
  EXPECT_EQ(Waited(Wait::kCompute), 1210 - 1155);
  EXPECT_EQ(Waited(Wait::kDependence), 0);
  // One that doesn't block waits in its pipe.
  Operation store = Store(4096);
  store.pipes = kComputePipe;
  EXPECT_EQ(Cycles(Block({{Blocking(Load(4096)), Vector(4096), store}})), 1210 + 10 + 40 + 50);
  EXPECT_EQ(Waited(Wait::kCompute), 0);
  EXPECT_EQ(Waited(Wait::kDependence), 1210 - 1155);
}

// Copies on one pipe follow each other without waiting for the latency of the one before.
TEST_F(ClockTest, CopiesInARow) {
  EXPECT_EQ(Cycles(Block({{Load(4096), Load(4096)}})), 1011 + 42 + 42 + 100);
}

// The second instruction waits for the result of the first, unless it doesn't need it.
TEST_F(ClockTest, DependentInstructions) {
  EXPECT_EQ(Cycles(Block({{Vector(128), Vector(128)}})), 1011 + 9 + 16 + 9 + 16);
  Operation independent = Vector(128);
  independent.dependent = false;
  EXPECT_EQ(Cycles(Block({{Vector(128), independent}})), 1011 + 9 + 9 + 16);
}

TEST_F(ClockTest, LengthOfInstructions) {
  EXPECT_EQ(Cycles(Block({{Vector(4)}})), 1011 + 8 + 1 + 16);  // less than 128 costs 128
  EXPECT_EQ(Cycles(Block({{Vector(129)}})), 1011 + 8 + 2 + 16);
  Operation two_passes = Vector(1280);
  two_passes.passes = 2;
  EXPECT_EQ(Cycles(Block({{two_passes}})), 1011 + 8 + 20 + 16);
  Operation div = two_passes;
  div.cost = 1;  // a row of the card, 4 cycles: it counts instead of the passes
  LaunchRecord launch = Block({{div}});
  launch.costs = {"", "div"};
  EXPECT_EQ(Cycles(launch), 1011 + 8 + 40 + 16);
  launch.costs = {"", "no row of the card"};
  EXPECT_EQ(Cycles(launch), 1011 + 8 + 20 + 16);
}

// Of copies on chip: SRAM at 64 per core, within the core at 128.
TEST_F(ClockTest, CopiesOnChip) {
  EXPECT_EQ(Cycles(Block({{Copy(Space::kSram, Space::kNram, 640)}})), 1011 + 6 + 10 + 20);
  EXPECT_EQ(Cycles(Block({{Copy(Space::kSram, Space::kSram, 640)}})), 1011 + 6 + 20 + 70);
  EXPECT_EQ(Cycles(Block({{Copy(Space::kNram, Space::kWram, 1280)}})), 1011 + 4 + 10 + 12);
  // 50 segments take 50 cycles, however short.
  Operation copy = Copy(Space::kNram, Space::kNram, 1280);
  copy.segments = 50;
  EXPECT_EQ(Cycles(Block({{copy}})), 1011 + 4 + 50 + 12);
  copy = Copy(Space::kSram, Space::kNram, 640);
  copy.segments = 50;
  EXPECT_EQ(Cycles(Block({{copy}})), 1011 + 6 + 50 + 20);
}

// The Compute pipe waits for the load, at 1153; the core goes on, at 1015.
TEST_F(ClockTest, PipesWaitForPipes) {
  EXPECT_EQ(Cycles(Block({{Load(4096), PipeWait(kIoPipe, kComputePipe), Vector(128), Scalar(1)}})),
            1153 + 9 + 16);
  EXPECT_EQ(WasBusy(Pipe::kScalar), 1 + 2 + 1 + 2);
  EXPECT_EQ(Waited(Wait::kDependence), 1153 - 1014);
  // A pipe that is no consumer doesn't wait.
  EXPECT_EQ(Cycles(Block({{Load(4096), PipeWait(kIoPipe, kMovePipe), Vector(128)}})), 1153);
  EXPECT_EQ(Waited(Wait::kDependence), 0);
}

// A queue holds 2: the third instruction is handed on when the first has begun. The fourth waits
// for the second, which begins at 1011 + 8 + 100 = 1119, or 16 later as it needs the first's
// result.
TEST_F(ClockTest, AQueueIsFull) {
  Cycles(Block({{Vector(12800), Vector(128), Vector(128), Vector(128)}}));
  EXPECT_EQ(Waited(Wait::kQueue), 1135 - 1013);
}

// Two cores of a cluster share its 128 bytes per cycle: 64 cycles instead of 32.
TEST_F(ClockTest, BandwidthOfACluster) {
  EXPECT_EQ(Cycles(Block({{Load(4096)}, {Load(4096)}})), 1011 + 10 + 64 + 100);
  EXPECT_EQ(Waited(Wait::kBandwidth, 0), 32);
  EXPECT_EQ(Waited(Wait::kBandwidth, 1), 32);
  card.block_tasks_spread = 1;  // they go to two clusters
  EXPECT_EQ(Cycles(Block({{Load(4096)}, {Load(4096)}})), 1011 + 10 + 32 + 100);
}

// Four clusters with one core each get 320 / 4 = 80 bytes per cycle: 51.2 cycles.
TEST_F(ClockTest, BandwidthOfTheCard) {
  card.block_tasks_spread = 1;
  EXPECT_EQ(Cycles(Block({{Load(4096)}, {Load(4096)}, {Load(4096)}, {Load(4096)}})),
            1011 + 10 + 52 + 100);
}

// 17 tasks on 16 cores: the last begins where the first ends, task 3, at 1010 + 2.
TEST_F(ClockTest, BlockTasksInBatches) {
  std::vector<Operations> tasks(17, {Scalar(50)});
  tasks[3] = {Scalar(1)};
  EXPECT_EQ(Cycles(Block(tasks)), 1012 + 10 + 100);
  EXPECT_EQ(timeline.units[3].programs, 2);
  EXPECT_EQ(timeline.units[4].programs, 0);  // the MPU
  EXPECT_EQ(timeline.units[5].programs, 1);
}

// Cores arrive at 1014 and, the slow one, at 1032; then 30 more.
TEST_F(ClockTest, BarrierOfACluster) {
  const Operations quick = {Scalar(1), BarrierOf(BarrierKind::kIpus)};
  const Operations slow = {Scalar(10), BarrierOf(BarrierKind::kIpus)};
  EXPECT_EQ(Cycles(Union(1, {quick, quick, slow, quick, {}})), 1032 + 30);
  EXPECT_EQ(Waited(Wait::kBarrier, 0), 48);
  EXPECT_EQ(Waited(Wait::kBarrier, 2), 30);
  EXPECT_EQ(Waited(Wait::kBarrier, 4), 0);
  // With the MPU, which arrives last.
  const Operations all = {BarrierOf(BarrierKind::kCluster)};
  EXPECT_EQ(Cycles(Union(1, {all, all, all, all, {Scalar(20), BarrierOf(BarrierKind::kCluster)}})),
            1010 + 40 + 2 + 30);
}

// A barrier drains the own pipes first: the load ends at 1053 and is there at 1153.
TEST_F(ClockTest, BarriersDrainPipes) {
  const Operations idle = {BarrierOf(BarrierKind::kAll)};
  EXPECT_EQ(Cycles(Union(1, {{Load(4096), idle[0]}, idle, idle, idle, idle})), 1153 + 30);
  EXPECT_EQ(Waited(Wait::kIo, 0), 1153 - 1013);
  EXPECT_EQ(Waited(Wait::kBarrier, 0), 30);
}

// Two clusters at one barrier, and each at its own.
TEST_F(ClockTest, BarrierOfTwoClusters) {
  const auto of = [](BarrierKind kind) {
    std::vector<Operations> programs(10, {BarrierOf(kind)});
    programs[7] = {Scalar(100), BarrierOf(kind)};
    return programs;
  };
  EXPECT_EQ(Cycles(Union(2, of(BarrierKind::kAll))), 1212 + 90);
  EXPECT_EQ(Waited(Wait::kBarrier, 0), 1302 - 1012);
  EXPECT_EQ(Cycles(Union(2, of(BarrierKind::kCluster))), 1212 + 30);
  EXPECT_EQ(Waited(Wait::kBarrier, 0), 30);
  std::vector<Operations> mpus(10);
  mpus[4] = {BarrierOf(BarrierKind::kMpus)};
  mpus[9] = {Scalar(5), BarrierOf(BarrierKind::kMpus)};
  EXPECT_EQ(Cycles(Union(2, mpus)), 1022 + 90);
}

// Three union tasks of two clusters on four: the third begins where the first to end was, the
// second's clusters, at 1010 + 4.
TEST_F(ClockTest, UnionTasksInBatches) {
  std::vector<Operations> programs(30);
  programs[0] = {Scalar(50)};
  programs[13] = {Scalar(2)};
  programs[20] = {Scalar(7)};
  Cycles(Union(2, programs));
  EXPECT_EQ(timeline.units[0].programs, 1);
  EXPECT_EQ(timeline.units[10].programs, 2);
  EXPECT_EQ(timeline.units[10].resident, 14);
  EXPECT_EQ(timeline.cycles, 1110);
}

// BLOCK: a barrier is a sync.
TEST_F(ClockTest, BarriersOfBlockTasks) {
  EXPECT_EQ(Cycles(Block({{BarrierOf(BarrierKind::kIpus)}})), 1012);
}

TEST_F(ClockTest, RecordsThatCannotEnd) {
  EXPECT_THROW(Cycles(Union(1, {{BarrierOf(BarrierKind::kIpus)}, {}, {}, {}, {}})),
               std::invalid_argument);
  EXPECT_THROW(Cycles(Union(8, std::vector<Operations>(40))), std::invalid_argument);
}

// A 3-stage pipeline by hand, as kernels have it: stage i loads block i, adds to block i-1 and
// stores block i-2, then waits for IO and Compute. Loads and adds overlap; 5 blocks of 12800 bytes.
//   load   10 + 100, latency 100; add 8 + 100, latency 16; store 10 + 125, latency 50
TEST_F(ClockTest, ThreeStages) {
  card.queue_depth = 8;
  const int kBlocks = 5;
  Operations staged, plain;
  for (int stage = 0; stage < kBlocks + 2; ++stage) {
    if (stage >= 2) staged.push_back(Store(12800));
    if (stage < kBlocks) staged.push_back(Load(12800));
    if (stage >= 1 && stage <= kBlocks) staged.push_back(Vector(12800));
    staged.push_back(WaitOf(kIoPipe | kComputePipe));
  }
  // Per stage the IO pipe decides: issue 1, then
  //   stage 0: load 110 + 100, stage 1: the same; 2 to 4: store 135 and load 110 + 100;
  //   5 and 6: store 135 + 50.
  EXPECT_EQ(Cycles(Block({staged})), 1010 + 2 * (1 + 210) + 3 * (1 + 345) + 2 * (1 + 185));
  for (int block = 0; block < kBlocks; ++block) {
    plain.insert(plain.end(), {Blocking(Load(12800)), Vector(12800), WaitOf(kComputePipe),
                               Blocking(Store(12800))});
  }
  EXPECT_EQ(Cycles(Block({plain})), 1010 + 5 * ((1 + 210) + (1 + 124) + (1 + 185)));
}

// The real cards, so that a change of their files is seen.
TEST(RealCards, LoadOfOneCore) {
  // 3000 + 100, issue 4, start 32, 12800 / 128 = 100, latency 450.
  EXPECT_EQ(RunClock(Block({{Load(12800)}}), *GetCard("mlu590"), Detail::kCounters).cycles,
            3100 + 4 + 32 + 100 + 450);
  // 2000 + 100, issue 4, start 32, 12800 / 128 = 100, latency 400.
  EXPECT_EQ(RunClock(Block({{Load(12800)}}), *GetCard("mlu370"), Detail::kCounters).cycles,
            2100 + 4 + 32 + 100 + 400);
}

// All 32 cores of the MLU370 load 1 MB: 32 MiB at 307.2 GB/s are 109227 cycles at least.
TEST(RealCards, BandwidthOfTheWholeCard) {
  const std::vector<Operations> tasks(32, {Load(1 << 20)});
  const Timeline timeline = RunClock(Block(tasks), *GetCard("mlu370"), Detail::kCounters);
  EXPECT_EQ(timeline.cycles, 2100 + 4 + 32 + 109227 + 400);
}

}  // namespace
}  // namespace bang
