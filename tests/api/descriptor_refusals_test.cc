// SPDX-License-Identifier: Apache-2.0
//
// What descriptors refuse; each refusal leaves the descriptor as it was.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "api/descriptor_state.h"

namespace detops::test {
namespace {

constexpr auto kLayout = MLUOP_LAYOUT_NC;
constexpr auto kDtype = MLUOP_DTYPE_INT32;

struct Setter {
  const char* function;
  bool sets_layout_and_dtype;
  std::function<mluOpStatus_t(mluOpTensorDescriptor_t, mluOpTensorLayout_t, mluOpDataType_t, int,
                              const std::vector<int64_t>*)>
      set;
};

std::vector<int> Narrow(const std::vector<int64_t>* values) {
  std::vector<int> narrow;
  for (int64_t v : values != nullptr ? *values : std::vector<int64_t>{}) {
    narrow.push_back(static_cast<int>(v));
  }
  return narrow;
}

// The six setters behind one signature; null dims are passed on as null.
std::vector<Setter> Setters() {
  const auto narrow = [](auto&& call) {
    return [call](mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                  int rank, const std::vector<int64_t>* dims) {
      const std::vector<int> values = Narrow(dims);
      return call(desc, layout, dtype, rank, dims == nullptr ? nullptr : values.data());
    };
  };
  const auto wide = [](auto&& call) {
    return [call](mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                  int rank, const std::vector<int64_t>* dims) {
      return call(desc, layout, dtype, rank, dims == nullptr ? nullptr : dims->data());
    };
  };
  return {
      {"mluOpSetTensorDescriptor", true, narrow(mluOpSetTensorDescriptor)},
      {"mluOpSetTensorDescriptor_v2", true, wide(mluOpSetTensorDescriptor_v2)},
      {"mluOpSetTensorDescriptorEx", true, narrow([](auto d, auto l, auto t, int n, const int* s) {
         const std::vector<int> strides(9, 1);
         return mluOpSetTensorDescriptorEx(d, l, t, n, s, strides.data());
       })},
      {"mluOpSetTensorDescriptorEx_v2", true,
       wide([](auto d, auto l, auto t, int n, const int64_t* s) {
         const std::vector<int64_t> strides(9, 1);
         return mluOpSetTensorDescriptorEx_v2(d, l, t, n, s, strides.data());
       })},
      {"mluOpSetTensorDescriptorDim", false, narrow([](auto d, auto, auto, int n, const int* s) {
         return mluOpSetTensorDescriptorDim(d, n, s);
       })},
      {"mluOpSetTensorDescriptorDim_v2", false,
       wide([](auto d, auto, auto, int n, const int64_t* s) {
         return mluOpSetTensorDescriptorDim_v2(d, n, s);
       })},
  };
}

class DescriptorSetter : public ::testing::TestWithParam<Setter> {
 protected:
  void ExpectRefused(const char* argument, mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                     int rank, const std::vector<int64_t>* dims) {
    const Desc desc(MLUOP_DTYPE_HALF, {7, 3}, MLUOP_LAYOUT_NTC);
    const DescriptorState before = StateOf(desc);
    EXPECT_EQ(GetParam().set(desc, layout, dtype, rank, dims), MLUOP_STATUS_BAD_PARAM);
    const std::string text = detopsGetLastErrorMessage();
    EXPECT_EQ(text.rfind(GetParam().function + std::string(": ") + argument + ": ", 0), 0u) << text;
    EXPECT_EQ(StateOf(desc), before);
  }
};

TEST_P(DescriptorSetter, TakesUpToEightDims) {
  const Desc desc;
  const std::vector<int64_t> dims(8, 1);
  EXPECT_OK(GetParam().set(desc, kLayout, kDtype, 8, &dims));
  EXPECT_EQ(StateOf(desc).dims, dims);
}

TEST_P(DescriptorSetter, RefusesBadRanks) {
  const std::vector<int64_t> dims(9, 1);
  ExpectRefused("dimNb", kLayout, kDtype, 9, &dims);
  ExpectRefused("dimNb", kLayout, kDtype, 1000000, &dims);
  ExpectRefused("dimNb", kLayout, kDtype, -1, &dims);
  ExpectRefused("dimNb", kLayout, kDtype, 0, &dims);
}

TEST_P(DescriptorSetter, RefusesNegativeDimsAndNone) {
  const std::vector<int64_t> negative = {4, -1};
  ExpectRefused("dimSize", kLayout, kDtype, 2, &negative);
  ExpectRefused("dimSize", kLayout, kDtype, 2, nullptr);
}

TEST_P(DescriptorSetter, RefusesUnknownLayoutsAndTypes) {
  if (!GetParam().sets_layout_and_dtype) return;  // it has no such arguments
  const std::vector<int64_t> dims = {4, 5};
  for (int layout : {-1, 11, 1000}) {
    ExpectRefused("layout", static_cast<mluOpTensorLayout_t>(layout), kDtype, 2, &dims);
  }
  for (int dtype : {-1, 0, 10, 18, 1000}) {
    ExpectRefused("dtype", kLayout, static_cast<mluOpDataType_t>(dtype), 2, &dims);
  }
}

TEST_P(DescriptorSetter, RefusesANullDescriptor) {
  const std::vector<int64_t> dims = {4, 5};
  EXPECT_EQ(GetParam().set(nullptr, kLayout, kDtype, 2, &dims), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(std::string(detopsGetLastErrorMessage())
                .rfind(GetParam().function + std::string(": desc: "), 0),
            0u);
}

void PrintTo(const Setter& setter, std::ostream* out) { *out << setter.function; }
INSTANTIATE_TEST_SUITE_P(, DescriptorSetter, ::testing::ValuesIn(Setters()),
                         [](const auto& tested) { return std::string(tested.param.function); });

TEST(DescriptorRefusals, ExSettersNeedStrides) {
  const Desc desc(MLUOP_DTYPE_HALF, {7, 3});
  const DescriptorState before = StateOf(desc);
  const int dims[] = {4, 5};
  const int64_t dims64[] = {4, 5};
  EXPECT_EQ(mluOpSetTensorDescriptorEx(desc, kLayout, kDtype, 2, dims, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetTensorDescriptorEx_v2(desc, kLayout, kDtype, 2, dims64, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(detopsGetLastErrorMessage()).find("dimStride: "), std::string::npos);
  EXPECT_EQ(StateOf(desc), before);
}

TEST(DescriptorRefusals, ExGettersNeedEveryPointer) {
  const Desc desc(MLUOP_DTYPE_HALF, {7, 3});
  const char* names[] = {"layout", "dtype", "dimNb", "dimSize", "dimStride"};
  for (int missing = 0; missing < 5; ++missing) {
    mluOpTensorLayout_t layout = MLUOP_LAYOUT_NCL;
    mluOpDataType_t dtype = MLUOP_DTYPE_BOOL;
    int rank = 99, dims[2] = {98, 97}, strides[2] = {96, 95};
    int64_t dims64[2] = {98, 97}, strides64[2] = {96, 95};
    const auto layout_or_null = missing == 0 ? nullptr : &layout;
    const auto dtype_or_null = missing == 1 ? nullptr : &dtype;
    const auto rank_or_null = missing == 2 ? nullptr : &rank;
    EXPECT_EQ(
        mluOpGetTensorDescriptorEx(desc, layout_or_null, dtype_or_null, rank_or_null,
                                   missing == 3 ? nullptr : dims, missing == 4 ? nullptr : strides),
        MLUOP_STATUS_BAD_PARAM);
    EXPECT_EQ(detopsGetLastErrorMessage(), std::string("mluOpGetTensorDescriptorEx: ") +
                                               names[missing] +
                                               ": is null, expected a pointer to its data");
    EXPECT_EQ(mluOpGetTensorDescriptorEx_v2(desc, layout_or_null, dtype_or_null, rank_or_null,
                                            missing == 3 ? nullptr : dims64,
                                            missing == 4 ? nullptr : strides64),
              MLUOP_STATUS_BAD_PARAM);
    EXPECT_EQ(layout, MLUOP_LAYOUT_NCL);
    EXPECT_EQ(dtype, MLUOP_DTYPE_BOOL);
    EXPECT_TRUE(rank == 99 && dims[0] == 98 && strides[0] == 96);
    EXPECT_TRUE(dims64[0] == 98 && strides64[0] == 96);
  }
}

TEST(DescriptorRefusals, UnknownPointerModes) {
  const Desc desc;
  for (int mode : {-1, 2}) {
    EXPECT_EQ(mluOpSetTensorDescriptorPointerMode(desc, static_cast<mluOpPointerMode_t>(mode)),
              MLUOP_STATUS_BAD_PARAM);
  }
  EXPECT_EQ(StateOf(desc).pointer_mode, MLUOP_POINTER_MODE_DEVICE);
}

TEST(DescriptorRefusals, NullDescriptorsAndOutPointers) {
  const Desc desc;
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype;
  mluOpPointerMode_t mode;
  int value = 0, values[8];
  int64_t wide[8];
  float scale = 0;
  const mluOpStatus_t bad = MLUOP_STATUS_BAD_PARAM;
  EXPECT_EQ(mluOpCreateTensorDescriptor(nullptr), bad);
  EXPECT_EQ(mluOpDestroyTensorDescriptor(nullptr), bad);
  EXPECT_EQ(mluOpResetTensorDescriptor(nullptr), bad);
  EXPECT_EQ(mluOpGetTensorDescriptor(nullptr, &layout, &dtype, &value, values), bad);
  EXPECT_EQ(mluOpGetTensorDescriptor_v2(nullptr, &layout, &dtype, &value, wide), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorEx(nullptr, &layout, &dtype, &value, values, values), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorEx_v2(nullptr, &layout, &dtype, &value, wide, wide), bad);
  EXPECT_EQ(mluOpSetTensorDescriptorOnchipDataType(nullptr, MLUOP_DTYPE_HALF), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorOnchipDataType(nullptr, &dtype), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorOnchipDataType(desc, nullptr), bad);
  EXPECT_EQ(mluOpSetTensorDescriptorPositionAndScale(nullptr, 1, 1.0f), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionAndScale(nullptr, &value, &scale), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionAndScale(desc, nullptr, &scale), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionAndScale(desc, &value, nullptr), bad);
  EXPECT_EQ(mluOpSetTensorDescriptorPosition(nullptr, 1), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPosition(nullptr, &value), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPosition(desc, nullptr), bad);
  EXPECT_EQ(mluOpSetTensorDescriptorPositionScaleAndOffset(nullptr, 1, 1.0f, 1), bad);
  int other = 0;
  EXPECT_EQ(mluOpGetTensorDescriptorPositionScaleAndOffset(nullptr, &value, &scale, &other), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionScaleAndOffset(desc, nullptr, &scale, &other), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionScaleAndOffset(desc, &value, nullptr, &other), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPositionScaleAndOffset(desc, &value, &scale, nullptr), bad);
  EXPECT_EQ(mluOpSetTensorDescriptorPointerMode(nullptr, MLUOP_POINTER_MODE_HOST), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPointerMode(nullptr, &mode), bad);
  EXPECT_EQ(mluOpGetTensorDescriptorPointerMode(desc, nullptr), bad);
}

TEST(DescriptorRefusals, Groups) {
  mluOpTensorDescriptor_t first = nullptr, second = nullptr;
  mluOpTensorDescriptor_t* group[] = {&first, nullptr};
  EXPECT_EQ(mluOpCreateGroupTensorDescriptors(nullptr, 1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpCreateGroupTensorDescriptors(group, -1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpCreateGroupTensorDescriptors(group, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(first, nullptr) << "all or none";
  group[1] = &second;
  ASSERT_OK(mluOpCreateGroupTensorDescriptors(group, 1));
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(nullptr, 1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(group, -1), MLUOP_STATUS_BAD_PARAM);
  // The second is no descriptor: neither goes, and the first is still good.
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(group, 2), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetTensorElementNum(first), 0u);
  EXPECT_OK(mluOpDestroyGroupTensorDescriptors(group, 1));
}

TEST(DescriptorRefusals, GroupsAreSetAllOrNone) {
  const Desc first, second;
  mluOpTensorDescriptor_t descs[] = {first, second}, none = nullptr;
  mluOpTensorDescriptor_t* group[] = {&descs[0], &descs[1]};
  mluOpTensorDescriptor_t *with_null[] = {&descs[0], nullptr}, *with_none[] = {&descs[0], &none};
  const mluOpTensorLayout_t layouts[] = {MLUOP_LAYOUT_ARRAY, MLUOP_LAYOUT_ARRAY};
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_INVALID};
  const mluOpDataType_t good_dtypes[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF};
  const int ranks[] = {1, 1}, wrong_ranks[] = {1, 9}, negative_ranks[] = {-1, 1};
  const int dims[] = {5, 6, 1, 1, 1, 1, 1, 1, 1, 1}, wrong_dims[] = {5, -6};
  const mluOpStatus_t bad = MLUOP_STATUS_BAD_PARAM;
  const auto set = mluOpSetGroupTensorDescriptors;
  EXPECT_EQ(set(nullptr, layouts, good_dtypes, ranks, dims, 2), bad);
  EXPECT_EQ(set(group, nullptr, good_dtypes, ranks, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, nullptr, ranks, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, good_dtypes, nullptr, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, good_dtypes, ranks, nullptr, 2), bad);
  EXPECT_EQ(set(group, layouts, good_dtypes, ranks, dims, -1), bad);
  EXPECT_EQ(set(with_null, layouts, good_dtypes, ranks, dims, 2), bad);
  EXPECT_EQ(set(with_none, layouts, good_dtypes, ranks, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, dtypes, ranks, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, good_dtypes, wrong_ranks, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, good_dtypes, negative_ranks, dims, 2), bad);
  EXPECT_EQ(set(group, layouts, good_dtypes, ranks, wrong_dims, 2), bad);
  EXPECT_STREQ(detopsGetLastErrorMessage(),
               "mluOpSetGroupTensorDescriptors: dimSize: dim 0 is -6, expected 0 or more");
  EXPECT_EQ(mluOpGetTensorElementNum(first), 0u) << "all or none";
  EXPECT_OK(set(group, layouts, good_dtypes, ranks, dims, 2));
}

}  // namespace
}  // namespace detops::test
