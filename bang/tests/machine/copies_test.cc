// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <random>

#include "kernels.h"

namespace {

TEST_F(MachineTest, CopiesThereAndBack) {
  ASSERT_EQ(cnrtSuccess, RunKernel(3, cnrtFuncTypeBlock, [&] {
              const int at = TaskId() * 1024;
              Load(nram_a, in + at, 1024);
              Add(nram_b, nram_a, nram_a, 1024);
              Store(out + at, nram_b, 1024);
            }));
  const std::vector<float> got = Floats(out, 4096);
  for (int i = 0; i < 4096; ++i) EXPECT_EQ(i < 3072 ? 2.0f * i : 0.0f, got[i]);
}

// Segments against a loop, in 2-D and 3-D.
TEST_F(MachineTest, StridedCopies) {
  std::mt19937 random(3);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const int bytes = pick(1, 9), counts1 = pick(0, 4), counts2 = pick(0, 3);
    const bool flat = pick(0, 1) == 0;  // the source has all segments in one row
    bang::CopyShape shape{bytes, {}, {}};
    shape.dst = {bytes + pick(0, 5), counts1, 60 + pick(0, 9), counts2};
    if (flat) {
      shape.src = {bytes + pick(0, 5), (counts1 + 1) * (counts2 + 1) - 1, 0, 0};
    } else {
      shape.src = {pick(0, 14), counts1, 70 + pick(0, 9), counts2};
    }
    std::vector<char> source(4096), got(4096), want(4096, 0);
    for (char& c : source) c = static_cast<char>(pick(0, 255));
    cnrtMemcpy(in, source.data(), 4096, cnrtMemcpyHostToDev);
    cnrtMemset(out, 0, 4096);
    std::string text;
    ASSERT_EQ(cnrtSuccess, RunKernel(1, cnrtFuncTypeBlock,
                               [&] {
                                 Load(nram_a, out, 1024);
                                 bang::Copy("__memcpy", false, nram_a, in, shape, GDRAM2NRAM, Line());
                                 Store(out, nram_a, 1024);
                               },
                               &text))
        << text;
    const auto place = [](const bang::CopySide& side, int i) {
      return i % (side.count1 + 1) * side.stride1 + i / (side.count1 + 1) * side.stride2;
    };
    for (int i = 0; i < (counts1 + 1) * (counts2 + 1); ++i) {
      memcpy(&want[place(shape.dst, i)], &source[place(shape.src, i)], bytes);
    }
    cnrtMemcpy(got.data(), out, 4096, cnrtMemcpyDevToHost);
    ASSERT_EQ(want, got) << "round " << round;
  }
}

// An asynchronous load is not there before its sync, and is afterwards.
TEST_F(MachineTest, AsyncCopiesHappenAtTheirSync) {
  float before = -1, after = -1;
  ASSERT_EQ(cnrtSuccess, RunKernel(1, cnrtFuncTypeBlock, [&] {
              Load(nram_a, in + 5, 4);
              LoadAsync(nram_a, in + 9, 4);
              before = nram_a[0];  // not announced: this is the test's own look
              bang::Sync("__sync_io", bang::kIoBit, Line());
              after = nram_a[0];
            }));
  EXPECT_EQ(5, before);
  EXPECT_EQ(9, after);
}

TEST_F(MachineTest, APipeKeepsItsOrder) {
  ASSERT_EQ(cnrtSuccess, RunKernel(1, cnrtFuncTypeBlock, [&] {
              LoadAsync(nram_a, in + 100, 8);
              StoreAsync(out, nram_a, 8);
              LoadAsync(nram_a, in + 200, 8);
              StoreAsync(out + 8, nram_a, 8);
            }));
  const std::vector<float> got = Floats(out, 16);
  EXPECT_EQ(100, got[0]);
  EXPECT_EQ(200, got[8]);
}

TEST_F(MachineTest, UnwrittenBytesThatReachGdramAreReported) {
  std::string text;
  ASSERT_EQ(cnrtSuccess, RunKernel(1, cnrtFuncTypeBlock,
                             [&] {
                               Load(nram_a, in, 100);
                               Add(nram_b, nram_a, nram_a, 128, 41);
                               Store(out, nram_b, 128, 42);
                             },
                             &text));
  EXPECT_NE(std::string::npos, text.find("kernel.mlu:42: warning: __memcpy stores bytes of b"))
      << text;
  ASSERT_EQ(cnrtSuccess, RunKernel(1, cnrtFuncTypeBlock,
                             [&] {
                               Load(nram_a, in, 100);
                               Add(nram_b, nram_a, nram_a, 128, 41);
                               Store(out, nram_b, 100, 42);
                             },
                             &text));
  EXPECT_EQ("", text);
}

TEST_F(MachineTest, NotifiersTellSimulatedTime) {
  cnrtNotifier_t start, end;
  cnrtNotifierCreate(&start);
  cnrtNotifierCreate(&end);
  float us[2];
  for (float& time : us) {
    cnrtPlaceNotifier(start, nullptr);
    ASSERT_EQ(cnrtSuccess, RunKernel(4, cnrtFuncTypeBlock, [&] {
                Load(nram_a, in, 1024);
                Add(nram_b, nram_a, nram_a, 1024);
                Store(out + 1024 * TaskId(), nram_b, 1024);
              }));
    cnrtPlaceNotifier(end, nullptr);
    cnrtQueueSync(nullptr);
    ASSERT_EQ(cnrtSuccess, cnrtNotifierDuration(start, end, &time));
  }
  EXPECT_GT(us[0], 0.1f);
  EXPECT_LT(us[0], 100.0f);
  EXPECT_NEAR(us[0], us[1], 0.01);
}

}  // namespace
