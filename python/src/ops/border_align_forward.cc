// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "call.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kFunction = "border_align";
constexpr Argument kNchw = {kFunction, "input", "(N, 4C, H, W)", "input"};
constexpr Argument kNhwc = {kFunction, "input", "(N, H, W, 4C)", "input"};
constexpr Argument kBoxes = {kFunction, "boxes", "(N, K, 4)", "boxes", "box"};

nb::object BorderAlign(nb::handle input, nb::handle boxes, nb::handle pool_size, nb::handle layout,
                       nb::handle return_argmax, nb::handle dtype) {
  const int size = ToInt(kFunction, "pool_size", pool_size);
  const bool nhwc = IsSecond(kFunction, "layout", layout, "NCHW", "NHWC");
  const bool with_argmax = ToBool(kFunction, "return_argmax", return_argmax);
  const Element index_element = IndexElement(kFunction, dtype);
  const Argument& kInput = nhwc ? kNhwc : kNchw;
  Call call(kInput, input);
  auto [features, borders] = call.ImportAlike(kInput, input, kBoxes, boxes);
  const int64_t images = features.shape()[0], all_channels = features.shape()[nhwc ? 3 : 1];
  const int64_t channels = all_channels / 4;
  if (borders.shape().rank() <= 2 && borders.shape()[0] == 0) borders.SeeAs({images, 0, 4});
  const int64_t count = borders.shape()[1];
  const Shape shape = nhwc ? Shape{images, count, 4, channels} : Shape{images, channels, count, 4};

  Output output = call.Empty(shape, ElementOf(features));
  // The operator always writes it.
  IndexOutput argmax(call, shape, with_argmax ? index_element : Element::kInt32);
  const mluOpTensorLayout_t order = nhwc ? MLUOP_LAYOUT_NHWC : MLUOP_LAYOUT_NCHW;
  const Descriptor input_desc(features, order), boxes_desc(borders);
  const Descriptor output_desc(features.dtype(), shape, order);
  const Descriptor argmax_desc(MLUOP_DTYPE_INT32, shape, order);
  // The C function refuses tensors without elements; to Python's users, no boxes are everyday.
  const bool no_boxes = borders.shape().rank() == 3 && borders.shape()[0] == images && count == 0 &&
                        borders.shape()[2] == 4;
  if (no_boxes) {
    if (features.shape().rank() != 4 || all_channels % 4 != 0) call.ThrowShape(kInput);
  } else {
    call.Run([&, &features = features, &borders = borders](mluOpHandle_t handle, Staging& at) {
      return detopsBorderAlignForward(handle, input_desc, at.Read(features), boxes_desc,
                                      at.Read(borders), size, output_desc,
                                      at.Write(output.data, BytesOf(features, shape)), argmax_desc,
                                      at.Write(argmax.data(), shape.count()));
    });
  }
  nb::object values = call.Finish(std::move(output));
  if (!with_argmax) return values;
  return nb::make_tuple(std::move(values), argmax.Finish());
}

}  // namespace

template <>
void Bind<ops::BorderAlignForward>(nb::module_& module) {
  module.def("border_align", &BorderAlign, "input"_a.none(), "boxes"_a.none(), "pool_size"_a.none(),
             "layout"_a.none(), "return_argmax"_a.none(), "dtype"_a.none());
}

}  // namespace detops::python
