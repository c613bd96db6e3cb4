// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "call.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kFunction = "bbox_overlaps";
constexpr Argument kBboxes1 = {kFunction, "bboxes1", "(M, 4)", "bbox1", "box", 4};
constexpr Argument kBboxes2 = {kFunction, "bboxes2", "(N, 4)", "bbox2", "box", 4};
constexpr Argument kAligned2 = {kFunction, "bboxes2", "(M, 4)", "bbox2", "box", 4};

nb::object BboxOverlaps(nb::handle bboxes1, nb::handle bboxes2, nb::handle mode, nb::handle aligned,
                        nb::handle offset) {
  const bool iof = IsSecond(kFunction, "mode", mode, "iou", "iof");
  const bool in_pairs = ToBool(kFunction, "aligned", aligned);
  const int pixel = ToInt(kFunction, "offset", offset);
  Call call(kBboxes1, bboxes1);
  const auto [in1, in2] =
      call.ImportAlike(kBboxes1, bboxes1, in_pairs ? kAligned2 : kBboxes2, bboxes2);
  const int64_t rows = in1.shape()[0], columns = in2.shape()[0];
  const Shape shape = in_pairs ? Shape{rows} : Shape{rows, columns};
  Output ious = call.Empty(shape, ElementOf(in1));
  const Descriptor desc1(in1), desc2(in2), ious_desc(in1.dtype(), shape);
  call.Run([&, &in1 = in1, &in2 = in2](mluOpHandle_t handle, Staging& at) {
    return mluOpBboxOverlaps(handle, iof ? 1 : 0, in_pairs, pixel, desc1, at.Read(in1), desc2,
                             at.Read(in2), ious_desc, at.Write(ious.data, BytesOf(in1, shape)));
  });
  return call.Finish(std::move(ious));
}

}  // namespace

template <>
void Bind<ops::BboxOverlaps>(nb::module_& module) {
  module.def("bbox_overlaps", &BboxOverlaps, "bboxes1"_a.none(), "bboxes2"_a.none(),
             "mode"_a.none(), "aligned"_a.none(), "offset"_a.none());
}

}  // namespace detops::python
