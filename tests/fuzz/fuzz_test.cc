// SPDX-License-Identifier: Apache-2.0
//
// One random case to every implementation: the same status, the same bits as the reference. Shapes,
// types, thread counts, alignment and special values are random. A failure prints the seed of its
// case: DETOPS_FUZZ_SEED=n repeats just that one; DETOPS_FUZZ_SECONDS makes the search longer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "fuzz/cases.h"
#include "support/environment.h"
#include "support/handle.h"

namespace detops::test {
namespace {

// One case on one implementation: what came out, and the status.
struct Outcome {
  mluOpStatus_t status;
  Bytes outputs;
};

Outcome RunOn(const std::string& implementation, int threads, const FuzzCase& fuzz_case) {
  const Handle handle(implementation);
  EXPECT_OK(detopsSetThreads(handle, threads));
  Outcome outcome;
  outcome.status = fuzz_case.run(handle, outcome.outputs);
  return outcome;
}

// How many implementations of the operator were compared; -1 after a failure.
int Compare(uint64_t seed) {
  Rng rng(seed);
  const FuzzCase fuzz_case = RandomCase(rng);
  static constexpr int kThreads[] = {1, 2, 7};
  const int threads = kThreads[rng() % 3];
  const Outcome expected = RunOn("cpu:reference", 1, fuzz_case);
  int compared = 0;
  for (const std::string& implementation : ImplementationsOf(fuzz_case.op)) {
    if (implementation == "cpu:reference") continue;
    const Outcome got = RunOn(implementation, threads, fuzz_case);
    if (got.status == MLUOP_STATUS_NOT_SUPPORTED) continue;  // not on this processor
    ++compared;
    if (got.status != expected.status || got.outputs != expected.outputs) {
      ADD_FAILURE() << fuzz_case.description << " on " << implementation << " with " << threads
                    << " threads differs from the reference: DETOPS_FUZZ_SEED=" << seed;
      return -1;
    }
  }
  return compared;
}

TEST(Fuzz, EveryImplementationEqualsTheReference) {
  const int64_t only = CountFrom("DETOPS_FUZZ_SEED", -1);
  if (only >= 0) {
    EXPECT_GE(Compare(static_cast<uint64_t>(only)), 0);
    return;
  }
  using Clock = std::chrono::steady_clock;
  const int64_t seconds = CountFrom("DETOPS_FUZZ_SECONDS", 60);
  const uint64_t base = std::random_device()();
  int64_t cases = 0, compared = 0;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  for (; Clock::now() < end; ++cases) {
    const int pairs = Compare(base + static_cast<uint64_t>(cases));
    ASSERT_GE(pairs, 0);
    compared += pairs;
  }
  std::printf("fuzz: %lld cases, %lld comparisons from seed %llu\n", static_cast<long long>(cases),
              static_cast<long long>(compared), static_cast<unsigned long long>(base));
  EXPECT_GT(compared, 0) << "nothing was compared: no implementation but the reference runs here";
}

}  // namespace
}  // namespace detops::test
