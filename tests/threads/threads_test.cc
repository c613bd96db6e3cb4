// SPDX-License-Identifier: Apache-2.0
//
// Many threads at once, each with a handle of its own. A program by itself, for ThreadSanitizer.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/every_operator.h"

namespace detops::test {
namespace {

constexpr unsigned kThreads = 8;
constexpr int kRounds = 25;

template <class Body>
void OnAllThreads(Body&& body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::vector<std::byte>> AnswersOfOneThread() {
  std::vector<std::vector<std::byte>> answers;
  for (unsigned seed = 0; seed < kThreads; ++seed) answers.push_back(EveryOperator(seed).Run());
  return answers;
}

TEST(Threads, GetTheAnswersOfOneThread) {
  const std::vector<std::vector<std::byte>> expected = AnswersOfOneThread();
  // Different problems have different answers, so a mix-up would show.
  for (unsigned i = 1; i < kThreads; ++i) ASSERT_NE(expected[i], expected[0]);
  OnAllThreads([&](unsigned thread) {
    for (int round = 0; round < kRounds; ++round) {
      // All over again at times, so that creation and destruction overlap with calls.
      EveryOperator problems(thread);
      EXPECT_EQ(problems.Run(), expected[thread]);
      EXPECT_EQ(problems.Run(), expected[thread]);
    }
  });
}

TEST(Threads, KeepTheirErrorTexts) {
  const std::vector<std::vector<std::byte>> expected = AnswersOfOneThread();
  OnAllThreads([&](unsigned thread) {
    EveryOperator problems(thread);
    const Desc boxes(MLUOP_DTYPE_FLOAT, {1, 10 + thread}), output(MLUOP_DTYPE_INT32, {1});
    const std::string text =
        "mluOpPolyNms: boxes: dim 1 is " + std::to_string(10 + thread) + ", expected 9";
    for (int round = 0; round < kRounds; ++round) {
      if (thread % 2 == 0) {
        EXPECT_EQ(mluOpPolyNms(problems.handle(), boxes, nullptr, 0.5f, nullptr, 0, output, nullptr,
                               nullptr),
                  MLUOP_STATUS_BAD_PARAM);
      }
      // The others' failures don't show here, and this thread's successes don't hide its own.
      EXPECT_EQ(problems.Run(), expected[thread]);
      EXPECT_EQ(detopsGetLastErrorMessage(), thread % 2 == 0 ? text : "");
    }
  });
}

TEST(Threads, ListAndChooseAtTheSameTime) {
  OnAllThreads([](unsigned thread) {
    for (int round = 0; round < kRounds; ++round) {
      size_t devices = 0, implementations = 0;
      EXPECT_OK(detopsListDevices(nullptr, 0, &devices));
      EXPECT_OK(detopsListImplementations(nullptr, 0, &implementations));
      EXPECT_OK(detopsSetDevice("cpu"));
      const Handle handle("cpu:reference");
      EXPECT_STREQ(detopsGetDevice(handle), "cpu");
      mluOpHandle_t none = nullptr;
      const std::string name = "device of thread " + std::to_string(thread);
      EXPECT_EQ(detopsCreate(&none, name.c_str()), MLUOP_STATUS_BAD_PARAM);
      EXPECT_NE(std::string(detopsGetLastErrorMessage()).find('"' + name + '"'), std::string::npos);
    }
  });
}

}  // namespace
}  // namespace detops::test
