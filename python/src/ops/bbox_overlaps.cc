// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "call.h"
#include "choices.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kDoc = R"(
IoU or IoF of boxes, all pairs or aligned.

bboxes1: [M, 4] as x1, y1, x2, y2; float32 or float16
bboxes2: [N, 4] of the same library and device
mode: "iou", or "iof" for the intersection over the area of bboxes1
aligned: only the pairs (i, i); M == N
offset: 0, or 1 to count pixels: it is added to every length

Returns [M, N], aligned [M], of the inputs' type. Two boxes without area give 0/0: NaN.

>>> import numpy as np
>>> boxes = np.array([[0, 0, 10, 10], [5, 5, 15, 15]], np.float32)
>>> bbox_overlaps(boxes, boxes).round(4)
array([[1.    , 0.1429],
       [0.1429, 1.    ]], dtype=float32)
)";

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

}  // namespace

template <>
void Bind<ops::BboxOverlaps>(nb::module_& module) {
  module.def("bbox_overlaps", &BboxOverlaps, "bboxes1"_a, "bboxes2"_a, "mode"_a = "iou",
             "aligned"_a = false, "offset"_a = 0, kDoc);
}

}  // namespace detops::python
