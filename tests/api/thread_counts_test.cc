// SPDX-License-Identifier: Apache-2.0
//
// How many threads a handle may use: from the environment, and by detopsSetThreads.
#include <gtest/gtest.h>
#include <sched.h>

#include <climits>
#include <string>

#include "support/environment.h"
#include "support/handle.h"

namespace detops::test {
namespace {

// Of a new handle under that DETOPS_THREADS; the library's text where there is none.
std::string ThreadsUnder(const char* variable, const char* of_openmp = nullptr) {
  const ScopedEnvironment environment("DETOPS_THREADS", variable);
  const ScopedEnvironment openmp("OMP_NUM_THREADS", of_openmp);
  mluOpHandle_t handle = nullptr;
  if (detopsCreate(&handle, "cpu") != MLUOP_STATUS_SUCCESS) return detopsGetLastErrorMessage();
  const int threads = detopsGetThreads(handle);
  EXPECT_OK(mluOpDestroy(handle));
  return std::to_string(threads);
}

TEST(ThreadCounts, ComeFromTheEnvironment) {
  EXPECT_EQ(ThreadsUnder("3"), "3");
  EXPECT_EQ(ThreadsUnder("4096"), "4096");
  const std::string all = ThreadsUnder(nullptr);
  EXPECT_GE(std::stoi(all), 1);
  EXPECT_EQ(ThreadsUnder(""), all);
  EXPECT_EQ(ThreadsUnder("0"), all);
}

// They took gigabytes, or overflowed, or were taken for the default.
TEST(ThreadCounts, OutOfRangeInTheEnvironmentAreRefused) {
  for (const std::string wrong : {"4097", "10000000", "2147483647", "99999999999999999999", "-1",
                                  "many", "4 threads", "1e3"}) {
    EXPECT_EQ(ThreadsUnder(wrong.c_str()),
              "detopsCreate: DETOPS_THREADS: is \"" + wrong +
                  "\", expected the largest number of threads per handle, 1 to 4096, or 0 for what "
                  "the machine runs at once");
  }
}

TEST(ThreadCounts, ComeFromOpenMpsVariableWhereOursIsNotSet) {
  EXPECT_EQ(ThreadsUnder(nullptr, "3"), "3");
  EXPECT_EQ(ThreadsUnder("", " 5 "), "5");
  EXPECT_EQ(ThreadsUnder(nullptr, "6,2,1"), "6");
  EXPECT_EQ(ThreadsUnder(nullptr, "6 , 2"), "6");
  EXPECT_EQ(ThreadsUnder("2", "3"), "2");
  EXPECT_EQ(ThreadsUnder("2", "nonsense"), "2");
  EXPECT_EQ(ThreadsUnder("0", "3"), ThreadsUnder(nullptr));
  EXPECT_EQ(ThreadsUnder(nullptr, ""), ThreadsUnder(nullptr));
  for (const std::string wrong : {"0", "-2", "many", ",4", "4;2", "4097", " "}) {
    EXPECT_EQ(ThreadsUnder(nullptr, wrong.c_str()),
              "detopsCreate: OMP_NUM_THREADS: is \"" + wrong +
                  "\", expected a number of threads, 1 to 4096");
  }
}

TEST(ThreadCounts, AreThoseOfTheProcessorsThatTheThreadMayRunOn) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(ThreadsUnder(nullptr), "1");
  EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

TEST(ThreadCounts, AreSet) {
  const Handle handle("cpu:reference");
  const int standard = detopsGetThreads(handle);
  EXPECT_OK(detopsSetThreads(handle, 5));
  EXPECT_EQ(detopsGetThreads(handle), 5);
  for (const int wrong : {-1, 4097, 10000000, INT_MAX, INT_MIN}) {
    EXPECT_EQ(detopsSetThreads(handle, wrong), MLUOP_STATUS_BAD_PARAM);
    EXPECT_EQ(detopsGetLastErrorMessage(),
              "detopsSetThreads: count: is " + std::to_string(wrong) +
                  ", expected 1 to 4096 threads, or 0 for the default");
    EXPECT_EQ(detopsGetThreads(handle), 5);
  }
  EXPECT_OK(detopsSetThreads(handle, 0));
  EXPECT_EQ(detopsGetThreads(handle), standard);
  EXPECT_EQ(detopsGetThreads(nullptr), 0);
}

}  // namespace
}  // namespace detops::test
