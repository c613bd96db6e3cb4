// SPDX-License-Identifier: Apache-2.0
//
// Device memory, and what misuse of it says; run with BANG_DEVICE=mlu590,mlu370.
#include <cnrt.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "machine/device.h"

namespace {

std::string StderrOf(const std::function<void()>& what) {
  testing::internal::CaptureStderr();
  what();
  return testing::internal::GetCapturedStderr();
}

class Memory : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cnrtMalloc(&data_, 1000), cnrtSuccess); }
  void TearDown() override {
    EXPECT_EQ(cnrtFree(data_), cnrtSuccess);  // null, where a test freed it
    cnrtGetLastError();
  }
  char* at(int64_t offset) { return static_cast<char*>(data_) + offset; }

  void* data_ = nullptr;
  std::vector<char> host_ = std::vector<char>(2000, 7);
};

TEST_F(Memory, CopiesAndSets) {
  std::vector<int> source(250), back(250);
  std::iota(source.begin(), source.end(), 0);
  ASSERT_EQ(cnrtMemcpy(data_, source.data(), 1000, cnrtMemcpyHostToDev), cnrtSuccess);
  ASSERT_EQ(cnrtMemcpy(back.data(), data_, 1000, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(back, source);
  ASSERT_EQ(cnrtMemcpy(at(4), data_, 900, cnrtMemcpyDevToDev), cnrtSuccess);
  ASSERT_EQ(cnrtMemcpy(back.data(), at(4), 900, cnrtMemcpyNoDirection), cnrtSuccess);
  EXPECT_EQ(std::vector<int>(back.begin(), back.begin() + 225),
            std::vector<int>(source.begin(), source.begin() + 225));
  ASSERT_EQ(cnrtMemset(data_, 0x1ff, 1000), cnrtSuccess);
  ASSERT_EQ(cnrtMemsetD32(at(8), 42, 3), cnrtSuccess);
  ASSERT_EQ(cnrtMemsetD16(at(1), 0x0102, 1), cnrtSuccess);
  ASSERT_EQ(cnrtMemcpy(back.data(), data_, 24, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(back[0], static_cast<int>(0xff0102ff));
  EXPECT_EQ(back[2], 42);
  EXPECT_EQ(back[4], 42);
  EXPECT_EQ(back[5], -1);
}

TEST_F(Memory, CopiesRows) {
  const char source[] = "abcdefghij";
  char back[5] = "----";
  ASSERT_EQ(cnrtMemcpy2D(data_, 10, source, 4, 2, 2, cnrtMemcpyHostToDev), cnrtSuccess);
  ASSERT_EQ(cnrtMemcpy2D(back, 2, data_, 10, 2, 2, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_STREQ(back, "abef");
  EXPECT_EQ(cnrtMemcpy2D(at(985), 10, source, 4, 5, 2, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemcpy2D(at(985), 10, source, 5, 5, 2, cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy2D(at(986), 10, source, 5, 5, 2, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
}

TEST_F(Memory, FreshMemoryIsNotZero) {
  unsigned char byte = 0;
  ASSERT_EQ(cnrtMemcpy(&byte, at(500), 1, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(byte, 0x4b);
}

TEST_F(Memory, BeyondTheEnd) {
  bang::Allocation allocation;
  ASSERT_TRUE(bang::CurrentDevice().memory().Find(data_, &allocation));
  const std::string number = std::to_string(allocation.number);
  EXPECT_EQ(StderrOf([&] {
              EXPECT_EQ(cnrtMemcpy(at(10), host_.data(), 1000, cnrtMemcpyHostToDev),
                        cnrtErrorArgsInvalid);
            }),
            "cnrtMemcpy: error: dst: 1000 bytes from byte 10 go 10 bytes beyond the end of "
            "allocation " +
                number + ", which has 1000 bytes\n");
  EXPECT_EQ(cnrtMemcpy(host_.data(), at(1), 1000, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemset(at(999), 0, 2), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemset(at(999), 0, 1), cnrtSuccess);
}

TEST_F(Memory, WrongDirection) {
  EXPECT_EQ(StderrOf([&] {
              EXPECT_EQ(cnrtMemcpy(data_, host_.data(), 10, cnrtMemcpyDevToHost),
                        cnrtErrorMemcpyDirectionInvalid);
            }),
            "cnrtMemcpy: error: the direction says that dst is host memory, but it is memory of "
            "device 0\n");
  EXPECT_EQ(StderrOf([&] {
              EXPECT_EQ(cnrtMemcpy(host_.data(), host_.data() + 50, 10, cnrtMemcpyHostToDev),
                        cnrtErrorArgsInvalid);
            }),
            "cnrtMemcpy: error: dst is no device memory: cnrtMalloc did not return it, or it was "
            "freed\n");
  EXPECT_EQ(cnrtMemcpy(data_, host_.data(), 10, static_cast<cnrtMemTransDir_t>(9)),
            cnrtErrorMemcpyDirectionInvalid);
}

TEST_F(Memory, OtherDevice) {
  ASSERT_EQ(cnrtSetDevice(1), cnrtSuccess);
  EXPECT_EQ(StderrOf([&] {
              EXPECT_EQ(cnrtMemcpy(data_, host_.data(), 10, cnrtMemcpyHostToDev), cnrtErrorDevice);
            }),
            "cnrtMemcpy: error: dst is memory of device 0, MLU590 (simulated), but this is device "
            "1\n");
  void* other = nullptr;
  ASSERT_EQ(cnrtMalloc(&other, 1000), cnrtSuccess);
  ASSERT_EQ(cnrtMemset(other, 3, 1000), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpyPeer(data_, 0, other, 1, 1000), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpyPeer(data_, 1, other, 1, 1000), cnrtErrorDevice);
  ASSERT_EQ(cnrtSetDevice(0), cnrtSuccess);
  char back[1000];
  ASSERT_EQ(cnrtMemcpy(back, data_, 1000, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(back[999], 3);
  EXPECT_EQ(cnrtFree(other), cnrtSuccess);
}

TEST_F(Memory, FreedTwice) {
  void* freed = data_;
  data_ = nullptr;
  ASSERT_EQ(cnrtFree(freed), cnrtSuccess);
  EXPECT_EQ(StderrOf([&] { EXPECT_EQ(cnrtFree(freed), cnrtErrorArgsInvalid); }),
            "cnrtFree: error: this memory was freed before\n");
  EXPECT_EQ(StderrOf([&] { EXPECT_EQ(cnrtFree(host_.data()), cnrtErrorArgsInvalid); }),
            "cnrtFree: error: cnrtMalloc did not return this pointer\n");
  EXPECT_EQ(cnrtMemset(freed, 0, 1), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtFree(nullptr), cnrtSuccess);
}

TEST_F(Memory, FreedInTheMiddle) {
  EXPECT_NE(StderrOf([&] {
              EXPECT_EQ(cnrtFree(at(16)), cnrtErrorArgsInvalid);
            }).find("this is byte 16 of allocation"),
            std::string::npos);
}

TEST_F(Memory, CapacityIsTheCards) {
  size_t free_bytes = 0, total_bytes = 0;
  ASSERT_EQ(cnrtMemGetInfo(&free_bytes, &total_bytes), cnrtSuccess);
  EXPECT_EQ(free_bytes, total_bytes - 1000);
  void* large = &free_bytes;
  EXPECT_NE(StderrOf([&] {
              EXPECT_EQ(cnrtMalloc(&large, total_bytes), cnrtErrorNoMem);
            }).find("more than MLU590 (simulated) has left"),
            std::string::npos);
  EXPECT_EQ(large, nullptr);
  // Memory that nobody writes costs the host nothing.
  ASSERT_EQ(cnrtMalloc(&large, total_bytes / 2), cnrtSuccess);
  EXPECT_EQ(cnrtFree(large), cnrtSuccess);
}

TEST_F(Memory, ZeroBytes) {
  void* empty = nullptr;
  ASSERT_EQ(cnrtMalloc(&empty, 0), cnrtSuccess);
  EXPECT_NE(empty, nullptr);
  EXPECT_EQ(cnrtMemcpy(empty, host_.data(), 0, cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemset(empty, 0, 1), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtFree(empty), cnrtSuccess);
}

TEST_F(Memory, HostMemory) {
  void* host = nullptr;
  ASSERT_EQ(cnrtHostMalloc(&host, 100), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(host, data_, 100, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(cnrtFree(host), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtFreeHost(data_), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtFreeHost(host), cnrtSuccess);
}

TEST_F(Memory, FindsByAddress) {
  const bang::DeviceMemory& memory = bang::CurrentDevice().memory();
  bang::Allocation allocation;
  for (int64_t offset : {0, 1, 999, 1000}) {
    ASSERT_TRUE(memory.Find(at(offset), &allocation)) << offset;
    EXPECT_EQ(allocation.begin, data_);
    EXPECT_EQ(allocation.bytes, 1000);
  }
  EXPECT_FALSE(memory.Find(at(1001), &allocation));
  const uint64_t generation = memory.generation();
  void* other = nullptr;
  ASSERT_EQ(cnrtMalloc(&other, 8), cnrtSuccess);
  EXPECT_NE(memory.generation(), generation);
  EXPECT_EQ(cnrtFree(other), cnrtSuccess);
}

}  // namespace
