// SPDX-License-Identifier: Apache-2.0
//
// One random case to every implementation: the same status, the same bits as the reference. Shapes,
// types, thread counts, alignment and special values are random. A failure prints the seed of its
// case: DETOPS_FUZZ_SEED=n repeats just that one; DETOPS_FUZZ_SECONDS makes the search longer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <random>

#include "fuzz/outcome.h"
#include "schema/invocation.h"
#include "support/environment.h"
#include "support/handle.h"

namespace detops::test {
namespace {

using fuzz::Outcome;

Outcome RunOn(const std::string& implementation, int threads, const schema::Problem& problem,
              size_t unaligned) {
  const Handle handle(implementation);
  EXPECT_OK(detopsSetThreads(handle, threads));
  schema::Invocation invocation(handle, problem, {.sets = 1, .unaligned = unaligned});
  EXPECT_OK(invocation.Prepare());
  Outcome outcome;
  outcome.status = invocation.Start();
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  outcome.results = invocation.Results();
  EXPECT_TRUE(invocation.GuardsIntact()) << "something wrote beside a buffer";
  return outcome;
}

// How many implementations of the operator were compared; -1 after a failure.
int Compare(uint64_t seed) {
  schema::Rng rng(seed);
  const auto& schemas = schema::All();
  const schema::Problem problem = schemas[rng() % schemas.size()]->random(rng);
  static constexpr int kThreads[] = {1, 2, 7};
  const int threads = kThreads[rng() % 3];
  const size_t unaligned = rng() % 16;
  const Outcome expected = RunOn("cpu:reference", 1, problem, unaligned);
  int compared = 0;
  for (const std::string& implementation : ImplementationsOf(problem.schema->name)) {
    if (implementation == "cpu:reference") continue;
    const Outcome got = RunOn(implementation, threads, problem, unaligned);
    if (got.status == MLUOP_STATUS_NOT_SUPPORTED) continue;
    ++compared;
    if (!SameBits(got, expected)) {
      ADD_FAILURE() << problem.schema->name << " " << problem.schema->describe(problem) << " on "
                    << implementation << " with " << threads
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
