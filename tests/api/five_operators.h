// SPDX-License-Identifier: Apache-2.0
//
// One small problem for each of the five operators, with a handle, a queue, descriptors and buffers
// of its own: what a thread of a client has.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "support/device_buffer.h"
#include "support/handle.h"

namespace detops::test {

class FiveOperators {
 public:
  // The same seed makes the same problems.
  explicit FiveOperators(unsigned seed) : rng_(seed) {
    EXPECT_EQ(cnrtQueueCreate(&queue_), cnrtSuccess);
    EXPECT_OK(mluOpSetQueue(handle_, queue_));
  }
  ~FiveOperators() {
    EXPECT_OK(mluOpSetQueue(handle_, nullptr));
    EXPECT_EQ(cnrtQueueDestroy(queue_), cnrtSuccess);
  }
  FiveOperators(const FiveOperators&) = delete;
  FiveOperators& operator=(const FiveOperators&) = delete;

  mluOpHandle_t handle() const { return handle_; }

  // The bytes of every output, one after the other.
  std::vector<uint8_t> Run() const {
    std::vector<uint8_t> all;
    RunBboxOverlaps(all);
    RunPolyNms(all);
    RunBorderAlignForward(all);
    RunGenerateProposalsV2(all);
    RunPointsInBoxes(all);
    return all;
  }

 private:
  static constexpr auto kFloat = MLUOP_DTYPE_FLOAT;
  static constexpr auto kInt = MLUOP_DTYPE_INT32;
  static constexpr int64_t kM = 7, kN = 9;                          // bbox_overlaps
  static constexpr int64_t kQuads = 20;                             // poly_nms
  static constexpr int64_t kH = 5, kW = 6, kC = 3, kK = 4;          // border_align_forward
  static constexpr int64_t kImages = 2, kAnchors = 3, kPost = 8;    // generate_proposals_v2
  static constexpr int64_t kBatches = 2, kPoints = 30, kBoxes = 5;  // points_in_boxes

  std::vector<float> Random(int64_t count, float low, float high) {
    std::uniform_real_distribution<float> value(low, high);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& v : values) v = value(rng_);
    return values;
  }

  // Corners x1,y1,x2,y2 with x1 < x2 and y1 < y2.
  std::vector<float> RandomBoxes(int64_t count) {
    std::vector<float> boxes = Random(4 * count, 0, 5);
    for (size_t i = 0; i < boxes.size(); i += 4) {
      boxes[i + 2] += boxes[i] + 1;
      boxes[i + 3] += boxes[i + 1] + 1;
    }
    return boxes;
  }

  // Axis-aligned, which is enough for suppression to happen.
  std::vector<float> RandomQuads() {
    const std::vector<float> boxes = RandomBoxes(kQuads), scores = Random(kQuads, 0, 1);
    std::vector<float> quads;
    for (size_t i = 0; i < scores.size(); ++i) {
      const float x1 = boxes[4 * i], y1 = boxes[4 * i + 1];
      const float x2 = boxes[4 * i + 2], y2 = boxes[4 * i + 3];
      quads.insert(quads.end(), {x1, y1, x2, y1, x2, y2, x1, y2, scores[i]});
    }
    return quads;
  }

  template <class T>
  void Append(const DeviceArray<T>& output, std::vector<uint8_t>& all) const {
    EXPECT_EQ(cnrtQueueSync(queue_), cnrtSuccess);
    const std::vector<T> host = output.Download();
    const auto* bytes = reinterpret_cast<const uint8_t*>(host.data());
    all.insert(all.end(), bytes, bytes + host.size() * sizeof(T));
  }

  void RunBboxOverlaps(std::vector<uint8_t>& all) const {
    const Desc bbox1(kFloat, {kM, 4}), bbox2(kFloat, {kN, 4}), ious_desc(kFloat, {kM, kN});
    const DeviceArray<float> ious(kM * kN);
    EXPECT_OK(mluOpBboxOverlaps(handle_, 0, false, 1, bbox1, bbox1_.data(), bbox2, bbox2_.data(),
                                ious_desc, ious.data()));
    Append(ious, all);
  }

