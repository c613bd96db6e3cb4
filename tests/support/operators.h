// SPDX-License-Identifier: Apache-2.0
//
// Each operator as a function of host vectors, run through the C API on a named implementation.
// They fail the test when the call fails, when another implementation ran, or when anything but the
// reported results was written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "detops/detops.h"

namespace detops::test {

using Floats = std::span<const float>;
using Halfs = std::span<const uint16_t>;  // binary16 codes

std::vector<float> BboxOverlaps(const std::string& implementation, Floats bbox1, Floats bbox2,
                                int mode, bool aligned, int offset);
std::vector<uint16_t> BboxOverlaps(const std::string& implementation, Halfs bbox1, Halfs bbox2,
                                   int mode, bool aligned, int offset);

std::vector<int32_t> PolyNms(const std::string& implementation, Floats boxes, float iou_threshold);

struct BorderAlignShape {
  int64_t n, h, w, c, k;
  int32_t pool_size;
  bool nchw = false;
};
template <class T>
struct BorderAlignResult {
  std::vector<T> output;
  std::vector<int32_t> argmax_idx;
};
BorderAlignResult<float> BorderAlign(const std::string& implementation, Floats input, Floats boxes,
                                     const BorderAlignShape& shape);
BorderAlignResult<uint16_t> BorderAlign(const std::string& implementation, Halfs input, Halfs boxes,
                                        const BorderAlignShape& shape);

// The call alone, on memory of the handle's device.
mluOpStatus_t CallBorderAlign(mluOpHandle_t handle, mluOpDataType_t dtype,
                              const BorderAlignShape& shape, const void* input, const void* boxes,
                              void* output, void* argmax_idx);

struct ProposalInputs {
  int64_t n, h, w, a;
  std::vector<float> scores, bbox_deltas, im_shape, anchors, variances;
};
struct ProposalScalars {
  int pre_nms_top_n = 6000, post_nms_top_n = 1000;
  float nms_thresh = 0.5f, min_size = 0.1f;
  bool pixel_offset = false;
  float eta = 1.0f;
};
struct ProposalResult {
  std::vector<float> rois, probs;
  std::vector<int32_t> num;
};
ProposalResult GenerateProposals(const std::string& implementation, const ProposalInputs& inputs,
                                 const ProposalScalars& scalars);

std::vector<int32_t> PointsInBoxes(const std::string& implementation, Floats points, Floats boxes,
                                   int64_t b, int64_t m, int64_t t);

// The pairs that the last of these calls of this thread evaluated; -1 where its implementation does
// not count.
int64_t LastPairCount();
// The cells and boxes it looked at to find them; -1 likewise.
int64_t LastCandidateCount();

// Equal bit for bit; any NaN is equal to any other, and a zero to one of the other sign.
void ExpectSameFloats(Floats got, Floats expected, const std::string& what);

}  // namespace detops::test
