// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "bind.h"
#include "counted.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kFunction = "poly_nms";
constexpr Argument kDets = {
    kFunction, "dets", "(N, 9), or (N, 8) with scores=", "boxes", "corners", 9};
constexpr Argument kCorners = {
    kFunction, "dets", "(N, 8) or (N, 4, 2) with scores=", "boxes", "corners", 8};
constexpr Argument kScores = {kFunction, "scores", "(N,)", "scores"};

// [N,8] corners, of [N,8] or [N,4,2], and [N] scores that go with them.
struct Apart {
  Apart(Call& call, nb::handle dets, nb::handle in_scores)
      : corners(call.Import(kCorners, dets, Types::kFloat)),
        scores(call.Import(kScores, in_scores, Types::kFloat)) {
    const Shape& shape = corners.shape();
    if (shape.rank() == 3 && shape[1] == 4 && shape[2] == 2) corners.SeeAs({shape[0], 8});
    if (corners.shape().rank() != 2 || corners.shape()[1] != 8) call.ThrowShape(kCorners);
    if (scores.shape().rank() != 1 || scores.shape()[0] != corners.shape()[0]) {
      call.ThrowShape(kScores);
    }
  }

  // As the library wants them, on the host.
  Array Join() const {
    const int64_t count = corners.shape()[0];
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

  Array corners, scores;
};

// [N,9]; corners in pairs are accepted where there are none.
Array ImportJoined(Call& call, nb::handle dets) {
  Array boxes = call.Import(kDets, dets, Types::kFloat);
  const Shape& shape = boxes.shape();
  if (shape.rank() == 3 && shape[0] == 0 && shape[1] == 4 && shape[2] == 2) boxes.SeeAs({0, 9});
  return boxes;
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

nb::object PolyNms(nb::handle dets, nb::handle iou_threshold, nb::handle scores, nb::handle order,
                   nb::handle dtype) {
  const auto threshold = static_cast<float>(ToNumber(kFunction, "iou_threshold", iou_threshold));
  const bool by_score = !IsSecond(kFunction, "order", order, "score", "index");
  const Element index_element = IndexElement(kFunction, dtype);
  const bool joined = scores.is_none();
  Call call(joined ? kDets : kCorners, dets);
  nb::object whole = nb::borrow(dets);
  const Array boxes = [&] {
    if (joined) return ImportJoined(call, dets);
    const Apart apart(call, dets, scores);
    if (!call.on_device()) return apart.Join();
    // On a device the caller's library joins them.
    whole = call.Framework("join_scores", dets, scores);
    return call.Import(kDets, whole, Types::kFloat);
  }();

  const int64_t most = boxes.shape()[0];
  const Descriptor boxes_desc(boxes), kept_desc(MLUOP_DTYPE_INT32, {most});
  size_t bytes = 0;
  call.Check(mluOpGetPolyNmsWorkspaceSize(call.handle(), boxes_desc, &bytes));
  const Workspace workspace(call, bytes);
  const auto run = [&](int32_t* kept, int32_t* count) {
    call.Run([&](mluOpHandle_t handle, Staging& at) {
      return mluOpPolyNms(handle, boxes_desc, at.Read(boxes), threshold,
                          at.Scratch(workspace.data(), bytes), bytes, kept_desc,
                          at.Write(kept, most), at.Write(count, 1));
    });
  };

  if (call.on_device()) {
    Output kept = call.Empty({most}, Element::kInt32);
    const Output count = call.Empty({1}, Element::kInt32);
    run(kept.As<int32_t>(), count.As<int32_t>());
    const int32_t kept_count = ReadCount(call, count.data);
    nb::object indices = Front(call, std::move(kept), kept_count);
    if (by_score && kept_count > 0) indices = call.Framework("sort_by_score", whole, indices);
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
  module.def("poly_nms", &PolyNms, "dets"_a.none(), "iou_threshold"_a.none(), "scores"_a.none(),
             "order"_a.none(), "dtype"_a.none());
}

}  // namespace detops::python
