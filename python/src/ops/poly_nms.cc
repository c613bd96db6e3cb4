// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "bind.h"
#include "choices.h"
#include "counted.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kDoc = R"(
Non-maximum suppression of quadrilaterals, convex or concave.

dets: [N, 9] float32 as x1, y1, ..., x4, y4, score, in either orientation; [N, 8] with scores apart
iou_threshold: a box goes if it overlaps a better one by more than this
scores: [N] float32, where dets has none
order: "index" for ascending indices, "score" for the best first (torchvision's order)
dtype: of the indices; int64 unless int32 is asked for

Returns the indices kept, [K]. Equal scores: the lower index is the better one. On a CUDA device the
call waits for K.

Decisions are those of exact arithmetic on the given coordinates and on the threshold as float32: a
box whose IoU equals it stays, and the order of the corners does not matter.

>>> import numpy as np
>>> dets = np.array([[0, 0, 1, 0, 1, 1, 0, 1, .7],
...                  [.1, 0, 1.1, 0, 1.1, 1, .1, 1, .8],
...                  [5, 5, 6, 5, 6, 6, 5, 6, .9]], np.float32)
>>> poly_nms(dets, 0.5)
array([1, 2])
>>> poly_nms(dets[:, :8], 0.5, scores=dets[:, 8], order="score")
array([2, 1])
>>> poly_nms([[0, 0, 2, 0, 2, 3, 0, 3, 2],
...           [0, 1, 3, 1, 3, 3, 0, 3, 1]], 0.5)  # the IoU is 4 / 8
array([0, 1])
)";

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

}  // namespace

template <>
void Bind<ops::PolyNms>(nb::module_& module) {
  module.def("poly_nms", &PolyNms, "dets"_a, "iou_threshold"_a, "scores"_a = nb::none(),
             "order"_a = "index", "dtype"_a = nb::none(), kDoc);
}

}  // namespace detops::python
