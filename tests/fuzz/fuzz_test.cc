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

using Clock = std::chrono::steady_clock;

// Of all time, what simulated devices may take: they are slow, and the others find more.
constexpr double kSimulatedShare = 0.25;
Clock::duration simulated_time = {};
const Clock::time_point begin = Clock::now();

bool IsTimeToSimulate() {
  const std::chrono::duration<double> all = Clock::now() - begin, simulated = simulated_time;
  return simulated.count() <= kSimulatedShare * all.count();
}

// Each MLU has kernels of its own; of other devices one is enough.
std::vector<std::string> DevicesFor(const std::string& implementation) {
  if (DeviceOf(implementation) != "mlu") return {DeviceOf(implementation)};
  std::vector<std::string> devices = UsableDevices();
  std::erase_if(devices, [](const std::string& name) { return DeviceOf(name) != "mlu"; });
  return devices;
}

Outcome RunOn(const std::string& device, const std::string& implementation, int threads,
              const schema::Problem& problem, size_t unaligned) {
  EXPECT_OK(detopsSetDevice(device.c_str()));
  const schema::Handle handle(device);
  EXPECT_OK(detopsSetImplementation(handle, implementation.c_str()));
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
int Compare(uint64_t seed, bool always_simulated = false) {
  schema::Rng rng(seed);
  const auto& schemas = schema::All();
  const schema::Problem problem = schemas[rng() % schemas.size()]->random(rng);
  static constexpr int kThreads[] = {1, 2, 7};
  const int threads = kThreads[rng() % 3];
  const size_t unaligned = rng() % 16;
  const Outcome expected = RunOn("cpu", "cpu:reference", 1, problem, unaligned);
  int compared = 0;
  for (const std::string& implementation : ImplementationsOf(problem.schema->name)) {
    if (implementation == "cpu:reference") continue;
    const bool simulated = DeviceOf(implementation) == "mlu";
    if (simulated && !always_simulated && !IsTimeToSimulate()) continue;
    const Clock::time_point start = Clock::now();
    for (const std::string& device : DevicesFor(implementation)) {
      const Outcome got = RunOn(device, implementation, threads, problem, unaligned);
      if (got.status == MLUOP_STATUS_NOT_SUPPORTED) continue;
      ++compared;
      if (!SameBits(got, expected)) {
        ADD_FAILURE() << problem.schema->name << " " << problem.schema->describe(problem) << " on "
                      << device << " by " << implementation << " with " << threads
                      << " threads differs from the reference: DETOPS_FUZZ_SEED=" << seed;
        return -1;
      }
    }
    if (simulated) simulated_time += Clock::now() - start;
  }
  return compared;
}

TEST(Fuzz, EveryImplementationEqualsTheReference) {
  const int64_t only = CountFrom("DETOPS_FUZZ_SEED", -1);
  if (only >= 0) {
    EXPECT_GE(Compare(static_cast<uint64_t>(only), /*always_simulated=*/true), 0);
    return;
  }
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
