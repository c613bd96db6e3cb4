// SPDX-License-Identifier: Apache-2.0
//
// cnrt.h on the thread's current device.
#include "cnrt.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "detops/detops.h"

namespace {

constexpr size_t kBytes = 1000;

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes) { EXPECT_EQ(cnrtMalloc(&data_, bytes), cnrtSuccess); }
  ~DeviceMemory() { EXPECT_EQ(cnrtFree(data_), cnrtSuccess); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  operator void*() const { return data_; }

 private:
  void* data_ = nullptr;
};

std::vector<uint8_t> Pattern() {
  std::vector<uint8_t> bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), uint8_t{7});
  return bytes;
}

std::vector<uint8_t> Download(const void* device) {
  std::vector<uint8_t> bytes(kBytes);
  EXPECT_EQ(cnrtMemcpy(bytes.data(), device, kBytes, cnrtMemcpyDevToHost), cnrtSuccess);
  return bytes;
}

bool LastErrorNames(const std::string& function_and_argument) {
  return std::string(detopsGetLastErrorMessage()).rfind(function_and_argument, 0) == 0;
}

TEST(Cnrt, ErrorsHaveTheNamesOfTheirEnumerators) {
  const char* names[] = {"cnrtSuccess",    "cnrtErrorNotReady", "cnrtErrorInit",
                         "cnrtErrorNoMem", "cnrtErrorNoDevice", "cnrtErrorArgsInvalid",
                         "cnrtErrorSys"};
  for (int value = 0; value <= 6; ++value) {
    EXPECT_STREQ(cnrtGetErrorStr(static_cast<cnrtRet_t>(value)), names[value]);
  }
  for (int value : {-1, 7, 1000}) {
    EXPECT_STREQ(cnrtGetErrorStr(static_cast<cnrtRet_t>(value)), "cnrtErrorUnknown");
  }
}

TEST(Cnrt, DevicesAreCountedAndChosen) {
  unsigned count = 0;
  EXPECT_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  ASSERT_GE(count, 1u);
  for (int ordinal = static_cast<int>(count) - 1; ordinal >= 0; --ordinal) {
    int current = -1;
    EXPECT_EQ(cnrtSetDevice(ordinal), cnrtSuccess);
    EXPECT_EQ(cnrtGetDevice(&current), cnrtSuccess);
    EXPECT_EQ(current, ordinal);
  }
}

