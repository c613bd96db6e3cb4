// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "support/handle.h"

namespace detops::test {
namespace {

// The one place that says whether the tests of CUDA implementations ran: without a GPU they are not
// even listed. DETOPS_REQUIRE=cuda makes that a failure.
TEST(Devices, CudaIsHere) {
  const std::string reason = WhyNot("cuda");
  if (reason.empty()) {
    EXPECT_FALSE(ImplementationsOf("poly_nms").empty());
    EXPECT_EQ(DeviceOf(ImplementationsOf("poly_nms").front()), "cuda");
    return;
  }
  const char* required = std::getenv("DETOPS_REQUIRE");
  if (required != nullptr && std::strcmp(required, "cuda") == 0) FAIL() << reason;
  GTEST_SKIP() << "no test of a CUDA implementation runs here: " << reason;
}

// Likewise for implementations whose instructions this processor lacks.
TEST(Devices, InstructionSetsAreHere) {
  std::string refused;
  for (const detopsImplementationInfo& info : AllImplementations()) {
    if (std::string_view(info.op) != "bbox_overlaps" || DeviceOf(info.name) != "cpu") continue;
    if (!info.usable) refused += std::string(" ") + info.name + " (" + info.reason + ")";
  }
  if (!refused.empty()) GTEST_SKIP() << "no test of these runs here:" << refused;
}

TEST(Devices, WithoutCudaTheReasonIsTold) {
  const std::string reason = WhyNot("cuda");
  if (reason.empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_EQ(reason.rfind("no cuda device: ", 0), 0u) << reason;
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(detopsCreate(&handle, "cuda"), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(detopsGetLastErrorMessage(), "detopsCreate: " + reason);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(detopsSetDevice("cuda:0"), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(detopsGetLastErrorMessage(), "detopsSetDevice: " + reason);
  cnrtQueue_t queue = nullptr;
  EXPECT_EQ(detopsQueueFromStream(&queue, "cuda:0", nullptr), MLUOP_STATUS_NOT_SUPPORTED);
}

TEST(Devices, TheProcessorHasNoStreams) {
  cnrtQueue_t queue = nullptr;
  EXPECT_EQ(detopsQueueFromStream(&queue, "cpu", nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_STREQ(detopsGetLastErrorMessage(),
               "detopsQueueFromStream: device: cpu has no streams, expected a cuda device");
}

}  // namespace
}  // namespace detops::test
