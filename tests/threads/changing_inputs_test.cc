// SPDX-License-Identifier: Apache-2.0
//
// Inputs that another thread changes during the call. The results may be anything; what is promised
// is that nothing else is read or written, and that the call ends. AddressSanitizer sees reads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <thread>

#include "support/environment.h"
#include "support/every_operator.h"

// The changes are data races, by intent.
#ifndef __SANITIZE_THREAD__
namespace detops::test {
namespace {

// Writes to the array until told to stop: runs of values that were elsewhere in it, and now and
// then others, so that orders, counts and places change between two reads of the same element.
void KeepChanging(void* data, size_t bytes, uint64_t seed, const std::atomic<bool>& stop) {
  auto* const floats = static_cast<volatile float*>(data);
  const size_t count = bytes / sizeof(float);
  schema::Rng rng(seed);
  constexpr std::array kOthers = {0.0f, -1.0f, 1e30f, INFINITY, -INFINITY, NAN, 1e-30f};
  while (!stop) {
    const size_t from = rng() % count, to = rng() % count, length = rng() % 4096;
    const bool other = rng() % 8 == 0;
    const float value = kOthers[rng() % kOthers.size()];
    for (size_t i = 0; i < length && std::max(from, to) + i < count; ++i) {
      floats[to + i] = other ? value : static_cast<float>(floats[from + i]);
    }
  }
}

class ChangingInputs : public ::testing::TestWithParam<std::string> {};

TEST_P(ChangingInputs, TouchNoOtherMemory) {
  for (const schema::Schema* schema : schema::All()) {
    for (const std::string& implementation : ImplementationsOf(schema->name)) {
      if (DeviceOf(implementation) != "cpu") continue;
      SCOPED_TRACE(implementation + " of " + schema->name);
      const Handle handle(implementation);
      EXPECT_OK(detopsSetThreads(handle, 2));
      const std::string scene =
          GetParam() == "first" ? schema->scenes.front().name : schema->scenes.back().name;
      // Large enough for threads; the reference, which compares all with all, has none.
      const schema::Problem problem = implementation == "cpu:reference"
                                          ? StandardProblem(*schema, 0, scene)
                                          : ProblemForThreads(*schema, 0, scene);
      for (size_t input = 0; input < problem.inputs.size(); ++input) {
        schema::Invocation invocation(handle, problem);
        ASSERT_OK(invocation.Prepare());
        std::atomic<bool> stop = false;
        std::thread changes([&] {
          KeepChanging(invocation.input(input), problem.inputs[input].bytes().size(), input, stop);
        });
        for (int call = 0; call < (kSlowdown > 1 ? 1 : 3); ++call) EXPECT_OK(invocation.Start());
        stop = true;
        changes.join();
        EXPECT_TRUE(invocation.GuardsIntact());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ChangingInputs, ::testing::Values("first", "last"),
                         [](const auto& scene) { return scene.param; });

}  // namespace
}  // namespace detops::test
#endif
