// SPDX-License-Identifier: Apache-2.0
#include "support/operators.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "support/device_buffer.h"
#include "support/handle.h"

namespace detops::test {
namespace {

template <class T>
constexpr mluOpDataType_t kDtype = MLUOP_DTYPE_FLOAT;
template <>
constexpr mluOpDataType_t kDtype<uint16_t> = MLUOP_DTYPE_HALF;

thread_local int64_t last_pair_count = -1, last_candidate_count = -1;

void ExpectRan(mluOpHandle_t handle, const std::string& implementation) {
  EXPECT_EQ(detopsGetLastImplementation(handle), implementation);
  last_pair_count = detopsGetLastPairCount(handle);
  last_candidate_count = detopsGetLastCandidateCount(handle);
}

template <class T>
std::vector<T> RunBboxOverlaps(const std::string& implementation, std::span<const T> bbox1,
                               std::span<const T> bbox2, int mode, bool aligned, int offset) {
  const auto rows = static_cast<int64_t>(bbox1.size() / 4);
  const auto cols = static_cast<int64_t>(bbox2.size() / 4);
  const Handle handle(implementation);
  const Desc desc1(kDtype<T>, {rows, 4}), desc2(kDtype<T>, {cols, 4});
  const Desc ious_desc(kDtype<T>,
                       aligned ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, cols});
  const DeviceArray<T> in1(bbox1), in2(bbox2);
  const DeviceArray<T> ious(static_cast<size_t>(aligned ? rows : rows * cols));
  EXPECT_OK(mluOpBboxOverlaps(handle, mode, aligned, offset, desc1, in1.data(), desc2, in2.data(),
                              ious_desc, ious.data()));
  ExpectRan(handle, implementation);
  return ious.Download();
}

template <class T>
BorderAlignResult<T> RunBorderAlign(const std::string& implementation, std::span<const T> input,
                                    std::span<const T> boxes, const BorderAlignShape& s) {
  const Handle handle(implementation);
  const auto results = static_cast<size_t>(s.n * s.k * 4 * s.c);
  const DeviceArray<T> in(input), in_boxes(boxes), output(results);
  const DeviceArray<int32_t> argmax(results);
  EXPECT_OK(CallBorderAlign(handle, kDtype<T>, s, in.data(), in_boxes.data(), output.data(),
                            argmax.data()));
  ExpectRan(handle, implementation);
  return {output.Download(), argmax.Download()};
}

}  // namespace

std::vector<float> BboxOverlaps(const std::string& implementation, Floats bbox1, Floats bbox2,
                                int mode, bool aligned, int offset) {
  return RunBboxOverlaps(implementation, bbox1, bbox2, mode, aligned, offset);
}

std::vector<uint16_t> BboxOverlaps(const std::string& implementation, Halfs bbox1, Halfs bbox2,
                                   int mode, bool aligned, int offset) {
  return RunBboxOverlaps(implementation, bbox1, bbox2, mode, aligned, offset);
}

std::vector<int32_t> PolyNms(const std::string& implementation, Floats boxes, float iou_threshold) {
  const auto count = static_cast<int64_t>(boxes.size() / 9);
  const Handle handle(implementation);
  const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {count, 9}), output_desc(MLUOP_DTYPE_INT32, {count});
  size_t workspace_size = 0;
  EXPECT_OK(mluOpGetPolyNmsWorkspaceSize(handle, boxes_desc, &workspace_size));
  const DeviceArray<float> in(boxes);
  const DeviceBytes workspace(workspace_size);
  const DeviceArray<int32_t> output(static_cast<size_t>(count)), result_num(size_t{1});
  EXPECT_OK(mluOpPolyNms(handle, boxes_desc, in.data(), iou_threshold, workspace.data(),
                         workspace_size, output_desc, output.data(), result_num.data()));
  ExpectRan(handle, implementation);
  std::vector<int32_t> kept = output.Download();
  const auto kept_count = static_cast<size_t>(result_num.Download()[0]);
  EXPECT_TRUE(output.UntouchedFrom(kept_count));
  kept.resize(kept_count);
  return kept;
}

BorderAlignResult<float> BorderAlign(const std::string& implementation, Floats input, Floats boxes,
                                     const BorderAlignShape& shape) {
  return RunBorderAlign(implementation, input, boxes, shape);
}

BorderAlignResult<uint16_t> BorderAlign(const std::string& implementation, Halfs input, Halfs boxes,
                                        const BorderAlignShape& shape) {
  return RunBorderAlign(implementation, input, boxes, shape);
}

