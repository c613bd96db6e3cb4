// SPDX-License-Identifier: Apache-2.0
//
// detops._core: signatures and listings. _core.pyi has the types.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <chrono>
#include <vector>

#include "array.h"
#include "call.h"
#include "docs.h"
#include "errors.h"
#include "operators.h"
#include "session.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace detops::python;

namespace {

template <class Info, class List>
std::vector<Info> Listed(List list) {
  size_t count = 0;
  Check(list(nullptr, 0, &count));
  std::vector<Info> entries(count);
  Check(list(entries.data(), count, &count));
  return entries;
}

nb::list Devices() {
  nb::list devices;
  for (const auto& info : Listed<detopsDeviceInfo>(detopsListDevices)) {
    nb::dict device;
    device["name"] = info.name;
    device["description"] = info.description;
    device["usable"] = info.usable;
    device["reason"] = info.reason;
    devices.append(device);
  }
  return devices;
}

nb::dict Implementations() {
  nb::dict by_operator;
  for (const auto& info : Listed<detopsImplementationInfo>(detopsListImplementations)) {
    if (!by_operator.contains(info.op)) by_operator[info.op] = nb::list();
    nb::dict implementation;
    implementation["name"] = info.name;
    implementation["usable"] = info.usable;
    implementation["reason"] = info.reason;
    nb::cast<nb::list>(by_operator[info.op]).append(implementation);
  }
  return by_operator;
}

void Synchronize(int cuda_id, uintptr_t stream) {
  cnrtQueue_t queue = nullptr;
  Check(mluOpGetQueue(ThreadHandle({false, cuda_id}, reinterpret_cast<void*>(stream)), &queue));
  const cnrtRet_t result = cnrtQueueSync(queue);
  if (result != cnrtSuccess) throw std::runtime_error(detopsGetLastErrorMessage());
}

// For the overhead of Python: the C function on arguments that are ready.
double SecondsOfCCall(nb::handle bboxes1, nb::handle bboxes2, int calls) {
  const Call call(bboxes1, "bboxes1");
  const Array in1 = call.Import(bboxes1, "bboxes1", Types::kFloat);
  const Array in2 = call.Import(bboxes2, "bboxes2", Types::kFloat);
  const Shape shape{in1.shape()[0], in2.shape()[0]};
  const Output ious = call.Empty(shape, Element::kFloat);
  const Descriptor desc1(in1), desc2(in2), ious_desc(in1.dtype(), shape);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    Check(mluOpBboxOverlaps(call.handle(), 0, false, 0, desc1, in1.data(), desc2, in2.data(),
                            ious_desc, ious.data));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / calls;
}

}  // namespace

NB_MODULE(_core, module) {
  module.def("bbox_overlaps", &BboxOverlaps, "bboxes1"_a, "bboxes2"_a, "mode"_a = "iou",
             "aligned"_a = false, "offset"_a = 0, docs::kBboxOverlaps);
  module.def("poly_nms", &PolyNms, "dets"_a, "iou_threshold"_a, "scores"_a = nb::none(),
             "order"_a = "index", "dtype"_a = nb::none(), docs::kPolyNms);
  module.def("border_align", &BorderAlign, "input"_a, "boxes"_a, "pool_size"_a, "layout"_a = "NCHW",
             "return_argmax"_a = false, "dtype"_a = nb::none(), docs::kBorderAlign);
  module.def("generate_proposals", &GenerateProposals, "scores"_a, "bbox_deltas"_a, "img_size"_a,
             "anchors"_a, "variances"_a, "pre_nms_top_n"_a = 6000, "post_nms_top_n"_a = 1000,
             "nms_thresh"_a = 0.5, "min_size"_a = 0.1, "eta"_a = 1.0, "pixel_offset"_a = false,
             "layout"_a = "NCHW", "return_rois_num"_a = true, "dtype"_a = nb::none(),
             docs::kGenerateProposals);
  module.def("points_in_boxes", &PointsInBoxes, "points"_a, "boxes"_a, "dtype"_a = nb::none(),
             docs::kPointsInBoxes);
  module.def("devices", &Devices, docs::kDevices);
  module.def("implementations", &Implementations, docs::kImplementations);

  module.attr("__version__") = detopsGetVersion();

  // For the package and its tests.
  module.def("_forget_thread_handles", &ForgetThreadHandles);
  module.def("_take_device_path", &TakeDevicePath, "always"_a);
  module.def("_synchronize", &Synchronize, "cuda_id"_a, "stream"_a);
  module.def("_address_of_result", &AddressOfResult, "array"_a, "stream"_a);
  module.def("_seconds_of_c_call", &SecondsOfCCall, "bboxes1"_a, "bboxes2"_a, "calls"_a);
  module.def(
      "_address",
      [](nb::handle object) {
        const Array array(object, "object", Types::kHalfOrFloat, DeviceOf(object, "object"),
                          nullptr);
        return reinterpret_cast<uintptr_t>(array.data());
      },
      "object"_a, "Where an operator would read the array.");
}
