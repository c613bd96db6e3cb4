// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "kernels.h"

namespace {

using bang::BarrierKind;

TEST_F(MachineTest, CoresMeetThroughSram) {
  for (const auto& [type, cores] : {std::pair(cnrtFuncTypeUnion1, 4), {cnrtFuncTypeUnion2, 8},
                                    {cnrtFuncTypeUnion4, 16}, {cnrtFuncTypeUnion8, 32}}) {
    std::string text;
    cnrtMemset(out, 0, kCount * 4);
    ASSERT_EQ(cnrtSuccess,
              RunKernel(cores * 3, type,
                  [&] {
                    if (IsMpu()) return;
                    Load(nram_a, in + TaskId() * 16, 16);
                    float* const s = SharedFloats();
                    bang::Copy("__memcpy", false, s + CoreId() * 16, nram_a, {64, {}, {}},
                               NRAM2SRAM, Line());
                    bang::Barrier("__sync_all_ipu", BarrierKind::kIpus, Line());
                    bang::Copy("__memcpy", false, nram_b, s + (CoreId() + 1) % 4 * 16, {64, {}, {}},
                               SRAM2NRAM, Line());
                    Store(out + TaskId() * 16, nram_b, 16);
                  },
                  &text))
        << text;
    const std::vector<float> got = Floats(out, cores * 3 * 16);
    for (int i = 0; i < cores * 3 * 16; ++i) {
      const int task = i / 16, neighbour = task / 4 * 4 + (task + 1) % 4;
      ASSERT_EQ(neighbour * 16 + i % 16, got[i]);
    }
  }
}

// The MPU loads for its four cores.
TEST_F(MachineTest, TheMpuFillsSram) {
  std::string text;
  ASSERT_EQ(cnrtSuccess,
            RunKernel(8, cnrtFuncTypeUnion1,
                [&] {
                  float* const s = SharedFloats();
                  if (IsMpu()) {
                    bang::Copy("__memcpy", false, s, in + TaskId() * 16, {256, {}, {}}, GDRAM2SRAM,
                               Line());
                  }
                  bang::Barrier("__sync_cluster", BarrierKind::kCluster, Line());
                  if (IsMpu()) return;
                  bang::Copy("__memcpy", false, nram_b, s + CoreId() * 16, {64, {}, {}}, SRAM2NRAM,
                             Line());
                  Store(out + TaskId() * 16, nram_b, 16);
                },
                &text))
      << text;
  const std::vector<float> got = Floats(out, 128);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(i, got[i]);
}

TEST_F(MachineTest, ADeadlockNamesWhoWaits) {
  std::string text;
  EXPECT_EQ(cnrtErrorKernelTrap,
            RunKernel(4, cnrtFuncTypeUnion1,
                [&] {
                  if (IsMpu() || CoreId() == 3) return;
                  bang::Barrier("__sync_all_ipu", BarrierKind::kIpus, Line(77));
                },
                &text));
  EXPECT_NE(std::string::npos, text.find("kernel.mlu:77: error: deadlock")) << text;
  EXPECT_NE(std::string::npos,
            text.find("core 1 of cluster 0 waits in __sync_all_ipu at kernel.mlu:77"))
      << text;
  EXPECT_NE(std::string::npos, text.find("core 3 of cluster 0 has ended")) << text;
}

TEST_F(MachineTest, DifferentBarriersAreADeadlock) {
  std::string text;
  EXPECT_EQ(cnrtErrorKernelTrap,
            RunKernel(4, cnrtFuncTypeUnion1,
                [&] {
                  if (IsMpu()) return;
                  if (CoreId() == 0) {
                    bang::Barrier("__sync_cluster", BarrierKind::kCluster, Line(5));
                  } else {
                    bang::Barrier("__sync_all_ipu", BarrierKind::kIpus, Line(6));
                  }
                },
                &text));
  EXPECT_NE(std::string::npos, text.find("__sync_cluster at kernel.mlu:5")) << text;
  EXPECT_NE(std::string::npos, text.find("__sync_all_ipu at kernel.mlu:6")) << text;
}

// One failure ends all, the first task's is told, and the next launches are refused until a reset.
TEST_F(MachineTest, TheFirstFailureIsTold) {
  for (int round = 0; round < 20; ++round) {
    std::string text;
    EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(400, cnrtFuncTypeBlock,
                                       [&] {
                                         if (TaskId() % 7 == 5) Add(nram_a, nram_b, nram_b, 0, TaskId());
                                       },
                                       &text));
    EXPECT_EQ(0u, text.find("kernel.mlu:5: error: __bang_add: count is 0")) << text;
    EXPECT_NE(std::string::npos, text.find("task 5 of 400")) << text;
    EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(1, cnrtFuncTypeBlock, [] { FAIL(); }));
    cnrtDeviceReset();
  }
  SetUp();
}

TEST_F(MachineTest, AnEndlessKernelIsStopped) {
  std::string text;
  EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(4, cnrtFuncTypeUnion1,
                                     [&] {
                                       while (true) bang::Tick(1);
                                     },
                                     &text));
  EXPECT_NE(std::string::npos, text.find("has not ended after 2 seconds")) << text;
}

TEST_F(MachineTest, LocksGoRound) {
  int value = 0;
  std::string text;
  ASSERT_EQ(cnrtSuccess, RunKernel(4, cnrtFuncTypeUnion1,
                             [&] {
                               if (IsMpu()) return;
                               for (int i = 0; i < 10; ++i) {
                                 bang::Lock(1, Line());
                                 ++value;
                                 Load(nram_a, out, 1);
                                 nram_a[0] += 1;
                                 Store(out, nram_a, 1);
                                 bang::Unlock(1, Line());
                               }
                             },
                             &text, true))
      << text;
  EXPECT_EQ(40, value);
  EXPECT_EQ(40, Floats(out, 1)[0]);
  EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(4, cnrtFuncTypeUnion1,
                                     [&] {
                                       if (IsMpu()) return;
                                       bang::Lock(1, Line(3));
                                     },
                                     &text, true));
  EXPECT_NE(std::string::npos, text.find("waits for lock 1 at kernel.mlu:3")) << text;
}

TEST_F(MachineTest, DimensionsAreChecked) {
  std::string text;
  EXPECT_EQ(cnrtErrorArgsInvalid, RunKernel(6, cnrtFuncTypeUnion1, [] { FAIL(); }, &text));
  EXPECT_NE(std::string::npos, text.find("dim.x is 6; for cnrtFuncTypeUnion1 it has to be a multiple of 4"))
      << text;
  EXPECT_EQ(cnrtErrorArgsInvalid, RunKernel(0, cnrtFuncTypeBlock, [] { FAIL(); }, &text));
}

}  // namespace
