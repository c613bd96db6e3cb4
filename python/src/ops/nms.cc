// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "bind.h"
#include "counted.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kDoc = R"(
Non-maximum suppression of upright boxes, as torchvision.ops.nms.

boxes: [N, 4] as x1, y1, x2, y2; float32 or float16
scores: [N] of the same library and device
iou_threshold: a box goes if it overlaps a better one by more than this
dtype: of the indices; int64 unless int32 is asked for

Returns the indices kept, [K], best first. Equal scores: the lower index is the better one. On a CUDA
device the call waits for K. The IoU is computed in float32, as torchvision's, and may differ from
the exact one in the last place: poly_nms decides exactly.

>>> import numpy as np
>>> boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]], np.float32)
>>> nms(boxes, np.array([.7, .8, .9], np.float32), 0.5)
array([2, 1])
)";

// The largest float that is not above the threshold: a float IoU exceeds both or neither.
float RoundedDown(double threshold) {
  const auto rounded = static_cast<float>(threshold);
  return rounded > threshold ? std::nextafter(rounded, -INFINITY) : rounded;
}

nb::object Nms(nb::handle boxes, nb::handle scores, double iou_threshold, nb::handle dtype) {
  const Element index_element = IndexElement(dtype);
  const Call call(boxes, "boxes");
  Array in = call.Import(boxes, "boxes", Types::kHalfOrFloat);
  Array in_scores = call.Import(scores, "scores", Types::kHalfOrFloat);
  if (in.dtype() != in_scores.dtype()) {
    in = call.Import(boxes, "boxes", Types::kFloat);
    in_scores = call.Import(scores, "scores", Types::kFloat);
  }
  const int64_t most = in.shape()[0];
  const Descriptor desc(in), scores_desc(in_scores), kept_desc(MLUOP_DTYPE_INT32, {most});
  size_t bytes = 0;
  Check(detopsGetNmsWorkspaceSize(call.handle(), desc, &bytes));
  const Workspace workspace(call, bytes);
  const auto run = [&](void* kept, void* count) {
    call.Run([&](mluOpHandle_t handle) {
      return detopsNms(handle, desc, in.data(), scores_desc, in_scores.data(),
                       RoundedDown(iou_threshold), workspace.data(), bytes, kept_desc, kept, count);
    });
  };

  if (call.on_device()) {
    Output kept = call.Empty({most}, Element::kInt32);
    const Output count = call.Empty({1}, Element::kInt32);
    run(kept.data, count.data);
    nb::object indices = Front(call, std::move(kept), ReadCount(call, count.data));
    return index_element == Element::kInt64 ? call.Framework("to_int64", indices) : indices;
  }
  const HostMemory kept(static_cast<size_t>(most) * sizeof(int32_t));
  auto* const indices = static_cast<int32_t*>(kept.data());
  int32_t count = 0;
  run(indices, &count);
  return call.Finish(CopyIndices(call, indices, {count}, index_element));
}

}  // namespace

template <>
void Bind<ops::Nms>(nb::module_& module) {
  module.def("nms", &Nms, "boxes"_a, "scores"_a, "iou_threshold"_a, "dtype"_a = nb::none(), kDoc);
}

}  // namespace detops::python