mluOpStatus_t CallBorderAlign(mluOpHandle_t handle, mluOpDataType_t dtype,
                              const BorderAlignShape& s, const void* input, const void* boxes,
                              void* output, void* argmax_idx) {
  using Dims = std::vector<int64_t>;
  const mluOpTensorLayout_t layout = s.nchw ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NHWC;
  const Dims input_dims = s.nchw ? Dims{s.n, 4 * s.c, s.h, s.w} : Dims{s.n, s.h, s.w, 4 * s.c};
  const Dims output_dims = s.nchw ? Dims{s.n, s.c, s.k, 4} : Dims{s.n, s.k, 4, s.c};
  const Desc input_desc(dtype, input_dims, layout), boxes_desc(dtype, {s.n, s.k, 4});
  const Desc output_desc(dtype, output_dims, layout);
  const Desc argmax_desc(MLUOP_DTYPE_INT32, output_dims, layout);
  return detopsBorderAlignForward(handle, input_desc, input, boxes_desc, boxes, s.pool_size,
                                  output_desc, output, argmax_desc,
                                  static_cast<int32_t*>(argmax_idx));
}

ProposalResult GenerateProposals(const std::string& implementation, const ProposalInputs& in,
                                 const ProposalScalars& scalars) {
  const Handle handle(implementation);
  const int64_t most_rois = in.n * scalars.post_nms_top_n;
  const Desc scores_desc(MLUOP_DTYPE_FLOAT, {in.n, in.h, in.w, in.a});
  const Desc deltas_desc(MLUOP_DTYPE_FLOAT, {in.n, in.h, in.w, 4 * in.a});
  const Desc im_shape_desc(MLUOP_DTYPE_FLOAT, {in.n, 2});
  const Desc anchors_desc(MLUOP_DTYPE_FLOAT, {in.h, in.w, in.a, 4});
  const Desc rois_desc(MLUOP_DTYPE_FLOAT, {most_rois, 4});
  const Desc probs_desc(MLUOP_DTYPE_FLOAT, {most_rois, 1});
  const Desc num_desc(MLUOP_DTYPE_INT32, {in.n});
  size_t workspace_size = 0;
  EXPECT_OK(mluOpGetGenerateProposalsV2WorkspaceSize_v2(handle, scores_desc, scalars.pre_nms_top_n,
                                                        &workspace_size));
  const DeviceArray<float> scores{Floats(in.scores)}, deltas{Floats(in.bbox_deltas)};
  const DeviceArray<float> im_shape{Floats(in.im_shape)}, anchors{Floats(in.anchors)};
  const DeviceArray<float> variances{Floats(in.variances)};
  const DeviceBytes workspace(workspace_size);
  const DeviceArray<float> rois(static_cast<size_t>(4 * most_rois));
  const DeviceArray<float> probs(static_cast<size_t>(most_rois));
  const DeviceArray<int32_t> num(static_cast<size_t>(in.n)), batch_size(size_t{1});
  EXPECT_OK(mluOpGenerateProposalsV2(
      handle, scalars.pre_nms_top_n, scalars.post_nms_top_n, scalars.nms_thresh, scalars.min_size,
      scalars.eta, scalars.pixel_offset, scores_desc, scores.data(), deltas_desc, deltas.data(),
      im_shape_desc, im_shape.data(), anchors_desc, anchors.data(), anchors_desc, variances.data(),
      workspace.data(), workspace_size, rois_desc, rois.data(), probs_desc, probs.data(), num_desc,
      num.data(), batch_size.data()));
  ExpectRan(handle, implementation);

  ProposalResult result = {rois.Download(), probs.Download(), num.Download()};
  const auto total = static_cast<size_t>(batch_size.Download()[0]);
  EXPECT_EQ(total, std::accumulate(result.num.begin(), result.num.end(), size_t{0}));
  EXPECT_TRUE(rois.UntouchedFrom(4 * total));
  EXPECT_TRUE(probs.UntouchedFrom(total));
  result.rois.resize(4 * total);
  result.probs.resize(total);
  return result;
}

std::vector<int32_t> PointsInBoxes(const std::string& implementation, Floats points, Floats boxes,
                                   int64_t b, int64_t m, int64_t t) {
  const Handle handle(implementation);
  const Desc points_desc(MLUOP_DTYPE_FLOAT, {b, m, 3}), boxes_desc(MLUOP_DTYPE_FLOAT, {b, t, 7});
  const Desc indices_desc(MLUOP_DTYPE_INT32, {b, m});
  const DeviceArray<float> in_points(points), in_boxes(boxes);
  const DeviceArray<int32_t> indices(static_cast<size_t>(b * m));
  EXPECT_OK(mluOpPointsInBoxes(handle, points_desc, in_points.data(), boxes_desc, in_boxes.data(),
                               indices_desc, indices.data()));
  ExpectRan(handle, implementation);
  return indices.Download();
}

int64_t LastPairCount() { return last_pair_count; }
int64_t LastCandidateCount() { return last_candidate_count; }

void ExpectSameFloats(Floats got, Floats expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  int shown = 0;
  for (size_t i = 0; i < got.size() && shown < 5; ++i) {
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    // Zeros of both signs are one value of the contract.
    if (got[i] == 0.0f && expected[i] == 0.0f) continue;
    const bool same = std::bit_cast<uint32_t>(got[i]) == std::bit_cast<uint32_t>(expected[i]);
    EXPECT_TRUE(same) << what << ": element " << i << " is " << got[i] << ", expected "
                      << expected[i];
    shown += same ? 0 : 1;
  }
}

}  // namespace detops::test
