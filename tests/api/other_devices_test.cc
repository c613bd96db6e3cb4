// SPDX-License-Identifier: Apache-2.0
//
// Every device but the processor, by its own name: the operators that it has, on queues, from any
// address, again and again. What the results must be the tests of the operators say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "support/every_operator.h"
#include "support/handle.h"

namespace detops::test {
namespace {

std::string LastError() { return detopsGetLastErrorMessage(); }

struct OnDevice {
  std::string device;
  const schema::Schema* op;
};
void PrintTo(const OnDevice& what, std::ostream* out) { *out << what.op->name << what.device; }

bool Has(const std::string& device, const schema::Schema& op) {
  for (const std::string& name : ImplementationsOf(op.name)) {
    if (DeviceOf(name) == DeviceOf(device)) return true;
  }
  return false;
}

std::vector<OnDevice> All() {
  std::vector<OnDevice> all;
  for (const std::string& device : UsableDevices()) {
    if (device == "cpu") continue;
    for (const schema::Schema* op : schema::All()) all.push_back({device, op});
  }
  return all;
}

std::vector<std::byte> OnTheProcessor(const schema::Problem& problem) {
  EXPECT_OK(detopsSetDevice("cpu"));
  const Handle handle("cpu:reference");
  schema::Invocation invocation(handle, problem);
  EXPECT_OK(invocation.Prepare());
  EXPECT_OK(invocation.Start());
  return BytesOf(invocation);
}

class OtherDevices : public ::testing::TestWithParam<OnDevice> {
 protected:
  void SetUp() override {
    if (!Has(GetParam().device, *GetParam().op)) GTEST_SKIP() << "not on this device";
  }
  void TearDown() override { EXPECT_OK(detopsSetDevice("cpu")); }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OtherDevices);
INSTANTIATE_TEST_SUITE_P(All, OtherDevices, ::testing::ValuesIn(All()), [](const auto& what) {
  return TestName(what.param.device + "_" + what.param.op->name);
});

// On a queue of its own, from any address, in every form; the second call finds what the first
// left.
TEST_P(OtherDevices, TheBitsOfTheReference) {
  for (size_t form = 0; form < GetParam().op->forms.size(); ++form) {
    const schema::Problem problem = StandardProblem(*GetParam().op, form);
    const std::vector<std::byte> expected = OnTheProcessor(problem);
    ASSERT_OK(detopsSetDevice(GetParam().device.c_str()));
    const schema::Handle handle(GetParam().device);
    cnrtQueue_t queue = nullptr;
    ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
    ASSERT_OK(mluOpSetQueue(handle, queue));
    for (const size_t unaligned : {0, 13}) {
      schema::Invocation invocation(handle, problem, {.sets = 1, .unaligned = unaligned});
      ASSERT_OK(invocation.Prepare());
      for (int call = 0; call < 2; ++call) {
        invocation.Poison();
        ASSERT_OK(invocation.Start());
        ASSERT_EQ(cnrtQueueSync(queue), cnrtSuccess) << LastError();
        EXPECT_EQ(BytesOf(invocation), expected) << "call " << call << " unaligned " << unaligned;
      }
      EXPECT_TRUE(invocation.GuardsIntact());
    }
    EXPECT_OK(mluOpSetQueue(handle, nullptr));
    EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  }
}

// An operator that a device lacks is refused in so many words, and the device is none the worse.
TEST(OtherDevicesToo, SayWhatTheyLack) {
  for (const std::string& device : UsableDevices()) {
    for (const schema::Schema* op : schema::All()) {
      if (Has(device, *op)) continue;
      const schema::Problem problem = StandardProblem(*op);
      const schema::Handle handle(device);
      schema::Invocation invocation(handle, problem);
      ASSERT_OK(invocation.Prepare());
      EXPECT_EQ(invocation.Start(), MLUOP_STATUS_NOT_SUPPORTED);
      EXPECT_NE(LastError().find(device + " has no implementation of " + op->name),
                std::string::npos)
          << LastError();
    }
  }
}

TEST(OtherDevicesToo, MakeTensorsContiguous) {
  constexpr int64_t kRows = 70, kColumns = 33;
  for (const std::string& device : UsableDevices()) {
    for (const mluOpDataType_t type :
         {MLUOP_DTYPE_UINT8, MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_INT64}) {
      ASSERT_OK(detopsSetDevice(device.c_str()));
      const schema::Handle handle(device);
      size_t element = 0;
      ASSERT_OK(mluOpGetSizeOfDataType(type, &element));
      std::vector<uint8_t> host(kRows * kColumns * element), dense(host.size());
      for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i * 31 + i / 251);
      schema::Buffer from(handle, host.size(), 1), to(handle, host.size(), 1);
      from.Upload(host.data());
      // Seen transposed.
      const Desc desc;
      const int64_t dims[] = {kColumns, kRows}, strides[] = {1, kColumns};
      ASSERT_OK(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, type, 2, dims, strides));
      ASSERT_OK(detopsMakeContiguous(handle, desc, from.at(0), to.at(0))) << device;
      to.Download(0, reinterpret_cast<std::byte*>(dense.data()));
      for (int64_t column = 0; column < kColumns; ++column) {
        for (int64_t row = 0; row < kRows; ++row) {
          const auto* expected = &host[static_cast<size_t>(row * kColumns + column) * element];
          const auto* got = &dense[static_cast<size_t>(column * kRows + row) * element];
          ASSERT_EQ(std::memcmp(got, expected, element), 0) << device << " type " << type;
        }
      }
    }
  }
  EXPECT_OK(detopsSetDevice("cpu"));
}

// Run by itself with BANG_TIME_LIMIT=1e-6, which stops every kernel (tests/CMakeLists.txt).
TEST(StoppedDevices, SayWhyAndWorkAgainOnceNothingIsLeftThere) {
  const char* limit = std::getenv("BANG_TIME_LIMIT");
  if (limit == nullptr || std::atof(limit) > 1e-3) GTEST_SKIP() << "kernels are not stopped";
  for (const std::string& device : UsableDevices()) {
    if (DeviceOf(device) != "mlu") continue;
    for (int again = 0; again < 2; ++again) {
      ASSERT_OK(detopsSetDevice(device.c_str()));
      const schema::Handle handle(device);
      {
        const schema::Problem problem = StandardProblem(schema::Named("bbox_overlaps"));
        schema::Invocation invocation(handle, problem);
        ASSERT_OK(invocation.Prepare());
        EXPECT_EQ(invocation.Start(), MLUOP_STATUS_EXECUTION_FAILED);
        EXPECT_NE(LastError().find("the kernel has not ended"), std::string::npos) << LastError();
        EXPECT_EQ(LastError().find('\n'), std::string::npos) << LastError();
        void* memory = nullptr;
        EXPECT_EQ(cnrtMalloc(&memory, 8), cnrtErrorSys);
        EXPECT_NE(LastError().find("the kernel has not ended"), std::string::npos) << LastError();
      }
      void* memory = nullptr;
      ASSERT_EQ(cnrtMalloc(&memory, 8), cnrtSuccess) << LastError();
      EXPECT_EQ(cnrtMemset(memory, 1, 8), cnrtSuccess);
      EXPECT_EQ(cnrtFree(memory), cnrtSuccess);
    }
  }
  EXPECT_OK(detopsSetDevice("cpu"));
}

}  // namespace
}  // namespace detops::test
