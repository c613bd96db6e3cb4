// SPDX-License-Identifier: Apache-2.0

#include "bind.h"
#include "call.h"
#include "choices.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kDoc = R"(
The first box that holds each point, or -1.

points: [B, M, 3] float32
boxes: [B, T, 7] float32 as cx, cy, cz, dx, dy, dz, heading: the geometric centre, the full sizes,
    and the angle from x to y
dtype: of the indices; int64 unless int32 is asked for

Returns [B, M].

>>> import numpy as np
>>> points = np.array([[[0, 0, 0], [1, 0, 0], [9, 9, 9]]], np.float32)
>>> boxes = np.array([[[1, 0, 0, 1, 1, 1, 0], [0, 0, 0, 4, 1, 1, 0]]], np.float32)
>>> points_in_boxes(points, boxes)
array([[ 1,  0, -1]])
)";

nb::object PointsInBoxes(nb::handle points, nb::handle boxes, nb::handle dtype) {
  const Element index_element = IndexElement(dtype);
  const Call call(points, "points");
  const Array in_points = call.Import(points, "points", Types::kFloat);
  const Array in_boxes = call.Import(boxes, "boxes", Types::kFloat);
  const Shape shape{in_points.shape()[0], in_points.shape()[1]};
  IndexOutput indices(call, shape, index_element);
  const Descriptor points_desc(in_points), boxes_desc(in_boxes);
  const Descriptor indices_desc(MLUOP_DTYPE_INT32, shape);
  call.Run([&](mluOpHandle_t handle) {
    return mluOpPointsInBoxes(handle, points_desc, in_points.data(), boxes_desc, in_boxes.data(),
                              indices_desc, indices.data());
  });
  return indices.Finish();
}

}  // namespace

template <>
void Bind<ops::PointsInBoxes>(nb::module_& module) {
  module.def("points_in_boxes", &PointsInBoxes, "points"_a, "boxes"_a, "dtype"_a = nb::none(),
             kDoc);
}

}  // namespace detops::python
