// SPDX-License-Identifier: Apache-2.0
//
// The operators whose results have a size that the arguments give.
#include "call.h"
#include "choices.h"
#include "indices.h"
#include "operators.h"

namespace detops::python {

nb::object BboxOverlaps(nb::handle bboxes1, nb::handle bboxes2, std::string_view mode, bool aligned,
                        int offset) {
  const bool iof = IsSecond("mode", mode, "iou", "iof");
  const Call call(bboxes1, "bboxes1");
  Array in1 = call.Import(bboxes1, "bboxes1", Types::kHalfOrFloat);
  Array in2 = call.Import(bboxes2, "bboxes2", Types::kHalfOrFloat);
  if (in1.dtype() != in2.dtype()) {
    in1 = call.Import(bboxes1, "bboxes1", Types::kFloat);
    in2 = call.Import(bboxes2, "bboxes2", Types::kFloat);
  }
  const int64_t rows = in1.shape()[0], columns = in2.shape()[0];
  const Shape shape = aligned ? Shape{rows} : Shape{rows, columns};
  Output ious = call.Empty(shape, ElementOf(in1));
  const Descriptor desc1(in1), desc2(in2), ious_desc(in1.dtype(), shape);
  call.Run([&](mluOpHandle_t handle) {
    return mluOpBboxOverlaps(handle, iof ? 1 : 0, aligned, offset, desc1, in1.data(), desc2,
                             in2.data(), ious_desc, ious.data);
  });
  return call.Finish(std::move(ious));
}

nb::object BorderAlign(nb::handle input, nb::handle boxes, int pool_size, std::string_view layout,
                       bool return_argmax, nb::handle dtype) {
  const bool nhwc = IsSecond("layout", layout, "NCHW", "NHWC");
  const Element index_element = IndexElement(dtype);
  const Call call(input, "input");
  Array features = call.Import(input, "input", Types::kHalfOrFloat);
  Array borders = call.Import(boxes, "boxes", Types::kHalfOrFloat);
  if (features.dtype() != borders.dtype()) {
    features = call.Import(input, "input", Types::kFloat);
    borders = call.Import(boxes, "boxes", Types::kFloat);
  }
  const int64_t images = features.shape()[0], channels = features.shape()[nhwc ? 3 : 1] / 4;
  const int64_t count = borders.shape()[1];
  const Shape shape = nhwc ? Shape{images, count, 4, channels} : Shape{images, channels, count, 4};

  Output output = call.Empty(shape, ElementOf(features));
  // The operator always writes it.
  IndexOutput argmax(call, shape, return_argmax ? index_element : Element::kInt32);
  const mluOpTensorLayout_t order = nhwc ? MLUOP_LAYOUT_NHWC : MLUOP_LAYOUT_NCHW;
  const Descriptor input_desc(features, order), boxes_desc(borders);
  const Descriptor output_desc(features.dtype(), shape, order);
  const Descriptor argmax_desc(MLUOP_DTYPE_INT32, shape, order);
  call.Run([&](mluOpHandle_t handle) {
    return detopsBorderAlignForward(handle, input_desc, features.data(), boxes_desc, borders.data(),
                                    pool_size, output_desc, output.data, argmax_desc,
                                    argmax.data());
  });
  nb::object values = call.Finish(std::move(output));
  if (!return_argmax) return values;
  return nb::make_tuple(std::move(values), argmax.Finish());
}

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

}  // namespace detops::python
