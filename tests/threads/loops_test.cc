// SPDX-License-Identifier: Apache-2.0
//
// Loops that several threads of the library work on: every operator, on problems large enough.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <deque>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/every_operator.h"

namespace detops::test {
namespace {

constexpr int kThreads = 4;

struct Expected {
  schema::Problem problem;
  std::vector<std::byte> answer;  // on one thread
};

std::vector<std::byte> AnswerOn(int threads, const schema::Problem& problem) {
  const Handle handle;
  EXPECT_OK(detopsSetThreads(handle, threads));
  schema::Invocation invocation(handle, problem);
  EXPECT_OK(invocation.Prepare());
  EXPECT_OK(invocation.Start());
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  return BytesOf(invocation);
}

// Each form of each operator.
const std::deque<Expected>& AllExpected() {
  static const std::deque<Expected> all = [] {
    std::deque<Expected> list;
    for (const schema::Schema* schema : schema::All()) {
      for (size_t form = 0; form < schema->forms.size(); ++form) {
        Expected& expected = list.emplace_back(Expected{ProblemForThreads(*schema, form), {}});
        expected.answer = AnswerOn(1, expected.problem);
      }
    }
    return list;
  }();
  return all;
}

int64_t ThreadsOfThisProcess() {
  int64_t threads = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++threads;
  }
  return threads;
}

TEST(Loops, GiveTheSameOnSeveralThreads) {
  for (const Expected& expected : AllExpected()) {
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(AnswerOn(kThreads, expected.problem), expected.answer)
          << expected.problem.schema->name;
    }
  }
  EXPECT_GE(ThreadsOfThisProcess(), kThreads);  // else nothing was shared
}

// Some libraries flush tiny numbers to zero in every thread that loads them; some programs round
// intervals outwards.
TEST(Loops, WhateverTheCallerHasSetForFloats) {
  std::fenv_t usual;
  std::fegetenv(&usual);
  for (const Expected& expected : AllExpected()) {
    for (const int threads : {1, kThreads}) {
      std::fesetround(FE_UPWARD);
#ifdef __SSE__
      __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);  // tiny numbers are zero
#endif
      const std::vector<std::byte> answer = AnswerOn(threads, expected.problem);
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
      std::fesetenv(&usual);
      EXPECT_EQ(answer, expected.answer) << expected.problem.schema->name;
    }
  }
}

TEST(Loops, OfSeveralHandlesShareTheWorkers) {
  const std::deque<Expected>& all = AllExpected();
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      for (size_t i = 0; i < all.size(); ++i) {
        const Expected& expected = all[(i + caller) % all.size()];
        EXPECT_EQ(AnswerOn(kThreads, expected.problem), expected.answer)
            << expected.problem.schema->name;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// ThreadSanitizer lets no child have threads of its own.
#ifndef __SANITIZE_THREAD__
TEST(Loops, WorkInAChildAfterAFork) {
  const std::deque<Expected>& all = AllExpected();
  const auto right = [&] {
    for (const Expected& expected : all) {
      if (AnswerOn(kThreads, expected.problem) != expected.answer) return false;
    }
    return true;
  };
  const Handle inherited;
  EXPECT_OK(detopsSetThreads(inherited, kThreads));
  schema::Invocation invocation(inherited, all.back().problem);
  EXPECT_OK(invocation.Prepare());
  EXPECT_OK(invocation.Start());
  EXPECT_TRUE(right());  // has started workers, which the child has not
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that waits for a thread it does not have is killed
    invocation.Poison();
    if (ThreadsOfThisProcess() != 1 || invocation.Start() != MLUOP_STATUS_SUCCESS) _exit(1);
    if (BytesOf(invocation) != all.back().answer) _exit(2);
    if (!right()) _exit(3);
    _exit(ThreadsOfThisProcess() == kThreads ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

}  // namespace
}  // namespace detops::test
