// SPDX-License-Identifier: Apache-2.0
//
// Many host threads at once; run under ThreadSanitizer, too.
#include <cnrt.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "machine/device.h"

namespace {

TEST(Threads, ShareADevice) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t, &wrong] {
      const auto ok = [&wrong](cnrtRet_t result) { wrong += result != cnrtSuccess; };
      cnrtQueue_t queue;
      cnrtNotifier_t start, end;
      ok(cnrtQueueCreate(&queue));
      ok(cnrtNotifierCreate(&start));
      ok(cnrtNotifierCreate(&end));
      for (int round = 0; round < 100; ++round) {
        void* data = nullptr;
        std::vector<int> host(100 + t, t * 1000 + round), back(100 + t);
        const size_t bytes = host.size() * sizeof(int);
        ok(cnrtMalloc(&data, bytes));
        ok(cnrtPlaceNotifier(start, queue));
        ok(cnrtMemcpyAsync(data, host.data(), bytes, queue, cnrtMemcpyHostToDev));
        bang::DeviceOf(queue).Advance(queue, bang::Engine::kCores, 1);
        ok(cnrtPlaceNotifier(end, queue));
        ok(cnrtQueueSync(queue));
        ok(cnrtMemcpy(back.data(), data, bytes, cnrtMemcpyDevToHost));
        float microseconds = 0;
        ok(cnrtNotifierDuration(start, end, &microseconds));
        wrong += microseconds <= 0;
        wrong += back != host;
        ok(cnrtFree(data));
      }
      // An error is the thread's own.
      if (t == 3) cnrtFree(&wrong);
      wrong += cnrtGetLastError() != (t == 3 ? cnrtErrorArgsInvalid : cnrtSuccess);
      ok(cnrtQueueDestroy(queue));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
