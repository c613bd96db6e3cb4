// SPDX-License-Identifier: Apache-2.0
//
// Queues, notifiers, and simulated time; run with BANG_DEVICE=mlu590,mlu370.
#include <bang/simulator.h>
#include <cnrt.h>
#include <gtest/gtest.h>

#include <string>

#include "machine/device.h"

namespace {

using bang::Engine;

class Queues : public testing::Test {
 protected:
  void SetUp() override {
    for (cnrtQueue_t* queue : {&first_, &second_}) ASSERT_EQ(cnrtQueueCreate(queue), cnrtSuccess);
    for (cnrtNotifier_t* notifier : {&start_, &end_}) {
      ASSERT_EQ(cnrtNotifierCreate(notifier), cnrtSuccess);
    }
    // What earlier tests did is over.
    ASSERT_EQ(cnrtSyncDevice(), cnrtSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cnrtDeviceReset(), cnrtSuccess);
    cnrtGetLastError();
  }

  // A kernel of this length.
  void Run(cnrtQueue_t queue, double microseconds) {
    bang::DeviceOf(queue).Advance(queue, Engine::kCores, microseconds);
  }
  float Duration() {
    float microseconds = -1;
    EXPECT_EQ(cnrtNotifierDuration(start_, end_, &microseconds), cnrtSuccess);
    return microseconds;
  }

  cnrtQueue_t first_, second_;
  cnrtNotifier_t start_, end_;
};

TEST_F(Queues, DurationIsTheWorkBetween) {
  Run(first_, 5);
  ASSERT_EQ(cnrtPlaceNotifier(start_, first_), cnrtSuccess);
  Run(first_, 100);
  Run(first_, 20.5);
  ASSERT_EQ(cnrtPlaceNotifier(end_, first_), cnrtSuccess);
  Run(first_, 7);
  EXPECT_EQ(cnrtQueueSync(first_), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 120.5);
  float milliseconds = 0;
  EXPECT_EQ(cnrtNotifierElapsedTime(start_, end_, &milliseconds), cnrtSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 0.1205f);
}

TEST_F(Queues, KernelsShareTheCores) {
  ASSERT_EQ(cnrtPlaceNotifier(start_, second_), cnrtSuccess);
  Run(first_, 100);
  Run(second_, 10);
  ASSERT_EQ(cnrtPlaceNotifier(end_, second_), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 110);
}

TEST_F(Queues, CopiesRunBesideKernels) {
  ASSERT_EQ(cnrtPlaceNotifier(start_, second_), cnrtSuccess);
  Run(first_, 100);
  bang::DeviceOf(second_).Advance(second_, Engine::kHostToDevice, 10);
  ASSERT_EQ(cnrtPlaceNotifier(end_, second_), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 10);
}

TEST_F(Queues, WhatTheHostWaitedForIsOver) {
  ASSERT_EQ(cnrtPlaceNotifier(start_, first_), cnrtSuccess);
  Run(first_, 100);
  EXPECT_EQ(cnrtQueueSync(first_), cnrtSuccess);
  bang::DeviceOf(second_).Advance(second_, Engine::kHostToDevice, 10);
  ASSERT_EQ(cnrtPlaceNotifier(end_, second_), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 110);
}

TEST_F(Queues, AQueueWaitsForANotifier) {
  ASSERT_EQ(cnrtPlaceNotifier(start_, first_), cnrtSuccess);
  Run(first_, 100);
  cnrtNotifier_t ready;
  ASSERT_EQ(cnrtNotifierCreate(&ready), cnrtSuccess);
  ASSERT_EQ(cnrtPlaceNotifier(ready, first_), cnrtSuccess);
  ASSERT_EQ(cnrtQueueWaitNotifier(ready, second_, 0), cnrtSuccess);
  bang::DeviceOf(second_).Advance(second_, Engine::kDeviceToHost, 10);
  ASSERT_EQ(cnrtPlaceNotifier(end_, second_), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 110);
}

TEST_F(Queues, CopiesTakeTime) {
  void* data = nullptr;
  std::string host(24000000, 'x');
  ASSERT_EQ(cnrtMalloc(&data, host.size()), cnrtSuccess);
  ASSERT_EQ(cnrtPlaceNotifier(start_, first_), cnrtSuccess);
  ASSERT_EQ(cnrtMemcpyAsync(data, host.data(), host.size(), first_, cnrtMemcpyHostToDev),
            cnrtSuccess);
  ASSERT_EQ(cnrtPlaceNotifier(end_, first_), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 1010);  // 24 GB/s, and 10 us to begin: mlu590.card
}

TEST_F(Queues, DefaultQueue) {
  ASSERT_EQ(cnrtPlaceNotifier(start_, nullptr), cnrtSuccess);
  Run(nullptr, 3);
  ASSERT_EQ(cnrtPlaceNotifier(end_, nullptr), cnrtSuccess);
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  EXPECT_FLOAT_EQ(Duration(), 3);
}

TEST_F(Queues, MisuseIsAnError) {
  ASSERT_EQ(cnrtQueueDestroy(first_), cnrtSuccess);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cnrtQueueSync(first_), cnrtErrorInvalidResourceHandle);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cnrtQueueSync: error: there is no such queue: it was not created, or was destroyed\n");
  EXPECT_EQ(cnrtQueueDestroy(first_), cnrtErrorInvalidResourceHandle);
  EXPECT_EQ(cnrtPlaceNotifier(start_, first_), cnrtErrorInvalidResourceHandle);
  char byte = 0;
  EXPECT_EQ(cnrtMemcpyAsync(&byte, &byte, 1, first_, cnrtMemcpyHostToHost),
            cnrtErrorInvalidResourceHandle);
  float microseconds = 0;
  EXPECT_EQ(cnrtNotifierDuration(start_, end_, &microseconds), cnrtErrorNotReady);
  ASSERT_EQ(cnrtNotifierDestroy(end_), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDuration(start_, end_, &microseconds), cnrtErrorInvalidResourceHandle);
}

