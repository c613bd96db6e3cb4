// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "call.h"
#include "choices.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kDoc = R"(
The maximum of pool_size + 1 bilinear samples along each border of each box.

input: [N, 4C, H, W], or [N, H, W, 4C] with layout="NHWC"; C channels each for top, left, bottom and
    right; float32 or float16
boxes: [N, K, 4] as x1, y1, x2, y2, in pixels of input
layout: of input and of the results
return_argmax: also which sample was the maximum, 0 to pool_size
dtype: of these; int64 unless int32 is asked for

Returns [N, C, K, 4], or [N, K, 4, C] with layout="NHWC"; with return_argmax a pair of such arrays.

>>> import numpy as np
>>> features = np.arange(36, dtype=np.float32).reshape(1, 4, 3, 3)
>>> boxes = np.array([[[0, 0, 2, 1]]], np.float32)
>>> border_align(features, boxes, pool_size=2)  # top, left, bottom, right
array([[[[ 2., 12., 23., 32.]]]], dtype=float32)
)";

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

}  // namespace

template <>
void Bind<ops::BorderAlignForward>(nb::module_& module) {
  module.def("border_align", &BorderAlign, "input"_a, "boxes"_a, "pool_size"_a, "layout"_a = "NCHW",
             "return_argmax"_a = false, "dtype"_a = nb::none(), kDoc);
}

}  // namespace detops::python
