// SPDX-License-Identifier: Apache-2.0
//
// Every C function of the operators, by its shapes in mlu_op.h. Sizes differ from each other where
// they can, so that a swapped pair shows.
#pragma once

#include <cmath>
#include <cstring>

#include "api/operator_call.h"

namespace detops::test {

inline constexpr auto kAnyLayout = std::nullopt;

inline OperatorCall BboxOverlapsCall() {
  const auto type = MLUOP_DTYPE_FLOAT;
  return {"mluOpBboxOverlaps",
          {{"bbox1", false, type, kAnyLayout, {{3, "M"}, {4}}, "T"},
           {"bbox2", false, type, kAnyLayout, {{2, "N"}, {4}}, "T"},
           {"ious", true, type, kAnyLayout, {{3, "M"}, {2, "N"}}, "T"}},
          {},
          {{"mode", 0, {-1, 2}}, {"offset", 0, {-1, 2}}},
          [](const Arguments& a) {
            return mluOpBboxOverlaps(a.handle, a.Int(0), false, a.Int(1), a.descs[0], a.tensors[0],
                                     a.descs[1], a.tensors[1], a.descs[2], a.tensors[2]);
          }};
}

inline OperatorCall BboxOverlapsAlignedCall() {
  const auto type = MLUOP_DTYPE_HALF;
  return {"mluOpBboxOverlaps",
          {{"bbox1", false, type, kAnyLayout, {{3, "M"}, {4}}, "T"},
           {"bbox2", false, type, kAnyLayout, {{3, "M"}, {4}}, "T"},
           {"ious", true, type, kAnyLayout, {{3, "M"}}, "T", {{3, 1}}}},
          {},
          {{"mode", 1, {-1, 2}}, {"offset", 1, {-1, 2}}},
          [](const Arguments& a) {
            return mluOpBboxOverlaps(a.handle, a.Int(0), true, a.Int(1), a.descs[0], a.tensors[0],
                                     a.descs[1], a.tensors[1], a.descs[2], a.tensors[2]);
          }};
}

inline OperatorCall PolyNmsCall() {
  return {"mluOpPolyNms",
          {{"boxes", false, MLUOP_DTYPE_FLOAT, MLUOP_LAYOUT_ARRAY, {{3, "N"}, {9}}},
           {"output", true, MLUOP_DTYPE_INT32, kAnyLayout, {{3, "N"}}}},
          {{"result_num", sizeof(int32_t)}},
          {{"iou_threshold", 0.5, {NAN}}},
          [](const Arguments& a) {
            return mluOpPolyNms(a.handle, a.descs[0], a.tensors[0], a.Float(0), a.workspace,
                                a.workspace_size, a.descs[1], a.tensors[1], a.pointers[0]);
          },
          mluOpGetPolyNmsWorkspaceSize};
}

inline OperatorCall BorderAlignForwardCall() {
  const auto type = MLUOP_DTYPE_FLOAT;
  const auto nhwc = MLUOP_LAYOUT_NHWC;
  const std::vector<Dim> result = {{2, "N"}, {5, "K"}, {4}, {3, "C"}};
  return {
      "mluOpBorderAlignForward",
      {{"input", false, type, nhwc, {{2, "N"}, {6, "H", false}, {7, "W", false}, {12, "C"}}, "TL"},
       {"boxes", false, type, kAnyLayout, {{2, "N"}, {5, "K"}, {4}}, "T"},
       {"output", true, type, nhwc, result, "TL"},
       {"argmax_idx", true, MLUOP_DTYPE_INT32, nhwc, result, "L"}},
      {},
      {{"pool_size", 2, {0, -1}}},
      [](const Arguments& a) {
        return mluOpBorderAlignForward(a.handle, a.descs[0], a.tensors[0], a.descs[1], a.tensors[1],
                                       a.Int(0), a.descs[2], a.tensors[2], a.descs[3],
                                       a.tensors[3]);
      }};
}

inline OperatorCall BorderAlignForwardNchwCall() {
  const auto type = MLUOP_DTYPE_HALF;
  const auto nchw = MLUOP_LAYOUT_NCHW;
  const std::vector<Dim> result = {{2, "N"}, {3, "C"}, {5, "K"}, {4}};
  return {
      "detopsBorderAlignForward",
      {{"input", false, type, nchw, {{2, "N"}, {12, "C"}, {6, "H", false}, {7, "W", false}}, "TL"},
       {"boxes", false, type, kAnyLayout, {{2, "N"}, {5, "K"}, {4}}, "T"},
       {"output", true, type, nchw, result, "TL"},
       {"argmax_idx", true, MLUOP_DTYPE_INT32, nchw, result, "L"}},
      {},
      {{"pool_size", 1, {0, -1}}},
      [](const Arguments& a) {
        return detopsBorderAlignForward(a.handle, a.descs[0], a.tensors[0], a.descs[1],
                                        a.tensors[1], a.Int(0), a.descs[2], a.tensors[2],
                                        a.descs[3], a.tensors[3]);
      }};
}

inline OperatorCall GenerateProposalsV2Call() {
  const auto type = MLUOP_DTYPE_FLOAT;
  const auto array = MLUOP_LAYOUT_ARRAY;
  const std::vector<Dim> per_anchor = {{5, "H"}, {6, "W"}, {3, "A"}, {4}};
  return {"mluOpGenerateProposalsV2",
          {{"scores", false, type, array, {{2, "N"}, {5, "H"}, {6, "W"}, {3, "A"}}},
           {"bbox_deltas", false, type, array, {{2, "N"}, {5, "H"}, {6, "W"}, {12, "A"}}},
           {"im_shape", false, type, array, {{2, "N"}, {2}}},
           {"anchors", false, type, array, per_anchor},
           {"variances", false, type, array, per_anchor},
           {"rpn_rois", true, type, array, {{14, "N"}, {4}}},
           {"rpn_roi_probs", true, type, array, {{14, "N"}, {1}}},
           {"rpn_rois_num", true, MLUOP_DTYPE_INT32, array, {{2, "N"}}}},
          {{"rpn_rois_batch_size", sizeof(int32_t)}},
          {{"pre_nms_top_n", 20},
           {"post_nms_top_n", 7, {-1}},
           {"nms_thresh", 0.5, {0, -1, NAN}},
           {"min_size", 0.1, {NAN}},
           {"eta", 1, {0.5, NAN}}},
          [](const Arguments& a) {
            return mluOpGenerateProposalsV2(
                a.handle, a.Int(0), a.Int(1), a.Float(2), a.Float(3), a.Float(4), true, a.descs[0],
                a.tensors[0], a.descs[1], a.tensors[1], a.descs[2], a.tensors[2], a.descs[3],
                a.tensors[3], a.descs[4], a.tensors[4], a.workspace, a.workspace_size, a.descs[5],
                a.tensors[5], a.descs[6], a.tensors[6], a.descs[7], a.tensors[7], a.pointers[0]);
          },
          mluOpGetGenerateProposalsV2WorkspaceSize};
}

inline OperatorCall PointsInBoxesCall() {
  const auto array = MLUOP_LAYOUT_ARRAY;
  return {"mluOpPointsInBoxes",
          {{"points", false, MLUOP_DTYPE_FLOAT, array, {{2, "B"}, {5, "M"}, {3}}},
           {"boxes", false, MLUOP_DTYPE_FLOAT, array, {{2, "B"}, {4, "T"}, {7}}},
           {"points_indices", true, MLUOP_DTYPE_INT32, array, {{2, "B"}, {5, "M"}}}},
          {},
          {},
          [](const Arguments& a) {
            return mluOpPointsInBoxes(a.handle, a.descs[0], a.tensors[0], a.descs[1], a.tensors[1],
                                      a.descs[2], a.tensors[2]);
          }};
}

// A query writes to the host, while the buffer that stands for `size` is the device's.
template <class Query>
mluOpStatus_t QueryInto(void* size, Query&& query) {
  size_t host_size;
  std::memset(&host_size, 0xcd, sizeof(host_size));
  const mluOpStatus_t status = query(size == nullptr ? nullptr : &host_size);
  if (size != nullptr) {
    EXPECT_EQ(cnrtMemcpy(size, &host_size, sizeof(host_size), cnrtMemcpyHostToDev), cnrtSuccess);
  }
  return status;
}

inline OperatorCall PolyNmsWorkspaceCall() {
  return {"mluOpGetPolyNmsWorkspaceSize",
          {{"boxes", false, MLUOP_DTYPE_FLOAT, MLUOP_LAYOUT_ARRAY, {{3, "N"}, {9}}}},
          {{"size", sizeof(size_t)}},
          {},
          [](const Arguments& a) {
            return QueryInto(a.pointers[0], [&](size_t* size) {
              return mluOpGetPolyNmsWorkspaceSize(a.handle, a.descs[0], size);
            });
          },
          nullptr,
          false};
}

inline std::vector<TensorSpec> ScoresOfAQuery() {
  return {{"scores",
           false,
           MLUOP_DTYPE_FLOAT,
           MLUOP_LAYOUT_ARRAY,
           {{2, "N"}, {5, "H", false}, {6, "W", false}, {3, "A", false}}}};
}

inline OperatorCall GenerateProposalsV2WorkspaceCall() {
  return {"mluOpGetGenerateProposalsV2WorkspaceSize",
          ScoresOfAQuery(),
          {{"size", sizeof(size_t)}},
          {},
          [](const Arguments& a) {
            return QueryInto(a.pointers[0], [&](size_t* size) {
              return mluOpGetGenerateProposalsV2WorkspaceSize(a.handle, a.descs[0], size);
            });
          },
          nullptr,
          false};
}

inline OperatorCall GenerateProposalsV2WorkspaceV2Call() {
  return {"mluOpGetGenerateProposalsV2WorkspaceSize_v2",
          ScoresOfAQuery(),
          {{"size", sizeof(size_t)}},
          {{"pre_nms_top_n", 20}},
          [](const Arguments& a) {
            return QueryInto(a.pointers[0], [&](size_t* size) {
              return mluOpGetGenerateProposalsV2WorkspaceSize_v2(a.handle, a.descs[0], a.Int(0),
                                                                 size);
            });
          },
          nullptr,
          false};
}

}  // namespace detops::test