TEST_F(Queues, HostFunctionsRun) {
  int calls = 0;
  const auto count = [](void* calls) { ++*static_cast<int*>(calls); };
  EXPECT_EQ(cnrtInvokeHostFunc(first_, count, &calls), cnrtSuccess);
  EXPECT_EQ(calls, 1);
}

TEST_F(Queues, AStoppedKernelStaysTheDevicesError) {
  void* data = nullptr;
  ASSERT_EQ(cnrtMalloc(&data, 8), cnrtSuccess);
  bang::CurrentDevice().SetStickyError(cnrtErrorKernelTrap, "a race");
  bang::CurrentDevice().SetStickyError(cnrtErrorAssert, "an assertion");
  EXPECT_EQ(cnrtQueueSync(first_), cnrtErrorKernelTrap);
  EXPECT_EQ(cnrtMemset(data, 0, 8), cnrtErrorKernelTrap);
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorKernelTrap);
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorKernelTrap);
  EXPECT_STREQ(bangErrorText(), "a race");
  EXPECT_EQ(cnrtSetDevice(1), cnrtSuccess);
  EXPECT_EQ(cnrtGetLastError(), cnrtSuccess);  // the other device's
  EXPECT_STREQ(bangErrorText(), "");
  EXPECT_EQ(cnrtSyncDevice(), cnrtSuccess);
  EXPECT_EQ(cnrtSetDevice(0), cnrtSuccess);
  EXPECT_EQ(cnrtDeviceReset(), cnrtSuccess);
  EXPECT_EQ(cnrtGetLastError(), cnrtSuccess);
  EXPECT_STREQ(bangErrorText(), "");
  EXPECT_EQ(cnrtMemset(data, 0, 8), cnrtErrorArgsInvalid);  // the reset freed it
  EXPECT_EQ(cnrtQueueSync(first_), cnrtErrorInvalidResourceHandle);
}

}  // namespace
