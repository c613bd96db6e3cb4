// SPDX-License-Identifier: Apache-2.0
#include "timeline/summary.h"

#include <gtest/gtest.h>

#include "programs.h"
#include "timeline/figures.h"

namespace bang {
namespace {

class SummaryTest : public testing::Test {
 protected:
  std::string BottleneckOf(const LaunchRecord& launch) {
    return FiguresOf(RunClock(launch, card, Detail::kCounters), card).bottleneck;
  }

  Card card = ReadCard(TEST_CARD);
};

Operation At(Operation operation, uint32_t site) {
  operation.site = site;
  return operation;
}

// The program of ClockTest.LoadAddStore, 1311 cycles of 1 ns: 4096 bytes read and written are
// 8192 / (1311 * 320) of what GDRAM can, 1024 additions 32 of 1311 * 16 cycles.
TEST_F(SummaryTest, Text) {
  LaunchRecord launch =
      Block({{At(Load(4096), 1), At(WaitOf(kIoPipe), 2), At(Vector(4096), 3),
              At(WaitOf(kComputePipe), 4), At(Store(4096), 5), At(WaitOf(kIoPipe), 2)}});
  launch.sites = {{},
                  {"__memcpy_async", "a.mlu", 3},
                  {"__sync_io", "a.mlu", 4},
                  {"__bang_add", "a.mlu", 5},
                  {"__sync_compute", "a.mlu", 6},
                  {"__memcpy_async", "a.mlu", 7}};
  const Timeline timeline = RunClock(launch, card, Detail::kCounters);
  EXPECT_EQ(
      Summary(launch, timeline, card),
      "kernel (kernel.mlu:1): 1 BLOCK task on test (simulated)\n"
      "  time       1.311 us, 1311 cycles at 1 GHz\n"
      "  cores      1 of 16 had a task; shares are of their time\n"
      "  busy       scalar 0.7 %   IO 7.0 %   Move 0.0 %   Compute 3.1 %\n"
      "  waits      for IO 18.2 %   Move 0.0 %   Compute 4.1 %   barriers 0.0 %   full queues "
      "0.0 %   without a task 77.0 %\n"
      "  of pipes   waited for results 0.0 %   copies slowed by others 0.0 %\n"
      "  bytes      4.10 kB read from GDRAM, 4.10 kB written, 0 B to and from SRAM\n"
      "  vectors    1 of 4096 bytes on average, 1024 operations\n"
      "  efficiency IO 2.0 %   compute 0.2 %   (GDRAM moved 2.2 % of what it can)\n"
      "  bottleneck the launch itself: the kernel is over before it pays; do more in one "
      "launch\n"
      "  line         0.3 % busy   18.2 % waiting  __sync_io, a.mlu:4\n"
      "  line         0.2 % busy    4.1 % waiting  __sync_compute, a.mlu:6\n"
      "  line         3.9 % busy    0.0 % waiting  __memcpy_async, a.mlu:7\n"
      "  line         3.3 % busy    0.0 % waiting  __memcpy_async, a.mlu:3\n"
      "  line         3.1 % busy    0.0 % waiting  __bang_add, a.mlu:5\n");
}

TEST_F(SummaryTest, EfficienciesAreOfTheWholeCard) {
  // One core that computes all the time is a sixteenth of the card.
  const Figures figures =
      FiguresOf(RunClock(Block({{Vector(128 * 1000000)}}), card, Detail::kCounters), card);
  EXPECT_NEAR(figures.compute_efficiency, 1.0 / 16, 1e-3);
  EXPECT_NEAR(figures.busy[static_cast<int>(Pipe::kCompute)], 1, 1e-2);
  // 16 cores that load: all of the bandwidth.
  const Figures loads = FiguresOf(
      RunClock(Block(std::vector<Operations>(16, {Load(1 << 20)})), card, Detail::kCounters), card);
  EXPECT_NEAR(loads.io_efficiency, 1, 0.03);
  // What moves elements and calculates nothing doesn't count.
  Operation transpose = Vector(128 * 1000000);
  transpose.amount = 0;
  EXPECT_EQ(
      FiguresOf(RunClock(Block({{transpose}}), card, Detail::kCounters), card).compute_efficiency,
      0);
}

// Lines are shares of the time of all that run, MPUs too: five units that work all the time are 100 %.
TEST_F(SummaryTest, LinesWithMpus) {
  card.launch_cycles = 0;
  const LaunchRecord launch = Union(1, std::vector<Operations>(5, {Scalar(10000000)}));
  const std::string text = Summary(launch, RunClock(launch, card, Detail::kCounters), card);
  EXPECT_NE(text.find("  line       100.0 % busy    0.0 % waiting  scalar code\n"), std::string::npos)
      << text;
}

TEST_F(SummaryTest, Bottlenecks) {
  const auto all = [](const Operations& program) {
    return Block(std::vector<Operations>(16, program));
  };
  const auto begins = [](const std::string& text, const std::string& with) {
    return text.substr(0, with.size());
  };
  EXPECT_EQ(BottleneckOf(Block({})), "no task did anything");
#define EXPECT_BOTTLENECK(launch, text) EXPECT_EQ(begins(BottleneckOf(launch), text), text)
  EXPECT_BOTTLENECK(all({Load(1 << 20)}), "GDRAM: its bandwidth");
  EXPECT_BOTTLENECK(all({Vector(1 << 22)}), "the vector unit");
  EXPECT_BOTTLENECK(all({Scalar(100000)}), "scalar code");
  EXPECT_BOTTLENECK(all({Copy(Space::kNram, Space::kWram, 1 << 22)}), "the Move pipe");
  EXPECT_BOTTLENECK(Block({{Load(1 << 22)}}), "the IO pipe of each core");
  EXPECT_BOTTLENECK(Block({4, {Load(1 << 22)}}), "the bandwidth that cores of a cluster share");
  Operations latency;
  for (int i = 0; i < 1000; ++i) latency.push_back(Blocking(Load(64)));
  EXPECT_BOTTLENECK(all(latency), "waiting for IO");
  EXPECT_BOTTLENECK(Block({{Scalar(100000)}, {}, {}, {}}), "too little to do");
  std::vector<Operations> uneven(20, {BarrierOf(BarrierKind::kIpus)});
  for (size_t i = 0; i < uneven.size(); ++i) {
    if (i % 5 == 4) uneven[i].clear();
    if (i % 5 == 0) uneven[i] = {Scalar(100000), BarrierOf(BarrierKind::kIpus)};
  }
  EXPECT_BOTTLENECK(Union(1, uneven), "barriers");
#undef EXPECT_BOTTLENECK
}

}  // namespace
}  // namespace bang