TEST(Cnrt, DevicesThatAreNotThereAreRefused) {
  unsigned count = 0;
  ASSERT_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  for (int ordinal : {-1, static_cast<int>(count), 1000}) {
    EXPECT_EQ(cnrtSetDevice(ordinal), cnrtErrorArgsInvalid);
    EXPECT_TRUE(LastErrorNames("cnrtSetDevice: ordinal: is " + std::to_string(ordinal)));
  }
  int current = -1;
  EXPECT_EQ(cnrtGetDevice(&current), cnrtSuccess);
  EXPECT_EQ(current, 0);
  EXPECT_EQ(cnrtGetDeviceCount(nullptr), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtGetDeviceCount: count: "));
  EXPECT_EQ(cnrtGetDevice(nullptr), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtGetDevice: ordinal: "));
}

TEST(Cnrt, NoBytesCanBeAllocatedAndFreed) {
  void* data = nullptr;
  EXPECT_EQ(cnrtMalloc(&data, 0), cnrtSuccess);
  EXPECT_EQ(cnrtMemset(data, 1, 0), cnrtSuccess);
  EXPECT_EQ(cnrtFree(data), cnrtSuccess);
  EXPECT_EQ(cnrtFree(nullptr), cnrtSuccess);
}

TEST(Cnrt, AllocationThatFailsSaysSo) {
  void* data = nullptr;
  EXPECT_EQ(cnrtMalloc(nullptr, kBytes), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtMalloc: ptr: "));
  EXPECT_EQ(cnrtMalloc(&data, SIZE_MAX), cnrtErrorNoMem);
  EXPECT_EQ(data, nullptr);
  EXPECT_TRUE(LastErrorNames("cnrtMalloc: "));
}

TEST(Cnrt, MemsetFills) {
  const DeviceMemory device(kBytes);
  EXPECT_EQ(cnrtMemset(device, 0x5a, kBytes), cnrtSuccess);
  EXPECT_EQ(Download(device), std::vector<uint8_t>(kBytes, 0x5a));
  EXPECT_EQ(cnrtMemset(device, 0, 1), cnrtSuccess);
  EXPECT_EQ(Download(device)[0], 0);
  EXPECT_EQ(Download(device)[1], 0x5a);
  EXPECT_EQ(cnrtMemset(nullptr, 0, 0), cnrtSuccess);
  EXPECT_EQ(cnrtMemset(nullptr, 0, 1), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtMemset: ptr: "));
}

TEST(Cnrt, CopiesInEveryDirection) {
  const std::vector<uint8_t> pattern = Pattern();
  const DeviceMemory first(kBytes), second(kBytes);
  EXPECT_EQ(cnrtMemcpy(first, pattern.data(), kBytes, cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(second, first, kBytes, cnrtMemcpyDevToDev), cnrtSuccess);
  EXPECT_EQ(Download(second), pattern);
  std::vector<uint8_t> host(kBytes);
  EXPECT_EQ(cnrtMemcpy(host.data(), pattern.data(), kBytes, cnrtMemcpyHostToHost), cnrtSuccess);
  EXPECT_EQ(host, pattern);
}

TEST(Cnrt, BadCopiesAreRefusedAndWriteNothing) {
  const std::vector<uint8_t> pattern = Pattern();
  const DeviceMemory device(kBytes);
  ASSERT_EQ(cnrtMemset(device, 0, kBytes), cnrtSuccess);
  for (int bad : {-1, 4}) {
    const auto direction = static_cast<cnrtMemTransDir_t>(bad);
    EXPECT_EQ(cnrtMemcpy(device, pattern.data(), kBytes, direction), cnrtErrorArgsInvalid);
    EXPECT_TRUE(LastErrorNames("cnrtMemcpy: dir: "));
    EXPECT_EQ(cnrtMemcpyAsync(device, pattern.data(), kBytes, nullptr, direction),
              cnrtErrorArgsInvalid);
    EXPECT_TRUE(LastErrorNames("cnrtMemcpyAsync: dir: "));
  }
  EXPECT_EQ(cnrtMemcpy(nullptr, pattern.data(), kBytes, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtMemcpy: dst: "));
  EXPECT_EQ(cnrtMemcpy(device, nullptr, kBytes, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtMemcpy: src: "));
  EXPECT_EQ(Download(device), std::vector<uint8_t>(kBytes, 0));
}

TEST(Cnrt, CopiesOfNoBytesNeedNoPointers) {
  for (auto direction :
       {cnrtMemcpyHostToDev, cnrtMemcpyDevToDev, cnrtMemcpyDevToHost, cnrtMemcpyHostToHost}) {
    EXPECT_EQ(cnrtMemcpy(nullptr, nullptr, 0, direction), cnrtSuccess);
    EXPECT_EQ(cnrtMemcpyAsync(nullptr, nullptr, 0, nullptr, direction), cnrtSuccess);
  }
}

TEST(Cnrt, CopiesOnQueuesAreThereAfterASync) {
  const std::vector<uint8_t> pattern = Pattern();
  const DeviceMemory device(kBytes);
  cnrtQueue_t created = nullptr;
  ASSERT_EQ(cnrtQueueCreate(&created), cnrtSuccess);
  ASSERT_NE(created, nullptr);
  for (cnrtQueue_t queue : {created, cnrtQueue_t{nullptr}}) {
    std::vector<uint8_t> host(kBytes);
    EXPECT_EQ(cnrtMemcpyAsync(device, pattern.data(), kBytes, queue, cnrtMemcpyHostToDev),
              cnrtSuccess);
    EXPECT_EQ(cnrtMemcpyAsync(host.data(), device, kBytes, queue, cnrtMemcpyDevToHost),
              cnrtSuccess);
    EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
    EXPECT_EQ(host, pattern);
    EXPECT_EQ(cnrtMemset(device, 0, kBytes), cnrtSuccess);
  }
  EXPECT_EQ(cnrtQueueDestroy(created), cnrtSuccess);
}

TEST(Cnrt, NullQueuesAreOnlyRefusedWhereTheyHaveNoMeaning) {
  EXPECT_EQ(cnrtQueueSync(nullptr), cnrtSuccess);
  EXPECT_EQ(cnrtQueueCreate(nullptr), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtQueueCreate: queue: "));
  EXPECT_EQ(cnrtQueueDestroy(nullptr), cnrtErrorArgsInvalid);
  EXPECT_TRUE(LastErrorNames("cnrtQueueDestroy: queue: "));
}

TEST(CnrtDeathTest, CheckEndsTheProgramWithTheErrorsName) {
  CNRT_CHECK(cnrtQueueSync(nullptr));
  EXPECT_EXIT(CNRT_CHECK(cnrtQueueCreate(nullptr)), ::testing::ExitedWithCode(EXIT_FAILURE),
              "cnrtQueueCreate.nullptr.: cnrtErrorArgsInvalid");
}

}  // namespace
