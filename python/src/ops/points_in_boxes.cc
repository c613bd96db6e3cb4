// SPDX-License-Identifier: Apache-2.0

#include "bind.h"
#include "call.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kFunction = "points_in_boxes";
constexpr Argument kPoints = {kFunction, "points", "(B, M, 3), or (M, 3)", "points", "", 3};
constexpr Argument kBoxes = {kFunction, "boxes", "(B, T, 7), or (T, 7)", "boxes", "box3d", 7};

nb::object PointsInBoxes(nb::handle points, nb::handle boxes, nb::handle dtype) {
  const Element index_element = IndexElement(kFunction, dtype);
  Call call(kPoints, points);
  Array in_points = call.Import(kPoints, points, Types::kFloat);
  Array in_boxes = call.Import(kBoxes, boxes, Types::kFloat);
  if (const Shape& shape = in_points.shape(); shape[shape.rank() - 1] != 3) {
    call.ThrowShape(kPoints);  // before boxes are said not to go with them
  }
  const bool without_batch = in_points.shape().rank() == 2;
  const int64_t batch = without_batch ? 1 : in_points.shape()[0];
  if (in_boxes.shape().rank() == 2 && in_boxes.shape().count() == 0) {  // no boxes for any of them
    in_boxes.SeeAs({batch, 0, in_boxes.shape()[1]});
  } else if (without_batch != (in_boxes.shape().rank() == 2)) {
    call.ThrowShape(kBoxes);
  }
  for (Array* array : {&in_points, &in_boxes}) {
    if (array->shape().rank() == 2) array->SeeAs({1, array->shape()[0], array->shape()[1]});
  }
  const int64_t count = in_points.shape()[1];
  const Shape shape = without_batch ? Shape{count} : Shape{batch, count};
  IndexOutput indices(call, shape, index_element);
  const Descriptor points_desc(in_points), boxes_desc(in_boxes);
  const Descriptor indices_desc(MLUOP_DTYPE_INT32, {batch, count});
  call.Run([&](mluOpHandle_t handle, Staging& at) {
    return mluOpPointsInBoxes(handle, points_desc, at.Read(in_points), boxes_desc,
                              at.Read(in_boxes), indices_desc,
                              at.Write(indices.data(), shape.count()));
  });
  return indices.Finish();
}

}  // namespace

template <>
void Bind<ops::PointsInBoxes>(nb::module_& module) {
  module.def("points_in_boxes", &PointsInBoxes, "points"_a.none(), "boxes"_a.none(),
             "dtype"_a.none());
}

}  // namespace detops::python
