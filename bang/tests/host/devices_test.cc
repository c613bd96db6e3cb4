// SPDX-License-Identifier: Apache-2.0
//
// Devices and their attributes; run with BANG_DEVICE=mlu590,mlu370.
#include <cn_api.h>
#include <cnrt.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace {

int Attribute(cnrtDeviceAttr_t attribute, int ordinal) {
  int value = -1;
  EXPECT_EQ(cnrtDeviceGetAttribute(&value, attribute, ordinal), cnrtSuccess);
  return value;
}

TEST(Devices, AreTheCards) {
  const struct {
    cnrtDeviceAttr_t attribute;
    int mlu590, mlu370;
  } rows[] = {
      {cnrtAttrClusterCount, 12, 8},
      {cnrtAttrMcorePerCluster, 4, 4},
      {cnrtAttrNramSizePerMcore, 512 * 1024, 768 * 1024},
      {cnrtAttrWramSizePerMcore, 512 * 1024, 1024 * 1024},
      {cnrtAttrSramSizePerMcore, 2048 * 1024, 4096 * 1024},
      {cnrtAttrISAVersion, 592, 372},
      {cnrtAttrComputeCapabilityMajor, 5, 3},
      {cnrtAttrMaxClusterCountPerUnionTask, 8, 8},
      {cnrtAttrIpuClockRate, 1500000, 1000000},
      // 2048 and 307.2 GB/s at two transfers per cycle.
      {cnrtAttrMemClockRate, 1600000, 3200000},
      {cnrtAttrGmemBusWidth, 5120, 384},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Attribute(row.attribute, 0), row.mlu590) << row.attribute;
    EXPECT_EQ(Attribute(row.attribute, 1), row.mlu370) << row.attribute;
  }
}

TEST(Devices, PropertiesAreTheAttributes) {
  for (int ordinal : {0, 1}) {
    cnrtDeviceProp_t properties;
    ASSERT_EQ(cnrtGetDeviceProperties(&properties, ordinal), cnrtSuccess);
    EXPECT_EQ(properties.name, std::string(ordinal == 0 ? "MLU590" : "MLU370") + " (simulated)");
    EXPECT_EQ(properties.clusterCount, Attribute(cnrtAttrClusterCount, ordinal));
    EXPECT_EQ(properties.McorePerCluster, Attribute(cnrtAttrMcorePerCluster, ordinal));
    EXPECT_EQ(properties.NramSizePerMcore, Attribute(cnrtAttrNramSizePerMcore, ordinal));
    EXPECT_EQ(properties.totalGlobalMemSize >> 20,
              static_cast<uint64_t>(Attribute(cnrtAttrTotalMemSize, ordinal)));
    char name[64];
    ASSERT_EQ(cnDeviceGetName(name, sizeof name, ordinal), CN_SUCCESS);
    EXPECT_STREQ(name, properties.name);
  }
}

TEST(Devices, CurrentIsTheThreads) {
  ASSERT_EQ(cnrtSetDevice(1), cnrtSuccess);
  std::thread([] {
    int ordinal = -1;
    EXPECT_EQ(cnrtGetDevice(&ordinal), cnrtSuccess);
    EXPECT_EQ(ordinal, 0);
  }).join();
  int ordinal = -1;
  EXPECT_EQ(cnrtGetDevice(&ordinal), cnrtSuccess);
  EXPECT_EQ(ordinal, 1);
  ASSERT_EQ(cnrtSetDevice(0), cnrtSuccess);
}

TEST(Devices, OlderNames) {
  cnrtDev_t device = 7;
  EXPECT_EQ(cnrtInit(0), CNRT_RET_SUCCESS);
  EXPECT_EQ(cnrtGetDeviceHandle(&device, 1), CNRT_RET_SUCCESS);
  EXPECT_EQ(cnrtSetCurrentDevice(device), CNRT_RET_SUCCESS);
  int ordinal = -1;
  EXPECT_EQ(cnrtGetDevice(&ordinal), cnrtSuccess);
  EXPECT_EQ(ordinal, 1);
  EXPECT_EQ(cnrtSetCurrentDevice(5), cnrtErrorDeviceInvalid);
  EXPECT_EQ(cnrtSetDevice(0), cnrtSuccess);
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorDeviceInvalid);
}

TEST(Devices, ErrorsSayWhat) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cnrtSetDevice(2), cnrtErrorDeviceInvalid);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cnrtSetDevice: error: there is no device 2; there are 2\n");
  int value;
  EXPECT_EQ(cnrtDeviceGetAttribute(&value, static_cast<cnrtDeviceAttr_t>(0x999), 0),
            cnrtErrorNoAttribute);
  EXPECT_EQ(cnrtDeviceGetAttribute(nullptr, cnrtAttrClusterCount, 0), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtPeekAtLastError(), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtGetLastError(), cnrtSuccess);
}

TEST(Devices, ErrorNames) {
  EXPECT_STREQ(cnrtGetErrorStr(cnrtErrorKernelTrap), "cnrtErrorKernelTrap");
  EXPECT_STREQ(cnrtGetErrorStr(static_cast<cnrtRet_t>(77)), "cnrtErrorUnknown");
}

}  // namespace
