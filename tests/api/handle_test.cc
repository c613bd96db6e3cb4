// SPDX-License-Identifier: Apache-2.0
//
// Handles: life, queue, modes, and the text of the last error.
#include "support/handle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

namespace detops::test {
namespace {

constexpr auto kBadParam = MLUOP_STATUS_BAD_PARAM;

std::string LastError() { return detopsGetLastErrorMessage(); }

class Queue {
 public:
  Queue() { EXPECT_EQ(cnrtQueueCreate(&queue_), cnrtSuccess); }
  ~Queue() { EXPECT_EQ(cnrtQueueDestroy(queue_), cnrtSuccess); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  operator cnrtQueue_t() const { return queue_; }

 private:
  cnrtQueue_t queue_ = nullptr;
};

TEST(Handles, AreCreatedAndDestroyed) {
  mluOpHandle_t first = nullptr, second = nullptr;
  ASSERT_OK(mluOpCreate(&first));
  ASSERT_OK(mluOpCreate(&second));
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_OK(mluOpUpdateContextInformation(first));
  EXPECT_OK(mluOpDestroy(first));
  EXPECT_OK(mluOpDestroy(second));
}

TEST(Handles, NullIsRefusedEverywhere) {
  const Handle handle;
  cnrtQueue_t queue = nullptr;
  mluOpQuantizeRoundMode_t round_mode;
  mluOpAtomicsMode_t atomics_mode;
  EXPECT_EQ(mluOpCreate(nullptr), kBadParam);
  EXPECT_EQ(LastError().rfind("mluOpCreate: handle: ", 0), 0u) << LastError();
  EXPECT_EQ(detopsCreate(nullptr, "cpu"), kBadParam);
  EXPECT_EQ(mluOpDestroy(nullptr), kBadParam);
  EXPECT_EQ(LastError().rfind("mluOpDestroy: handle: ", 0), 0u) << LastError();
  EXPECT_EQ(mluOpUpdateContextInformation(nullptr), kBadParam);
  EXPECT_EQ(mluOpSetQueue(nullptr, nullptr), kBadParam);
  EXPECT_EQ(mluOpGetQueue(nullptr, &queue), kBadParam);
  EXPECT_EQ(mluOpGetQueue(handle, nullptr), kBadParam);
  EXPECT_EQ(mluOpSetQuantizeRoundMode(nullptr, MLUOP_ROUND_HALF_UP), kBadParam);
  EXPECT_EQ(mluOpGetQuantizeRoundMode(nullptr, &round_mode), kBadParam);
  EXPECT_EQ(mluOpGetQuantizeRoundMode(handle, nullptr), kBadParam);
  EXPECT_EQ(mluOpSetAtomicsMode(nullptr, MLUOP_ATOMICS_ALLOWED), kBadParam);
  EXPECT_EQ(mluOpGetAtomicsMode(nullptr, &atomics_mode), kBadParam);
  EXPECT_EQ(mluOpGetAtomicsMode(handle, nullptr), kBadParam);
  EXPECT_EQ(detopsSetImplementation(nullptr, "cpu:reference"), kBadParam);
  EXPECT_EQ(detopsGetDevice(nullptr), nullptr);
  EXPECT_STREQ(detopsGetLastImplementation(nullptr), "");
}

TEST(Handles, KeepTheirQueue) {
  const Handle handle;
  const Queue queue;
  cnrtQueue_t got = queue;
  EXPECT_OK(mluOpGetQueue(handle, &got));
  EXPECT_EQ(got, nullptr) << "a new handle has the default queue";
  EXPECT_OK(mluOpSetQueue(handle, queue));
  EXPECT_OK(mluOpGetQueue(handle, &got));
  EXPECT_EQ(got, static_cast<cnrtQueue_t>(queue));
  EXPECT_OK(mluOpSetQueue(handle, nullptr));
  EXPECT_OK(mluOpGetQueue(handle, &got));
  EXPECT_EQ(got, nullptr);
}

// Existing programs read them with a struct of their own.
TEST(Handles, BeginWithQueueAndArch) {
  struct ClientsView {
    cnrtQueue_t queue;
    int arch;
  };
  static_assert(offsetof(ClientsView, arch) == sizeof(void*));
  const Handle handle;
  const Queue queue;
  ClientsView view;
  std::memcpy(&view, static_cast<mluOpHandle_t>(handle), sizeof(view));
  EXPECT_EQ(view.queue, nullptr);
  EXPECT_EQ(view.arch, 0) << "no chip that such programs know";
  EXPECT_OK(mluOpSetQueue(handle, queue));
  std::memcpy(&view, static_cast<mluOpHandle_t>(handle), sizeof(view));
  EXPECT_EQ(view.queue, static_cast<cnrtQueue_t>(queue));
}

TEST(Handles, KeepTheirRoundMode) {
  const Handle handle;
  mluOpQuantizeRoundMode_t mode = MLUOP_ROUND_HALF_UP;
  EXPECT_OK(mluOpGetQuantizeRoundMode(handle, &mode));
  EXPECT_EQ(mode, MLUOP_ROUND_HALF_TO_EVEN);
  for (auto wanted : {MLUOP_ROUND_HALF_UP, MLUOP_ROUND_HALF_OFF_ZERO}) {
    EXPECT_OK(mluOpSetQuantizeRoundMode(handle, wanted));
    EXPECT_OK(mluOpGetQuantizeRoundMode(handle, &mode));
    EXPECT_EQ(mode, wanted);
  }
  for (int bad : {-1, 3}) {
    EXPECT_EQ(mluOpSetQuantizeRoundMode(handle, static_cast<mluOpQuantizeRoundMode_t>(bad)),
              kBadParam);
  }
  EXPECT_EQ(LastError().rfind("mluOpSetQuantizeRoundMode: round_mode: ", 0), 0u) << LastError();
  EXPECT_OK(mluOpGetQuantizeRoundMode(handle, &mode));
  EXPECT_EQ(mode, MLUOP_ROUND_HALF_OFF_ZERO);
}

TEST(Handles, KeepTheirAtomicsMode) {
  const Handle handle;
  mluOpAtomicsMode_t mode = MLUOP_ATOMICS_ALLOWED;
  EXPECT_OK(mluOpGetAtomicsMode(handle, &mode));
  EXPECT_EQ(mode, MLUOP_ATOMICS_NOT_ALLOWED);
  EXPECT_OK(mluOpSetAtomicsMode(handle, MLUOP_ATOMICS_ALLOWED));
  for (int bad : {-1, 0, 3}) {
    EXPECT_EQ(mluOpSetAtomicsMode(handle, static_cast<mluOpAtomicsMode_t>(bad)), kBadParam);
  }
  EXPECT_EQ(LastError().rfind("mluOpSetAtomicsMode: atomics_mode: ", 0), 0u) << LastError();
  EXPECT_OK(mluOpGetAtomicsMode(handle, &mode));
  EXPECT_EQ(mode, MLUOP_ATOMICS_ALLOWED);
}

TEST(LastErrors, BelongToTheThread) {
  EXPECT_EQ(mluOpDestroy(nullptr), kBadParam);
  std::string in_fresh_thread = "not run", after_failure;
  std::thread([&] {
    in_fresh_thread = LastError();
    EXPECT_EQ(mluOpCreate(nullptr), kBadParam);
    after_failure = LastError();
  }).join();
  EXPECT_EQ(in_fresh_thread, "");
  EXPECT_EQ(after_failure.rfind("mluOpCreate: ", 0), 0u) << after_failure;
  EXPECT_EQ(LastError().rfind("mluOpDestroy: ", 0), 0u) << LastError();
}

TEST(LastErrors, OutliveLaterSuccesses) {
  EXPECT_EQ(mluOpDestroy(nullptr), kBadParam);
  const std::string text = LastError();
  const Handle handle;
  EXPECT_OK(mluOpUpdateContextInformation(handle));
  EXPECT_EQ(LastError(), text);
}

// A name longer than any buffer for the text must not do harm.
TEST(LastErrors, AreCutWhereTheyAreTooLong) {
  mluOpHandle_t handle = nullptr;
  const std::string name(100000, 'x');
  EXPECT_EQ(detopsCreate(&handle, name.c_str()), kBadParam);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(LastError().rfind("detopsCreate: device: ", 0), 0u);
  EXPECT_LT(LastError().size(), name.size());
}

}  // namespace
}  // namespace detops::test
