// SPDX-License-Identifier: Apache-2.0
//
// The operators whose results have a size that the data gives. On the host they write into memory
// of ours, and the caller gets arrays of the exact size. On a device the caller's library makes
// arrays of the largest size, and the call waits for the count: the results' shape is made of it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "call.h"
#include "choices.h"
#include "indices.h"
#include "operators.h"

namespace detops::python {
namespace {

// The memory that an operator wants besides its arguments, where the arguments lie.
class Workspace {
 public:
  Workspace(const Call& call, size_t bytes) {
    if (call.on_device()) {
      device_ = call.Empty({static_cast<int64_t>(bytes)}, Element::kByte);
    } else {
      host_ = HostMemory(bytes);
    }
  }
  void* data() const { return host_.data() != nullptr ? host_.data() : device_.data; }

 private:
  HostMemory host_;
  Output device_ = {};
};

int32_t ReadCount(const Call& call, const void* device_count) {
  int32_t count = 0;
  call.Run([&](mluOpHandle_t handle) {
    return detopsCopyToHost(handle, &count, device_count, sizeof count);
  });
  return count;
}

// The first rows of a device array, as the caller gets them.
nb::object Front(const Call& call, Output output, int64_t rows) {
  const nb::object front =
      nb::make_tuple(nb::slice(nb::int_(0), nb::int_(rows), nb::none()), nb::ellipsis());
  output.object = output.object[front];
  return call.Finish(std::move(output));
}

// [N,8] corners and [N] scores as the library wants them, on the host.
Array JoinScores(const Array& corners, const Array& scores) {
  const int64_t count = corners.shape()[0];
  if (corners.shape().rank() != 2 || corners.shape()[1] != 8) {
    ThrowValueError("dets: expected shape (N, 8) where scores are given apart");
  }
  if (scores.shape().rank() != 1 || scores.shape()[0] != count) {
    ThrowValueError("scores: expected shape (" + std::to_string(count) +
                    ",), one for each of dets");
  }
  HostMemory memory(static_cast<size_t>(count) * 9 * sizeof(float));
  auto* to = static_cast<float*>(memory.data());
  const auto* from = static_cast<const float*>(corners.data());
  const auto* score = static_cast<const float*>(scores.data());
  for (int64_t i = 0; i < count; ++i, to += 9, from += 8) {
    std::memcpy(to, from, 8 * sizeof(float));
    to[8] = score[i];
  }
  Array joined(nullptr, MLUOP_DTYPE_FLOAT, {count, 9});
  joined.MoveTo(std::move(memory));
  return joined;
}

// The library's order: NaN first, then falling; equal ones by index.
void SortByScore(const Array& boxes, int32_t* kept, int32_t count) {
  const auto* values = static_cast<const float*>(boxes.data());
  const auto score = [&](int32_t index) { return values[int64_t{index} * 9 + 8]; };
  std::stable_sort(kept, kept + count, [&](int32_t a, int32_t b) {
    if (std::isnan(score(a)) || std::isnan(score(b)))
      return std::isnan(score(a)) > std::isnan(score(b));
    return score(a) > score(b);
  });
}

}  // namespace

nb::object PolyNms(nb::handle dets, double iou_threshold, nb::handle scores, std::string_view order,
                   nb::handle dtype) {
  const bool by_score = IsSecond("order", order, "index", "score");
  const Element index_element = IndexElement(dtype);
  const Call call(dets, "dets");
  const bool apart = !scores.is_none();
  // On a device the caller's library joins them.
  const nb::object whole =
      apart && call.on_device() ? call.Framework("join_scores", dets, scores) : nb::borrow(dets);
  Array boxes = call.Import(whole, "dets", Types::kFloat);
  if (apart && !call.on_device()) {
    boxes = JoinScores(boxes, call.Import(scores, "scores", Types::kFloat));
  }

  const int64_t most = boxes.shape()[0];
  const Descriptor boxes_desc(boxes), kept_desc(MLUOP_DTYPE_INT32, {most});
  size_t bytes = 0;
  Check(mluOpGetPolyNmsWorkspaceSize(call.handle(), boxes_desc, &bytes));
  const Workspace workspace(call, bytes);
  const auto run = [&](void* kept, void* count) {
    call.Run([&](mluOpHandle_t handle) {
      return mluOpPolyNms(handle, boxes_desc, boxes.data(), static_cast<float>(iou_threshold),
                          workspace.data(), bytes, kept_desc, kept, count);
    });
  };

  if (call.on_device()) {
    Output kept = call.Empty({most}, Element::kInt32);
    const Output count = call.Empty({1}, Element::kInt32);
    run(kept.data, count.data);
    nb::object indices = Front(call, std::move(kept), ReadCount(call, count.data));
    if (by_score) indices = call.Framework("sort_by_score", whole, indices);
    return index_element == Element::kInt64 ? call.Framework("to_int64", indices) : indices;
  }
  const HostMemory kept(static_cast<size_t>(most) * sizeof(int32_t));
  auto* const indices = static_cast<int32_t*>(kept.data());
  int32_t count = 0;
  run(indices, &count);
  if (by_score) SortByScore(boxes, indices, count);
  return call.Finish(CopyIndices(call, indices, {count}, index_element));
}

nb::object GenerateProposals(nb::handle scores, nb::handle bbox_deltas, nb::handle img_size,
                             nb::handle anchors, nb::handle variances, int pre_nms_top_n,
                             int post_nms_top_n, double nms_thresh, double min_size, double eta,
                             bool pixel_offset, std::string_view layout, bool return_rois_num,
                             nb::handle dtype) {
  const bool nchw = !IsSecond("layout", layout, "NCHW", "NHWC");
  const Element index_element = IndexElement(dtype);
  const Call call(scores, "scores");
  const Array in_scores = call.Import(scores, "scores", Types::kFloat, nchw);
  const Array in_deltas = call.Import(bbox_deltas, "bbox_deltas", Types::kFloat, nchw);
  const Array in_size = call.Import(img_size, "img_size", Types::kFloat);
  const Array in_anchors = call.Import(anchors, "anchors", Types::kFloat);
  const Array in_variances = call.Import(variances, "variances", Types::kFloat);

  const Descriptor scores_desc(in_scores), deltas_desc(in_deltas), size_desc(in_size);
  const Descriptor anchors_desc(in_anchors), variances_desc(in_variances);
  size_t bytes = 0;
  Check(mluOpGetGenerateProposalsV2WorkspaceSize_v2(call.handle(), scores_desc, pre_nms_top_n,
                                                    &bytes));
  // An image has no more proposals than anchors, whatever the caller allows, and always one.
  const int64_t images = in_scores.shape()[0];
  const int64_t per_image = in_scores.shape()[1] * in_scores.shape()[2] * in_scores.shape()[3];
  const int most =
      static_cast<int>(std::min<int64_t>(post_nms_top_n, std::max<int64_t>(per_image, 1)));
  const int64_t rows = images * std::max(most, 0);
  const Descriptor rois_desc(MLUOP_DTYPE_FLOAT, {rows, 4}),
      probs_desc(MLUOP_DTYPE_FLOAT, {rows, 1});
  const Descriptor num_desc(MLUOP_DTYPE_INT32, {images});
  const Workspace workspace(call, bytes);
  IndexOutput num(call, {images}, index_element);
  const auto run = [&](void* rois, void* probs, void* total) {
    call.Run([&](mluOpHandle_t handle) {
      return mluOpGenerateProposalsV2(
          handle, pre_nms_top_n, most, static_cast<float>(nms_thresh), static_cast<float>(min_size),
          static_cast<float>(eta), pixel_offset, scores_desc, in_scores.data(), deltas_desc,
          in_deltas.data(), size_desc, in_size.data(), anchors_desc, in_anchors.data(),
          variances_desc, in_variances.data(), workspace.data(), bytes, rois_desc, rois, probs_desc,
          probs, num_desc, num.data(), total);
    });
  };

  nb::object rois_object, probs_object;
  if (call.on_device()) {
    Output rois = call.Empty({rows, 4}, Element::kFloat);
    Output probs = call.Empty({rows, 1}, Element::kFloat);
    const Output total = call.Empty({1}, Element::kInt32);
    run(rois.data, probs.data, total.data);
    const int32_t count = ReadCount(call, total.data);
    rois_object = Front(call, std::move(rois), count);
    probs_object = Front(call, std::move(probs), count);
  } else {
    const HostMemory rois(static_cast<size_t>(rows) * 4 * sizeof(float));
    const HostMemory probs(static_cast<size_t>(rows) * sizeof(float));
    int32_t count = 0;
    run(rois.data(), probs.data(), &count);
    const auto result = [&](const HostMemory& from, int64_t columns) {
      Output output = call.Empty({count, columns}, Element::kFloat);
      const auto size = static_cast<size_t>(count * columns) * sizeof(float);
      if (size > 0) std::memcpy(output.data, from.data(), size);
      return call.Finish(std::move(output));
    };
    rois_object = result(rois, 4);
    probs_object = result(probs, 1);
  }
  if (!return_rois_num) return nb::make_tuple(std::move(rois_object), std::move(probs_object));
  return nb::make_tuple(std::move(rois_object), std::move(probs_object), num.Finish());
}

}  // namespace detops::python