  void RunPolyNms(std::vector<uint8_t>& all) const {
    const Desc boxes(kFloat, {kQuads, 9}), output_desc(kInt, {kQuads});
    size_t bytes = 0;
    EXPECT_OK(mluOpGetPolyNmsWorkspaceSize(handle_, boxes, &bytes));
    const DeviceBytes workspace(bytes);
    const DeviceArray<int32_t> output(kQuads), result_num(1);
    EXPECT_OK(mluOpPolyNms(handle_, boxes, quads_.data(), 0.3f, workspace.data(), bytes,
                           output_desc, output.data(), result_num.data()));
    Append(output, all);
    Append(result_num, all);
  }

  void RunBorderAlignForward(std::vector<uint8_t>& all) const {
    const auto nhwc = MLUOP_LAYOUT_NHWC;
    const Desc input(kFloat, {1, kH, kW, 4 * kC}, nhwc), boxes(kFloat, {1, kK, 4});
    const Desc output_desc(kFloat, {1, kK, 4, kC}, nhwc), argmax_desc(kInt, {1, kK, 4, kC}, nhwc);
    const DeviceArray<float> output(kK * 4 * kC);
    const DeviceArray<int32_t> argmax(kK * 4 * kC);
    EXPECT_OK(mluOpBorderAlignForward(handle_, input, map_.data(), boxes, map_boxes_.data(), 4,
                                      output_desc, output.data(), argmax_desc, argmax.data()));
    Append(output, all);
    Append(argmax, all);
  }

  void RunGenerateProposalsV2(std::vector<uint8_t>& all) const {
    const Desc scores(kFloat, {kImages, kH, kW, kAnchors});
    const Desc deltas(kFloat, {kImages, kH, kW, 4 * kAnchors}), shape(kFloat, {kImages, 2});
    const Desc anchors(kFloat, {kH, kW, kAnchors, 4});
    const Desc rois_desc(kFloat, {kImages * kPost, 4}), probs_desc(kFloat, {kImages * kPost, 1});
    const Desc num_desc(kInt, {kImages});
    size_t bytes = 0;
    EXPECT_OK(mluOpGetGenerateProposalsV2WorkspaceSize(handle_, scores, &bytes));
    const DeviceBytes workspace(bytes);
    const DeviceArray<float> rois(kImages * kPost * 4), probs(kImages * kPost);
    const DeviceArray<int32_t> num(kImages), batch_size(1);
    EXPECT_OK(mluOpGenerateProposalsV2(handle_, 40, kPost, 0.5f, 0.1f, 1.0f, true, scores,
                                       scores_.data(), deltas, deltas_.data(), shape, shape_.data(),
                                       anchors, anchors_.data(), anchors, variances_.data(),
                                       workspace.data(), bytes, rois_desc, rois.data(), probs_desc,
                                       probs.data(), num_desc, num.data(), batch_size.data()));
    Append(rois, all);
    Append(probs, all);
    Append(num, all);
    Append(batch_size, all);
  }

  void RunPointsInBoxes(std::vector<uint8_t>& all) const {
    const Desc points(kFloat, {kBatches, kPoints, 3}), boxes(kFloat, {kBatches, kBoxes, 7});
    const Desc indices_desc(kInt, {kBatches, kPoints});
    const DeviceArray<int32_t> indices(kBatches * kPoints);
    EXPECT_OK(mluOpPointsInBoxes(handle_, points, points_.data(), boxes, boxes3d_.data(),
                                 indices_desc, indices.data()));
    Append(indices, all);
  }

  using Floats = DeviceArray<float>;

  std::mt19937 rng_;
  Handle handle_;
  cnrtQueue_t queue_ = nullptr;
  Floats bbox1_{RandomBoxes(kM)}, bbox2_{RandomBoxes(kN)};
  Floats quads_{RandomQuads()};
  Floats map_{Random(kH * kW * 4 * kC, -1, 1)}, map_boxes_{RandomBoxes(kK)};
  Floats scores_{Random(kImages * kH * kW * kAnchors, 0, 1)};
  Floats deltas_{Random(kImages * kH * kW * kAnchors * 4, -1, 1)};
  Floats shape_{Random(kImages * 2, 8, 12)};
  Floats anchors_{RandomBoxes(kH * kW * kAnchors)};
  Floats variances_{Random(kH * kW * kAnchors * 4, 0.1f, 1)};
  Floats points_{Random(kBatches * kPoints * 3, -2, 2)};
  Floats boxes3d_{Random(kBatches * kBoxes * 7, -2, 3)};
};

}  // namespace detops::test
