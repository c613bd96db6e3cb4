// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "bind.h"
#include "counted.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kFunction = "nms";
constexpr Argument kBoxes = {kFunction, "boxes", "(N, 4)", "boxes", "box", 4};
constexpr Argument kScores = {kFunction, "scores", "(N,)", "scores"};

// The largest float that is not above the threshold: a float IoU exceeds both or neither.
float RoundedDown(double threshold) {
  const auto rounded = static_cast<float>(threshold);
  return rounded > threshold ? std::nextafter(rounded, -INFINITY) : rounded;
}

nb::object Nms(nb::handle boxes, nb::handle scores, nb::handle iou_threshold, nb::handle dtype) {
  const float threshold = RoundedDown(ToNumber(kFunction, "iou_threshold", iou_threshold));
  const Element index_element = IndexElement(kFunction, dtype);
  Call call(kBoxes, boxes);
  const auto [in, in_scores] = call.ImportAlike(kBoxes, boxes, kScores, scores);
  const int64_t most = in.shape()[0];
  const Descriptor desc(in), scores_desc(in_scores), kept_desc(MLUOP_DTYPE_INT32, {most});
  size_t bytes = 0;
  call.Check(detopsGetNmsWorkspaceSize(call.handle(), desc, &bytes));
  const Workspace workspace(call, bytes);
  const auto run = [&](int32_t* kept, int32_t* count) {
    call.Run([&, &in = in, &in_scores = in_scores](mluOpHandle_t handle, Staging& at) {
      return detopsNms(handle, desc, at.Read(in), scores_desc, at.Read(in_scores), threshold,
                       at.Scratch(workspace.data(), bytes), bytes, kept_desc, at.Write(kept, most),
                       at.Write(count, 1));
    });
  };

  if (call.on_device()) {
    Output kept = call.Empty({most}, Element::kInt32);
    const Output count = call.Empty({1}, Element::kInt32);
    run(kept.As<int32_t>(), count.As<int32_t>());
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
  module.def("nms", &Nms, "boxes"_a.none(), "scores"_a.none(), "iou_threshold"_a.none(),
             "dtype"_a.none());
}

}  // namespace detops::python
