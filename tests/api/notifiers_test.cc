// SPDX-License-Identifier: Apache-2.0
//
// Time on a device, and what the device says of itself.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "schema/invocation.h"
#include "support/every_operator.h"
#include "support/handle.h"

namespace detops::test {
namespace {

std::string LastError() { return detopsGetLastErrorMessage(); }

detopsDeviceProperties PropertiesOf(const std::string& device) {
  const schema::Handle handle(device);
  detopsDeviceProperties properties;
  std::memset(&properties, 0xcd, sizeof(properties));
  EXPECT_OK(detopsGetDeviceProperties(handle, &properties));
  return properties;
}

class Notifier {
 public:
  Notifier() { EXPECT_EQ(cnrtNotifierCreate(&notifier_), cnrtSuccess); }
  ~Notifier() { EXPECT_EQ(cnrtNotifierDestroy(notifier_), cnrtSuccess); }
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  operator cnrtNotifier_t() const { return notifier_; }

 private:
  cnrtNotifier_t notifier_ = nullptr;
};

template <class Work>
float MicrosecondsOf(cnrtQueue_t queue, const Work& work) {
  const Notifier start, end;
  EXPECT_EQ(cnrtPlaceNotifier(start, queue), cnrtSuccess);
  work();
  EXPECT_EQ(cnrtPlaceNotifier(end, queue), cnrtSuccess);
  EXPECT_EQ(cnrtWaitNotifier(end), cnrtSuccess);
  float microseconds = -1;
  EXPECT_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtSuccess) << LastError();
  return microseconds;
}

// Tests set the current device, and the next ones want the CPU.
class Notifiers : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_OK(detopsSetDevice(GetParam().c_str())); }
  void TearDown() override { EXPECT_OK(detopsSetDevice("cpu")); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Notifiers, ::testing::ValuesIn(UsableDevices()),
                         [](const auto& device) { return TestName(device.param); });

TEST_P(Notifiers, TakeTheTimeOfACall) {
  const schema::Handle handle(GetParam());
  const schema::Problem problem = StandardProblem(schema::Named("bbox_overlaps"));
  schema::Invocation invocation(handle, problem);
  ASSERT_OK(invocation.Prepare());
  cnrtQueue_t queue = nullptr;
  ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  ASSERT_OK(mluOpSetQueue(handle, queue));
  const auto call = [&] { EXPECT_OK(invocation.Start()); };
  const float once = MicrosecondsOf(queue, call), again = MicrosecondsOf(queue, call);
  EXPECT_GT(once, 0);
  EXPECT_GT(again, 0);
  if (PropertiesOf(GetParam()).simulated) {
    EXPECT_EQ(once, again);
    const float twice = MicrosecondsOf(queue, [&] { call(), call(); });
    EXPECT_NEAR(twice, 2 * once, 1e-3f * once);
  }
  EXPECT_GE(MicrosecondsOf(nullptr, [] {}), 0);
  EXPECT_OK(mluOpSetQueue(handle, nullptr));
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
}

TEST(NotifiersOnTheProcessor, HaveTheClocksTime) {
  ASSERT_OK(detopsSetDevice("cpu"));
  const float slept =
      MicrosecondsOf(nullptr, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
  EXPECT_GE(slept, 2000);
}

TEST_P(Notifiers, WrongUsesAreRefused) {
  float microseconds = -1;
  EXPECT_EQ(cnrtNotifierCreate(nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtNotifierDestroy(nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtPlaceNotifier(nullptr, nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtWaitNotifier(nullptr), cnrtErrorArgsInvalid);
  const Notifier start, end;
  EXPECT_EQ(cnrtWaitNotifier(start), cnrtSuccess);  // there is nothing to wait for
  EXPECT_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtErrorArgsInvalid);
  EXPECT_EQ(LastError(), "cnrtNotifierDuration: start: was never placed on a queue");
  EXPECT_EQ(cnrtPlaceNotifier(start, nullptr), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDuration(start, end, &microseconds), cnrtErrorArgsInvalid);
  EXPECT_EQ(LastError(), "cnrtNotifierDuration: end: was never placed on a queue");
  EXPECT_EQ(cnrtNotifierDuration(start, start, nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(microseconds, -1);
}

TEST(NotifiersOfTwoDevices, AreNotMixed) {
  const std::vector<std::string> devices = UsableDevices();
  if (devices.size() < 2) GTEST_SKIP() << "there is one device alone";
  ASSERT_OK(detopsSetDevice(devices[1].c_str()));
  cnrtQueue_t queue = nullptr;
  ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  {
    const Notifier other;
    EXPECT_EQ(cnrtPlaceNotifier(other, queue), cnrtSuccess);
    ASSERT_OK(detopsSetDevice(devices[0].c_str()));
    const Notifier notifier;
    EXPECT_EQ(cnrtPlaceNotifier(notifier, queue), cnrtErrorArgsInvalid);
    EXPECT_EQ(LastError(), "cnrtPlaceNotifier: queue: belongs to " + devices[1] +
                               ", expected one of " + devices[0] + ", as the notifier");
    EXPECT_EQ(cnrtPlaceNotifier(notifier, nullptr), cnrtSuccess);
    float microseconds = -1;
    EXPECT_EQ(cnrtNotifierDuration(notifier, other, &microseconds), cnrtErrorArgsInvalid);
    EXPECT_EQ(microseconds, -1);
  }
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
}

TEST(DeviceProperties, AreThoseOfTheCards) {
  const detopsDeviceProperties cpu = PropertiesOf("cpu");
  EXPECT_FALSE(cpu.simulated);
  EXPECT_EQ(cpu.bytes_per_second, 0);
  const std::vector<std::string> usable = UsableDevices();
  const std::set<std::string> devices(usable.begin(), usable.end());
  const struct {
    const char* name;
    double bytes, operations;
  } cards[] = {{"mlu590", 2048e9, 12 * 4 * 32 * 1.5e9}, {"mlu370", 307.2e9, 8 * 4 * 32 * 1e9}};
  for (const auto& card : cards) {
    if (!devices.contains(card.name)) continue;
    const detopsDeviceProperties mlu = PropertiesOf(card.name);
    if (!mlu.simulated) continue;  // a card of which there are several models
    EXPECT_DOUBLE_EQ(mlu.bytes_per_second, card.bytes) << card.name;
    EXPECT_DOUBLE_EQ(mlu.float_operations_per_second, card.operations) << card.name;
    EXPECT_DOUBLE_EQ(mlu.half_operations_per_second, 2 * card.operations) << card.name;
  }
  const schema::Handle handle("cpu");
  detopsDeviceProperties properties;
  EXPECT_EQ(detopsGetDeviceProperties(nullptr, &properties), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsGetDeviceProperties(handle, nullptr), MLUOP_STATUS_BAD_PARAM);
}

// The one place that says whether the tests of MLU implementations ran. DETOPS_REQUIRE=mlu makes
// their absence a failure.
TEST(Devices, MluIsHere) {
  const std::string reason = WhyNot("mlu");
  const char* required = std::getenv("DETOPS_REQUIRE");
  const std::string list = std::string(",") + (required != nullptr ? required : "") + ",";
  if (reason.empty()) {
    EXPECT_EQ(DeviceOf(ImplementationsOf("bbox_overlaps").front()), "mlu");
  } else if (list.find(",mlu,") != std::string::npos) {
    FAIL() << reason;
  } else {
    GTEST_SKIP() << "no test of an MLU implementation runs here: " << reason;
  }
}

}  // namespace
}  // namespace detops::test
