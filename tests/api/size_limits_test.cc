// SPDX-License-Identifier: Apache-2.0
//
// Sizes too large to be meant, and strides that don't matter. No data is needed: checks come first.
#include <cstdint>
#include <limits>

#include "api/operator_call.h"

namespace detops::test {
namespace {

constexpr auto kFloat = MLUOP_DTYPE_FLOAT;
constexpr auto kInt = MLUOP_DTYPE_INT32;
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

std::string LastError() { return detopsGetLastErrorMessage(); }

TEST(SizeLimits, ProductsBeyond64BitsAreRefusedByTheDescriptor) {
  const Desc desc(kFloat, {2, 3});
  const auto set = [&](mluOpDataType_t dtype, const std::vector<int64_t>& dims) {
    return mluOpSetTensorDescriptor_v2(desc, MLUOP_LAYOUT_ARRAY, dtype,
                                       static_cast<int>(dims.size()), dims.data());
  };
  const int64_t two_to_32 = int64_t{1} << 32;
  EXPECT_EQ(set(kFloat, {two_to_32, two_to_32}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(LastError().find("overflows 64 bits"), std::string::npos) << LastError();
  // The bytes count: 2^62 elements of one byte fit, of four bytes don't.
  EXPECT_OK(set(MLUOP_DTYPE_INT8, {two_to_32, int64_t{1} << 30}));
  EXPECT_EQ(set(kFloat, {two_to_32, int64_t{1} << 30}), MLUOP_STATUS_BAD_PARAM);
  // The int functions have eight dims to overflow with.
  const std::vector<int> ints(8, 1 << 30);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, kFloat, 8, ints.data()),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptorDim(desc, 8, ints.data()), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(
      mluOpSetTensorDescriptorEx(desc, MLUOP_LAYOUT_ARRAY, kFloat, 8, ints.data(), ints.data()),
      MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorElementNum(desc), size_t{1} << 62) << "a refusal changed the descriptor";
}

TEST(SizeLimits, AZeroDimMakesAnyOtherSizeLegal) {
  const int64_t most = std::numeric_limits<int64_t>::max(), large = int64_t{1} << 40;
  const std::vector<std::vector<int64_t>> shapes = {
      {0, most, large}, {most, 0, large}, {most, large, 0}};
  for (const std::vector<int64_t>& dims : shapes) {
    const Desc desc(kFloat, dims);
    EXPECT_EQ(mluOpGetTensorElementNum(desc), 0u);
  }
}

// No images, so the tensor is empty and its descriptor legal, but its anchors can't be counted.
TEST(SizeLimits, AnchorsBeyond64BitsAreRefused) {
  const Handle handle;
  const int64_t large = int64_t{1} << 40;
  size_t size = 99;
  EXPECT_EQ(
      mluOpGetGenerateProposalsV2WorkspaceSize(handle, Desc(kFloat, {0, large, large, 1}), &size),
      MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpGetGenerateProposalsV2WorkspaceSize: scores: ", 0), 0u)
      << LastError();
  EXPECT_EQ(size, 99u);
}

TEST(SizeLimits, PolyNmsBoxesAreNamedByInt32) {
  const Handle handle;
  const DeviceArray<int32_t> result_num(1);
  size_t size = 0;
  const auto call = [&](int64_t count) {
    const Desc boxes(kFloat, {count, 9}), output(kInt, {count});
    return mluOpPolyNms(handle, boxes, nullptr, 0.5f, nullptr, 0, output, nullptr,
                        result_num.data());
  };
  EXPECT_EQ(call(kInt32Max + 1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpPolyNms: boxes: dim 0 is 2147483648", 0), 0u) << LastError();
  // One less passes that check: what is wrong now is the missing data.
  EXPECT_EQ(call(kInt32Max), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpPolyNms: boxes: is null", 0), 0u) << LastError();
  EXPECT_TRUE(result_num.UntouchedFrom(0));

  EXPECT_EQ(mluOpGetPolyNmsWorkspaceSize(handle, Desc(kFloat, {kInt32Max + 1, 9}), &size),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpGetPolyNmsWorkspaceSize: boxes: ", 0), 0u) << LastError();
  EXPECT_OK(mluOpGetPolyNmsWorkspaceSize(handle, Desc(kFloat, {kInt32Max, 9}), &size));
}

TEST(SizeLimits, PointsInBoxesBoxesAreNamedByInt32) {
  const Handle handle;
  const auto call = [&](int64_t boxes_of_a_batch) {
    const Desc points(kFloat, {1, 2, 3}), boxes(kFloat, {1, boxes_of_a_batch, 7});
    const Desc indices(kInt, {1, 2});
    return mluOpPointsInBoxes(handle, points, nullptr, boxes, nullptr, indices, nullptr);
  };
  EXPECT_EQ(call(kInt32Max + 1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpPointsInBoxes: boxes: dim 1 is 2147483648", 0), 0u)
      << LastError();
  EXPECT_EQ(call(kInt32Max), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpPointsInBoxes: points: is null", 0), 0u) << LastError();
}

TEST(SizeLimits, RoisAreCountedByInt32) {
  const Handle handle;
  const int64_t images = 3, rois_of_all = images * kInt32Max;
  const Desc scores(kFloat, {images, 1, 1, 1}), deltas(kFloat, {images, 1, 1, 4});
  const Desc shape(kFloat, {images, 2}), anchors(kFloat, {1, 1, 1, 4});
  const Desc rois(kFloat, {rois_of_all, 4}), probs(kFloat, {rois_of_all, 1}), num(kInt, {images});
  EXPECT_EQ(mluOpGenerateProposalsV2(handle, 0, static_cast<int>(kInt32Max), 0.5f, 0, 1, false,
                                     scores, nullptr, deltas, nullptr, shape, nullptr, anchors,
                                     nullptr, anchors, nullptr, nullptr, 0, rois, nullptr, probs,
                                     nullptr, num, nullptr, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpGenerateProposalsV2: rpn_rois: dim 0 is 6442450941", 0), 0u)
      << LastError();
}

TEST(SizeLimits, BboxOverlapsTakesMoreThanInt32Pairs) {
  const Handle handle;
  const Desc bbox1(kFloat, {70000, 4}), bbox2(kFloat, {70001, 4}), ious(kFloat, {70000, 70001});
  EXPECT_EQ(mluOpBboxOverlaps(handle, 0, false, 0, bbox1, nullptr, bbox2, nullptr, ious, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("mluOpBboxOverlaps: bbox1: is null", 0), 0u) << LastError();
}

TEST(Strides, OfDimsThatAreOneDontMatter) {
  const Handle handle;
  const Desc boxes, ious(kFloat, {1, 1});
  const int64_t dims[] = {1, 4}, strides[] = {77, 1};
  ASSERT_OK(mluOpSetTensorDescriptorEx_v2(boxes, MLUOP_LAYOUT_ARRAY, kFloat, 2, dims, strides));
  const std::vector<float> host = {0, 0, 2, 2};
  const DeviceArray<float> data{std::span<const float>(host)};
  const DeviceArray<float> result(1);
  EXPECT_OK(mluOpBboxOverlaps(handle, 0, false, 0, boxes, data.data(), boxes, data.data(), ious,
                              result.data()));
  EXPECT_EQ(result.Download(), std::vector<float>{1});
}

TEST(Strides, OfEmptyTensorsDontMatter) {
  const Handle handle;
  const Desc boxes, output(kInt, {0});
  const int64_t dims[] = {0, 9}, strides[] = {-5, 3};
  ASSERT_OK(mluOpSetTensorDescriptorEx_v2(boxes, MLUOP_LAYOUT_ARRAY, kFloat, 2, dims, strides));
  const DeviceArray<int32_t> result_num(1);
  EXPECT_OK(
      mluOpPolyNms(handle, boxes, nullptr, 0.5f, nullptr, 0, output, nullptr, result_num.data()));
  EXPECT_EQ(result_num.Download(), std::vector<int32_t>{0});
}

// As many elements apart as in a row-major tensor, but in another order.
TEST(Strides, OfATransposedTensorAreNotSupported) {
  const Handle handle;
  const Desc boxes, ious(kFloat, {4, 4});
  const int64_t dims[] = {4, 4}, strides[] = {1, 4};
  ASSERT_OK(mluOpSetTensorDescriptorEx_v2(boxes, MLUOP_LAYOUT_ARRAY, kFloat, 2, dims, strides));
  EXPECT_EQ(mluOpBboxOverlaps(handle, 0, false, 0, boxes, nullptr, boxes, nullptr, ious, nullptr),
            MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(LastError().rfind("mluOpBboxOverlaps: bbox1: ", 0), 0u) << LastError();
}

// Offsets of elements that no memory could have; they overflowed.
TEST(Strides, Beyond64BitsAreRefusedByTheDescriptor) {
  const Desc desc;
  const int64_t most = std::numeric_limits<int64_t>::max(), least = -most - 1;
  const int64_t dims[] = {3, 2, 1};
  for (const int64_t wrong : {most, least, most / 4, least / 4 - 1}) {
    const int64_t strides[] = {2, wrong, 1};
    EXPECT_EQ(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, kFloat, 3, dims, strides),
              MLUOP_STATUS_BAD_PARAM)
        << wrong;
    EXPECT_EQ(LastError(), "mluOpSetTensorDescriptorEx_v2: dimStride: the size overflows 64 bits");
    EXPECT_EQ(mluOpGetTensorElementNum(desc), 0u);
  }
  const int64_t strides[] = {2, most / 4 - 4, most};  // the last dim is 1
  EXPECT_OK(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, kFloat, 3, dims, strides));
}

TEST(MakeContiguous, CopiesDimsThatAreOneWhateverTheirStride) {
  const Handle handle;
  const Desc strided;
  const int64_t huge = int64_t{1} << 62;
  const int64_t dims[] = {1, 2, 1, 2, 1, 2}, strides[] = {huge, 4, -huge, 2, huge + 1, 1};
  ASSERT_OK(mluOpSetTensorDescriptorEx_v2(strided, MLUOP_LAYOUT_ARRAY, kInt, 6, dims, strides));
  const std::vector<int32_t> host = {0, 1, 2, 3, 4, 5, 6, 7};
  const DeviceArray<int32_t> source{std::span<const int32_t>(host)};
  const DeviceArray<int32_t> result(8);
  EXPECT_OK(detopsMakeContiguous(handle, strided, source.data(), result.data()));
  EXPECT_EQ(result.Download(), host);
}

// So that it serves to align data, which the operators ask for.
TEST(MakeContiguous, CopiesFromAnyAddressOnTheProcessor) {
  const Handle handle("cpu:reference");
  const std::vector<int32_t> host = {7, 8, 9};
  std::vector<char> bytes(1 + sizeof(int32_t) * host.size());
  std::memcpy(bytes.data() + 1, host.data(), bytes.size() - 1);
  std::vector<int32_t> result(3);
  EXPECT_OK(detopsMakeContiguous(handle, Desc(kInt, {3}), bytes.data() + 1, result.data()));
  EXPECT_EQ(result, host);
}

TEST(MakeContiguous, CopiesAnyStridesAndRefusesNull) {
  const Handle handle;
  const Desc transposed;
  const int64_t dims[] = {2, 3}, strides[] = {1, 2};
  ASSERT_OK(mluOpSetTensorDescriptorEx_v2(transposed, MLUOP_LAYOUT_ARRAY, kInt, 2, dims, strides));
  const std::vector<int32_t> host = {0, 10, 1, 11, 2, 12};
  const DeviceArray<int32_t> source{std::span<const int32_t>(host)};
  const DeviceArray<int32_t> result(6);
  EXPECT_EQ(detopsMakeContiguous(nullptr, transposed, source.data(), result.data()),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsMakeContiguous(handle, nullptr, source.data(), result.data()),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsMakeContiguous(handle, transposed, nullptr, result.data()),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsMakeContiguous(handle, transposed, source.data(), nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("detopsMakeContiguous: dst: ", 0), 0u) << LastError();
  EXPECT_TRUE(result.UntouchedFrom(0));
  EXPECT_OK(detopsMakeContiguous(handle, transposed, source.data(), result.data()));
  EXPECT_EQ(result.Download(), std::vector<int32_t>({0, 1, 2, 10, 11, 12}));
  EXPECT_OK(detopsMakeContiguous(handle, Desc(kInt, {0, 3}), nullptr, nullptr));
}

}  // namespace
}  // namespace detops::test
