// SPDX-License-Identifier: Apache-2.0
//
// The values that programs compiled against other libraries of this API carry in their code.
#include <gtest/gtest.h>

#include <type_traits>

#include "detops/detops.h"
#include "support/handle.h"

static_assert(MLUOP_MAJOR == 1 && MLUOP_MINOR == 11 && MLUOP_PATCHLEVEL == 1);
static_assert(MLUOP_VERSION == 2101);
static_assert(MLUOP_DIM_MAX == 8);

static_assert(MLUOP_STATUS_SUCCESS == 0 && MLUOP_STATUS_NOT_INITIALIZED == 1);
static_assert(MLUOP_STATUS_ALLOC_FAILED == 2 && MLUOP_STATUS_BAD_PARAM == 3);
static_assert(MLUOP_STATUS_INTERNAL_ERROR == 4 && MLUOP_STATUS_ARCH_MISMATCH == 5);
static_assert(MLUOP_STATUS_EXECUTION_FAILED == 6 && MLUOP_STATUS_NOT_SUPPORTED == 7);
static_assert(MLUOP_STATUS_NUMERICAL_OVERFLOW == 8);

static_assert(MLUOP_LAYOUT_NCHW == 0 && MLUOP_LAYOUT_NHWC == 1 && MLUOP_LAYOUT_HWCN == 2);
static_assert(MLUOP_LAYOUT_NDHWC == 3 && MLUOP_LAYOUT_ARRAY == 4 && MLUOP_LAYOUT_NCDHW == 5);
static_assert(MLUOP_LAYOUT_TNC == 6 && MLUOP_LAYOUT_NTC == 7 && MLUOP_LAYOUT_NC == 8);
static_assert(MLUOP_LAYOUT_NLC == 9 && MLUOP_LAYOUT_NCL == 10);

static_assert(MLUOP_DTYPE_INVALID == 0 && MLUOP_DTYPE_HALF == 1 && MLUOP_DTYPE_FLOAT == 2);
static_assert(MLUOP_DTYPE_INT8 == 3 && MLUOP_DTYPE_INT16 == 4 && MLUOP_DTYPE_INT31 == 5);
static_assert(MLUOP_DTYPE_INT32 == 6 && MLUOP_DTYPE_UINT8 == 7 && MLUOP_DTYPE_BOOL == 8);
static_assert(MLUOP_DTYPE_INT64 == 9 && MLUOP_DTYPE_UINT32 == 11 && MLUOP_DTYPE_UINT64 == 12);
static_assert(MLUOP_DTYPE_UINT16 == 13 && MLUOP_DTYPE_DOUBLE == 14);
static_assert(MLUOP_DTYPE_COMPLEX_HALF == 15 && MLUOP_DTYPE_COMPLEX_FLOAT == 16);
static_assert(MLUOP_DTYPE_BFLOAT16 == 17);

static_assert(MLUOP_POINTER_MODE_HOST == 0 && MLUOP_POINTER_MODE_DEVICE == 1);
static_assert(MLUOP_ROUND_HALF_TO_EVEN == 0 && MLUOP_ROUND_HALF_UP == 1);
static_assert(MLUOP_ROUND_HALF_OFF_ZERO == 2);
static_assert(MLUOP_ATOMICS_NOT_ALLOWED == 1 && MLUOP_ATOMICS_ALLOWED == 2);

static_assert(cnrtSuccess == 0 && CNRT_RET_SUCCESS == cnrtSuccess);

static_assert(std::is_same_v<mluOpHandle_t, struct mluOpContext*>);
static_assert(std::is_same_v<mluOpTensorDescriptor_t, struct mluOpTensorStruct*>);
static_assert(std::is_same_v<cnrtQueue_t, struct cnrtQueue*>);

namespace detops::test {
namespace {

TEST(DataTypes, HaveTheirSizes) {
  struct Size {
    mluOpDataType_t dtype;
    size_t bytes;
  };
  const Size sizes[] = {
      {MLUOP_DTYPE_BOOL, 1},         {MLUOP_DTYPE_INT8, 1},   {MLUOP_DTYPE_UINT8, 1},
      {MLUOP_DTYPE_HALF, 2},         {MLUOP_DTYPE_INT16, 2},  {MLUOP_DTYPE_UINT16, 2},
      {MLUOP_DTYPE_BFLOAT16, 2},     {MLUOP_DTYPE_INT31, 4},  {MLUOP_DTYPE_INT32, 4},
      {MLUOP_DTYPE_UINT32, 4},       {MLUOP_DTYPE_FLOAT, 4},  {MLUOP_DTYPE_COMPLEX_HALF, 4},
      {MLUOP_DTYPE_INT64, 8},        {MLUOP_DTYPE_UINT64, 8}, {MLUOP_DTYPE_DOUBLE, 8},
      {MLUOP_DTYPE_COMPLEX_FLOAT, 8}};
  for (const Size& size : sizes) {
    size_t bytes = 0;
    EXPECT_OK(mluOpGetSizeOfDataType(size.dtype, &bytes));
    EXPECT_EQ(bytes, size.bytes) << "of type " << size.dtype;
  }
}

TEST(DataTypes, WithoutASizeAreRefused) {
  for (int value : {0, 10, 18, -1, 1000}) {
    size_t bytes = 99;
    EXPECT_EQ(mluOpGetSizeOfDataType(static_cast<mluOpDataType_t>(value), &bytes),
              MLUOP_STATUS_BAD_PARAM);
    EXPECT_EQ(bytes, 99u);
  }
  EXPECT_EQ(mluOpGetSizeOfDataType(MLUOP_DTYPE_FLOAT, nullptr), MLUOP_STATUS_BAD_PARAM);
}

TEST(Statuses, HaveTheNamesOfTheirEnumerators) {
  const char* names[] = {"SUCCESS",          "NOT_INITIALIZED", "ALLOC_FAILED",
                         "BAD_PARAM",        "INTERNAL_ERROR",  "ARCH_MISMATCH",
                         "EXECUTION_FAILED", "NOT_SUPPORTED",   "NUMERICAL_OVERFLOW"};
  for (int value = 0; value <= 8; ++value) {
    EXPECT_EQ(mluOpGetErrorString(static_cast<mluOpStatus_t>(value)),
              std::string("MLUOP_STATUS_") + names[value]);
  }
  for (int value : {-1, 9, 1000}) {
    EXPECT_STREQ(mluOpGetErrorString(static_cast<mluOpStatus_t>(value)), "MLUOP_STATUS_UNKNOWN");
  }
}

TEST(Version, IsTheOneOfTheHeaders) {
  int major = -1, minor = -1, patch = -1;
  mluOpGetLibVersion(&major, &minor, &patch);
  EXPECT_EQ(major, MLUOP_MAJOR);
  EXPECT_EQ(minor, MLUOP_MINOR);
  EXPECT_EQ(patch, MLUOP_PATCHLEVEL);
  mluOpGetLibVersion(nullptr, nullptr, nullptr);
  EXPECT_EQ(detopsGetVersion(), std::to_string(DETOPS_VERSION_MAJOR) + "." +
                                    std::to_string(DETOPS_VERSION_MINOR) + "." +
                                    std::to_string(DETOPS_VERSION_PATCH));
}

}  // namespace
}  // namespace detops::test
