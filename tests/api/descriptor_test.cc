// SPDX-License-Identifier: Apache-2.0
//
// What tensor descriptors hold and give back. Refusals are in descriptor_refusals_test.cc.
#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <vector>

#include "api/descriptor_state.h"

namespace detops::test {
namespace {

TEST(Descriptor, FreshOneIsEmpty) {
  const Desc desc;
  const DescriptorState state = StateOf(desc);
  EXPECT_TRUE(state.dims.empty());
  EXPECT_EQ(state.dtype, MLUOP_DTYPE_FLOAT);
  EXPECT_EQ(state.layout, MLUOP_LAYOUT_ARRAY);
  EXPECT_EQ(state.pointer_mode, MLUOP_POINTER_MODE_DEVICE);
  EXPECT_EQ(state.count, 0u);
}

TEST(Descriptor, ElementCountIsTheProductOfTheDims) {
  EXPECT_EQ(mluOpGetTensorElementNum(Desc(MLUOP_DTYPE_FLOAT, {7})), 7u);
  EXPECT_EQ(mluOpGetTensorElementNum(Desc(MLUOP_DTYPE_INT8, {2, 3, 4})), 24u);
  EXPECT_EQ(mluOpGetTensorElementNum(Desc(MLUOP_DTYPE_FLOAT, {2, 0, 4})), 0u);
  EXPECT_EQ(mluOpGetTensorElementNum(Desc(MLUOP_DTYPE_HALF, {1 << 20, 1 << 20})), size_t{1} << 40);
  EXPECT_EQ(mluOpGetTensorElementNum(Desc(MLUOP_DTYPE_FLOAT, std::vector<int64_t>(8, 3))), 6561u);
  EXPECT_EQ(mluOpGetTensorElementNum(nullptr), 0u);
}

TEST(Descriptor, IntAndInt64SettersInferRowMajorStrides) {
  const Desc narrow, wide;
  const int ints[] = {2, 3, 4};
  const int64_t longs[] = {2, 3, 4};
  ASSERT_OK(mluOpSetTensorDescriptor(narrow, MLUOP_LAYOUT_NTC, MLUOP_DTYPE_HALF, 3, ints));
  ASSERT_OK(mluOpSetTensorDescriptor_v2(wide, MLUOP_LAYOUT_NTC, MLUOP_DTYPE_HALF, 3, longs));
  const DescriptorState state = StateOf(narrow);
  EXPECT_EQ(state.layout, MLUOP_LAYOUT_NTC);
  EXPECT_EQ(state.dtype, MLUOP_DTYPE_HALF);
  EXPECT_EQ(state.dims, std::vector<int64_t>({2, 3, 4}));
  EXPECT_EQ(state.strides, std::vector<int64_t>({12, 4, 1}));
  EXPECT_EQ(StateOf(wide), state);
}

TEST(Descriptor, StridesBeyondAnIntAreInferred) {
  const Desc desc(MLUOP_DTYPE_INT8, {2, 1 << 20, 1 << 20});
  EXPECT_EQ(StateOf(desc).strides, std::vector<int64_t>({int64_t{1} << 40, 1 << 20, 1}));
}

TEST(Descriptor, ExSettersKeepTheStrides) {
  const Desc narrow, wide;
  const int dims[] = {2, 3}, strides[] = {1, 5};
  const int64_t dims64[] = {2, 3}, strides64[] = {1, 5};
  ASSERT_OK(
      mluOpSetTensorDescriptorEx(narrow, MLUOP_LAYOUT_NC, MLUOP_DTYPE_INT32, 2, dims, strides));
  ASSERT_OK(mluOpSetTensorDescriptorEx_v2(wide, MLUOP_LAYOUT_NC, MLUOP_DTYPE_INT32, 2, dims64,
                                          strides64));
  const DescriptorState state = StateOf(narrow);
  EXPECT_EQ(state.dims, std::vector<int64_t>({2, 3}));
  EXPECT_EQ(state.strides, std::vector<int64_t>({1, 5}));
  EXPECT_EQ(state.count, 6u);
  EXPECT_EQ(StateOf(wide), state);
}

TEST(Descriptor, DimSettersKeepLayoutAndType) {
  const Desc narrow(MLUOP_DTYPE_HALF, {9}, MLUOP_LAYOUT_NHWC);
  const Desc wide(MLUOP_DTYPE_HALF, {9}, MLUOP_LAYOUT_NHWC);
  const int dims[] = {5, 6};
  const int64_t dims64[] = {5, 6};
  ASSERT_OK(mluOpSetTensorDescriptorDim(narrow, 2, dims));
  ASSERT_OK(mluOpSetTensorDescriptorDim_v2(wide, 2, dims64));
  const DescriptorState state = StateOf(narrow);
  EXPECT_EQ(state.layout, MLUOP_LAYOUT_NHWC);
  EXPECT_EQ(state.dtype, MLUOP_DTYPE_HALF);
  EXPECT_EQ(state.dims, std::vector<int64_t>({5, 6}));
  EXPECT_EQ(state.strides, std::vector<int64_t>({6, 1}));
  EXPECT_EQ(StateOf(wide), state);
}

TEST(Descriptor, GettersAgree) {
  const Desc desc(MLUOP_DTYPE_INT32, {4, 5}, MLUOP_LAYOUT_NC);
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype;
  int rank = 0;
  std::array<int, 8> dims = {}, strides = {};
  ASSERT_OK(mluOpGetTensorDescriptor(desc, &layout, &dtype, &rank, dims.data()));
  EXPECT_EQ(layout, MLUOP_LAYOUT_NC);
  EXPECT_EQ(dtype, MLUOP_DTYPE_INT32);
  EXPECT_EQ(rank, 2);
  // No more than the rank is written.
  EXPECT_EQ(dims, (std::array<int, 8>{4, 5}));
  std::array<int64_t, 8> dims64 = {};
  ASSERT_OK(mluOpGetTensorDescriptor_v2(desc, &layout, &dtype, &rank, dims64.data()));
  EXPECT_EQ(dims64, (std::array<int64_t, 8>{4, 5}));
  ASSERT_OK(mluOpGetTensorDescriptorEx(desc, &layout, &dtype, &rank, dims.data(), strides.data()));
  EXPECT_EQ(strides, (std::array<int, 8>{5, 1}));
}

TEST(Descriptor, PlainGettersSkipNullPointers) {
  const Desc desc(MLUOP_DTYPE_INT32, {4, 5}, MLUOP_LAYOUT_NC);
  EXPECT_OK(mluOpGetTensorDescriptor(desc, nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(mluOpGetTensorDescriptor_v2(desc, nullptr, nullptr, nullptr, nullptr));
  int rank = 0;
  EXPECT_OK(mluOpGetTensorDescriptor(desc, nullptr, nullptr, &rank, nullptr));
  EXPECT_EQ(rank, 2);
  int64_t dims[2] = {};
  EXPECT_OK(mluOpGetTensorDescriptor_v2(desc, nullptr, nullptr, nullptr, dims));
  EXPECT_EQ(dims[1], 5);
}

TEST(Descriptor, ResetMakesItFresh) {
  const Desc desc(MLUOP_DTYPE_INT32, {4, 5}, MLUOP_LAYOUT_NC);
  ASSERT_OK(mluOpSetTensorDescriptorPointerMode(desc, MLUOP_POINTER_MODE_HOST));
  ASSERT_OK(mluOpSetTensorDescriptorOnchipDataType(desc, MLUOP_DTYPE_INT8));
  ASSERT_OK(mluOpSetTensorDescriptorPositionAndScale(desc, 3, 0.5f));
  ASSERT_OK(mluOpResetTensorDescriptor(desc));
  EXPECT_EQ(StateOf(desc), StateOf(Desc()));
}

TEST(Descriptor, NoDimsAreAScalarOnTheHostOnly) {
  const Desc desc;
  EXPECT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 0, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  ASSERT_OK(mluOpSetTensorDescriptorPointerMode(desc, MLUOP_POINTER_MODE_HOST));
  EXPECT_EQ(mluOpGetTensorElementNum(desc), 0u) << "the mode alone makes no scalar";
  EXPECT_OK(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 0, nullptr));
  EXPECT_EQ(mluOpGetTensorElementNum(desc), 1u);
  EXPECT_OK(mluOpSetTensorDescriptor_v2(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, 0, nullptr));
  EXPECT_OK(
      mluOpSetTensorDescriptorEx(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, 0, nullptr, nullptr));
  EXPECT_OK(mluOpSetTensorDescriptorDim(desc, 0, nullptr));
  EXPECT_EQ(mluOpGetTensorElementNum(desc), 1u);
  const int dims[] = {6};
  EXPECT_OK(mluOpSetTensorDescriptorDim(desc, 1, dims));
  EXPECT_EQ(mluOpGetTensorElementNum(desc), 6u);
}

TEST(Descriptor, PointerModeIsKept) {
  const Desc desc;
  mluOpPointerMode_t mode;
  ASSERT_OK(mluOpSetTensorDescriptorPointerMode(desc, MLUOP_POINTER_MODE_HOST));
  ASSERT_OK(mluOpGetTensorDescriptorPointerMode(desc, &mode));
  EXPECT_EQ(mode, MLUOP_POINTER_MODE_HOST);
  ASSERT_OK(mluOpSetTensorDescriptorPointerMode(desc, MLUOP_POINTER_MODE_DEVICE));
  ASSERT_OK(mluOpGetTensorDescriptorPointerMode(desc, &mode));
  EXPECT_EQ(mode, MLUOP_POINTER_MODE_DEVICE);
}

TEST(Descriptor, OnchipTypePositionAndScaleAreKept) {
  const Desc desc;
  mluOpDataType_t onchip = MLUOP_DTYPE_FLOAT;
  ASSERT_OK(mluOpGetTensorDescriptorOnchipDataType(desc, &onchip));
  EXPECT_EQ(onchip, MLUOP_DTYPE_INVALID);
  ASSERT_OK(mluOpSetTensorDescriptorOnchipDataType(desc, MLUOP_DTYPE_INT16));
  ASSERT_OK(mluOpGetTensorDescriptorOnchipDataType(desc, &onchip));
  EXPECT_EQ(onchip, MLUOP_DTYPE_INT16);
  int position = 99;
  float scale = 99;
  ASSERT_OK(mluOpGetTensorDescriptorPositionAndScale(desc, &position, &scale));
  EXPECT_EQ(position, 0);
  EXPECT_EQ(scale, 1.0f);
  ASSERT_OK(mluOpSetTensorDescriptorPositionAndScale(desc, -7, 0.25f));
  ASSERT_OK(mluOpGetTensorDescriptorPositionAndScale(desc, &position, &scale));
  EXPECT_EQ(position, -7);
  EXPECT_EQ(scale, 0.25f);
}

TEST(Descriptor, PositionScaleAndOffsetAreKept) {
  const Desc desc;
  int position = 99, offset = 99;
  float scale = 99;
  const auto expect = [&](int expected_position, float expected_scale, int expected_offset) {
    ASSERT_OK(mluOpGetTensorDescriptorPositionScaleAndOffset(desc, &position, &scale, &offset));
    EXPECT_EQ(position, expected_position);
    EXPECT_EQ(scale, expected_scale);
    EXPECT_EQ(offset, expected_offset);
    ASSERT_OK(mluOpGetTensorDescriptorPosition(desc, &position));
    EXPECT_EQ(position, expected_position);
  };
  expect(0, 1.0f, 0);
  ASSERT_OK(mluOpSetTensorDescriptorPositionScaleAndOffset(desc, 3, 0.5f, -128));
  expect(3, 0.5f, -128);
  ASSERT_OK(mluOpSetTensorDescriptorPosition(desc, -2));
  expect(-2, 0.5f, -128);
  ASSERT_OK(mluOpSetTensorDescriptorPositionAndScale(desc, 4, 2.0f));
  expect(4, 2.0f, -128);
}

TEST(Descriptor, GroupsAreCreatedAndDestroyed) {
  mluOpTensorDescriptor_t first = nullptr, second = nullptr;
  mluOpTensorDescriptor_t* group[] = {&first, &second};
  ASSERT_OK(mluOpCreateGroupTensorDescriptors(group, 2));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first, second);
  const int dims[] = {3};
  EXPECT_OK(mluOpSetTensorDescriptor(first, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, 1, dims));
  EXPECT_EQ(mluOpGetTensorElementNum(first), 3u);
  EXPECT_EQ(mluOpGetTensorElementNum(second), 0u);
  EXPECT_OK(mluOpDestroyGroupTensorDescriptors(group, 2));
  EXPECT_OK(mluOpCreateGroupTensorDescriptors(group, 0));
  EXPECT_OK(mluOpDestroyGroupTensorDescriptors(group, 0));
}

TEST(Descriptor, GroupsAreSetDimAfterDim) {
  const Desc first, second, third;
  mluOpTensorDescriptor_t descs[] = {first, second, third};
  mluOpTensorDescriptor_t* group[] = {&descs[0], &descs[1], &descs[2]};
  const mluOpTensorLayout_t layouts[] = {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_ARRAY, MLUOP_LAYOUT_NC};
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_INT32};
  const int ranks[] = {4, 3, 2}, dims[] = {3, 4, 5, 6, 9, 7, 8, 4, 7};
  const std::vector<int64_t> wide_dims(std::begin(dims), std::end(dims));
  const auto expect = [&](const Desc& desc, int i, const std::vector<int64_t>& expected) {
    const Desc same(dtypes[i], expected, layouts[i]);
    EXPECT_EQ(StateOf(desc), StateOf(same));
  };
  for (const bool wide : {false, true}) {
    for (mluOpTensorDescriptor_t desc : descs) ASSERT_OK(mluOpResetTensorDescriptor(desc));
    ASSERT_OK(
        wide ? mluOpSetGroupTensorDescriptors_v2(group, layouts, dtypes, ranks, wide_dims.data(), 3)
             : mluOpSetGroupTensorDescriptors(group, layouts, dtypes, ranks, dims, 3));
    expect(first, 0, {3, 4, 5, 6});
    expect(second, 1, {9, 7, 8});
    expect(third, 2, {4, 7});
  }
  EXPECT_OK(mluOpSetGroupTensorDescriptors(group, layouts, dtypes, ranks, dims, 0));
}

TEST(Descriptor, IntGettersRefuseDimsBeyondAnInt) {
  const int64_t beyond = int64_t{INT_MAX} + 1;
  const Desc large(MLUOP_DTYPE_INT8, {3, beyond}), largest_int(MLUOP_DTYPE_INT8, {INT_MAX});
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_NCL;
  mluOpDataType_t dtype = MLUOP_DTYPE_BOOL;
  int rank = 99, dims[2] = {98, 97}, strides[2] = {96, 95};
  EXPECT_EQ(mluOpGetTensorDescriptor(large, &layout, &dtype, &rank, dims), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(detopsGetLastErrorMessage()).find("dimSize: dim 1 is 2147483648"),
            std::string::npos);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(large, &layout, &dtype, &rank, dims, strides),
            MLUOP_STATUS_BAD_PARAM);
  // Nothing was written.
  EXPECT_EQ(layout, MLUOP_LAYOUT_NCL);
  EXPECT_EQ(dtype, MLUOP_DTYPE_BOOL);
  EXPECT_EQ(std::vector<int>({rank, dims[0], dims[1], strides[0], strides[1]}),
            std::vector<int>({99, 98, 97, 96, 95}));
  EXPECT_OK(mluOpGetTensorDescriptor(large, &layout, &dtype, &rank, nullptr));
  EXPECT_EQ(rank, 2);
  EXPECT_EQ(StateOf(large).dims, std::vector<int64_t>({3, beyond}));
  EXPECT_OK(mluOpGetTensorDescriptor(largest_int, &layout, &dtype, &rank, dims));
  EXPECT_EQ(dims[0], INT_MAX);
}

// The dims fit an int, a stride does not: the dims must not be half written.
TEST(Descriptor, IntExGetterRefusesStridesBeyondAnInt) {
  const Desc desc(MLUOP_DTYPE_INT8, {2, INT_MAX, 2});
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_NCL;
  mluOpDataType_t dtype = MLUOP_DTYPE_BOOL;
  int rank = 99, dims[3] = {98, 97, 96}, strides[3] = {95, 94, 93};
  EXPECT_EQ(mluOpGetTensorDescriptorEx(desc, &layout, &dtype, &rank, dims, strides),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(detopsGetLastErrorMessage()).find("dimStride: "), std::string::npos);
  EXPECT_EQ(std::vector<int>({rank, dims[0], dims[1], dims[2], strides[0]}),
            std::vector<int>({99, 98, 97, 96, 95}));
}

}  // namespace
}  // namespace detops::test
