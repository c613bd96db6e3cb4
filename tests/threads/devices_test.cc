// SPDX-License-Identifier: Apache-2.0
//
// All devices at once, several threads on each.
#include <gtest/gtest.h>

#include <thread>

#include "support/every_operator.h"
#include "support/handle.h"

namespace detops::test {
namespace {

TEST(Devices, WorkSideBySide) {
  const schema::Problem problem = StandardProblem(schema::Named("bbox_overlaps"));
  const auto run_on = [&](const std::string& device) {
    EXPECT_OK(detopsSetDevice(device.c_str()));
    const schema::Handle handle(device);
    cnrtQueue_t queue = nullptr;
    EXPECT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
    EXPECT_OK(mluOpSetQueue(handle, queue));
    std::vector<std::byte> result;
    {
      schema::Invocation invocation(handle, problem);
      EXPECT_OK(invocation.Prepare());
      EXPECT_OK(invocation.Start());
      EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
      result = BytesOf(invocation);
    }
    EXPECT_OK(mluOpSetQueue(handle, nullptr));
    EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
    return result;
  };
  const std::vector<std::byte> expected = run_on("cpu");
  std::vector<std::thread> threads;
  for (const std::string& device : UsableDevices()) {
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, device] {
        for (int round = 0; round < 5; ++round) EXPECT_EQ(run_on(device), expected) << device;
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK(detopsSetDevice("cpu"));
}

}  // namespace
}  // namespace detops::test
