// SPDX-License-Identifier: Apache-2.0
//
// Nothing to do is a success that needs no data; what has no meaning when empty is refused.
#include "api/operator_call.h"

namespace detops::test {
namespace {

constexpr auto kFloat = MLUOP_DTYPE_FLOAT;
constexpr auto kInt = MLUOP_DTYPE_INT32;

bool LastErrorNames(const char* function_and_argument) {
  return std::string(detopsGetLastErrorMessage()).rfind(function_and_argument, 0) == 0;
}

TEST(EmptyBboxOverlaps, NeedsNoData) {
  const Handle handle;
  struct Shapes {
    std::vector<int64_t> bbox1, bbox2, ious;
    bool aligned;
  };
  const std::vector<Shapes> all = {{{0, 4}, {3, 4}, {0, 3}, false},
                                   {{3, 4}, {0, 4}, {3, 0}, false},
                                   {{0, 4}, {0, 4}, {0, 0}, false},
                                   {{0, 4}, {0, 4}, {0}, true},
                                   {{0, 4}, {0, 4}, {0, 1}, true},
                                   // No boxes have no coordinates, so their number does not matter.
                                   {{0, 7}, {3, 4}, {0, 3}, false},
                                   {{3, 4}, {0, 0}, {3, 0}, false}};
  for (const Shapes& s : all) {
    const Desc bbox1(kFloat, s.bbox1), bbox2(kFloat, s.bbox2), ious(kFloat, s.ious);
    EXPECT_OK(
        mluOpBboxOverlaps(handle, 0, s.aligned, 0, bbox1, nullptr, bbox2, nullptr, ious, nullptr));
    EXPECT_EQ(
        mluOpBboxOverlaps(handle, 2, s.aligned, 0, bbox1, nullptr, bbox2, nullptr, ious, nullptr),
        MLUOP_STATUS_BAD_PARAM);
    EXPECT_TRUE(LastErrorNames("mluOpBboxOverlaps: mode: "));
  }
}

TEST(EmptyBboxOverlaps, OtherTensorIsStillChecked) {
  const Handle handle;
  const Desc none(kFloat, {0, 4}), five(kFloat, {3, 5}), ious(kFloat, {0, 3});
  EXPECT_EQ(mluOpBboxOverlaps(handle, 0, false, 0, none, nullptr, five, nullptr, ious, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(LastErrorNames("mluOpBboxOverlaps: bbox2: dim 1 is 5"));
}

TEST(EmptyPolyNms, SetsTheCountAndNeedsNothingElse) {
  const Handle handle;
  const Desc boxes(kFloat, {0, 9}), output(kInt, {0});
  const DeviceArray<int32_t> result_num(1);
  EXPECT_OK(
      mluOpPolyNms(handle, boxes, nullptr, 0.5f, nullptr, 0, output, nullptr, result_num.data()));
  EXPECT_EQ(result_num.Download(), std::vector<int32_t>{0});
  EXPECT_EQ(mluOpPolyNms(handle, boxes, nullptr, 0.5f, nullptr, 0, output, nullptr, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(LastErrorNames("mluOpPolyNms: result_num: "));
}

TEST(EmptyPolyNms, StillHasNineNumbersABox) {
  const Handle handle;
  const Desc boxes(kFloat, {0, 8}), output(kInt, {0});
  const DeviceArray<int32_t> result_num(1);
  EXPECT_EQ(
      mluOpPolyNms(handle, boxes, nullptr, 0.5f, nullptr, 0, output, nullptr, result_num.data()),
      MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(LastErrorNames("mluOpPolyNms: boxes: dim 1 is 8, expected 9"));
  EXPECT_TRUE(result_num.UntouchedFrom(0));
}

// No tensor has data; only the count is written.
mluOpStatus_t ProposalsOfNoImages(const std::vector<int64_t>& hwa, void* batch_size) {
  const Handle handle;
  const int64_t h = hwa[0], w = hwa[1], a = hwa[2];
  const Desc scores(kFloat, {0, h, w, a}), deltas(kFloat, {0, h, w, 4 * a}), shape(kFloat, {0, 2});
  const Desc anchors(kFloat, {h, w, a, 4}), variances(kFloat, {h, w, a, 4});
  const Desc rois(kFloat, {0, 4}), probs(kFloat, {0, 1}), num(kInt, {0});
  return mluOpGenerateProposalsV2(handle, 6000, 1000, 0.5f, 0.1f, 1.0f, false, scores, nullptr,
                                  deltas, nullptr, shape, nullptr, anchors, nullptr, variances,
                                  nullptr, nullptr, 0, rois, nullptr, probs, nullptr, num, nullptr,
                                  batch_size);
}

TEST(EmptyGenerateProposalsV2, SetsTheCountAndNeedsNothingElse) {
  const DeviceArray<int32_t> batch_size(1);
  EXPECT_OK(ProposalsOfNoImages({2, 3, 4}, batch_size.data()));
  EXPECT_EQ(batch_size.Download(), std::vector<int32_t>{0});
  EXPECT_EQ(ProposalsOfNoImages({2, 3, 4}, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(LastErrorNames("mluOpGenerateProposalsV2: rpn_rois_batch_size: "));
}

TEST(EmptyGenerateProposalsV2, RefusesNoAnchorsEvenOfNoImages) {
  const DeviceArray<int32_t> batch_size(1);
  const std::vector<std::vector<int64_t>> without = {{0, 3, 4}, {2, 0, 4}, {2, 3, 0}};
  for (const std::vector<int64_t>& hwa : without) {
    EXPECT_EQ(ProposalsOfNoImages(hwa, batch_size.data()), MLUOP_STATUS_BAD_PARAM);
    EXPECT_TRUE(LastErrorNames("mluOpGenerateProposalsV2: scores: dim "));
  }
  EXPECT_TRUE(batch_size.UntouchedFrom(0));
}

TEST(EmptyGenerateProposalsV2, NoRoisWantedIsLegal) {
  const OperatorCall op = CallsOf(schema::Named("generate_proposals_v2")).front();
  CallSetup setup(op);
  setup.scalars[ScalarNamed(*op.schema, "post_nms_top_n")] = 0;
  for (size_t t : {5, 6}) {  // rpn_rois and rpn_roi_probs
    setup.tensors[t].dims[0] = 0;
    setup.tensors[t].has_data = false;
  }
  const Outcome outcome = MakeCall(op, setup);
  EXPECT_EQ(outcome.status, MLUOP_STATUS_SUCCESS) << outcome.text;
}

TEST(EmptyPointsInBoxes, NoPointsNeedNoData) {
  const Handle handle;
  const std::vector<std::vector<int64_t>> bmt = {{0, 5, 3}, {2, 0, 3}, {0, 0, 0}, {0, 5, 0}};
  for (const std::vector<int64_t>& sizes : bmt) {
    const Desc points(kFloat, {sizes[0], sizes[1], 3}), boxes(kFloat, {sizes[0], sizes[2], 7});
    const Desc indices(kInt, {sizes[0], sizes[1]});
    EXPECT_OK(mluOpPointsInBoxes(handle, points, nullptr, boxes, nullptr, indices, nullptr));
  }
}

TEST(EmptyPointsInBoxes, NoBoxesHoldNoPoint) {
  const Handle handle;
  const Desc points_desc(kFloat, {2, 3, 3}), boxes(kFloat, {2, 0, 7}), indices_desc(kInt, {2, 3});
  const std::vector<float> host(18, 0.0f);
  const DeviceArray<float> points{std::span<const float>(host)};
  const DeviceArray<int32_t> indices(6);
  EXPECT_OK(mluOpPointsInBoxes(handle, points_desc, points.data(), boxes, nullptr, indices_desc,
                               indices.data()));
  EXPECT_EQ(indices.Download(), std::vector<int32_t>(6, -1));
  EXPECT_EQ(mluOpPointsInBoxes(handle, points_desc, nullptr, boxes, nullptr, indices_desc,
                               indices.data()),
            MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(LastErrorNames("mluOpPointsInBoxes: points: "));
}

// All tensors agree on a size of 0, so that only the operator's rule can refuse.
class EmptyCalls : public ::testing::TestWithParam<OperatorCall> {};

TEST_P(EmptyCalls, AreRefusedOrSucceed) {
  const OperatorCall& op = GetParam();
  for (const schema::Letter& zero : op.schema->letters) {
    CallSetup setup(op);
    bool is_there = false;
    for (size_t t = 0; t < op.tensors.size(); ++t) {
      for (size_t d = 0; d < op.tensors[t].dims.size(); ++d) {
        if (op.tensors[t].dims[d].letter != std::string(1, zero.letter)) continue;
        setup.tensors[t].dims[d] = 0;
        is_there = true;
      }
    }
    if (!is_there) continue;
    const Outcome outcome = MakeCall(op, setup);
    EXPECT_EQ(outcome.status, zero.zero_is_legal ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_BAD_PARAM)
        << zero.letter << " " << outcome.text;
    if (zero.zero_is_legal) continue;
    EXPECT_TRUE(outcome.outputs_untouched) << zero.letter;
    EXPECT_EQ(outcome.text.rfind(op.function + ": ", 0), 0u) << outcome.text;
    EXPECT_NE(outcome.text.find(": dim "), std::string::npos) << outcome.text;
  }
}

INSTANTIATE_TEST_SUITE_P(, EmptyCalls, ::testing::ValuesIn(AllCalls()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace detops::test
