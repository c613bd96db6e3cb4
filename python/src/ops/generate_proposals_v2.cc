// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstring>

#include "bind.h"
#include "choices.h"
#include "counted.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kDoc = R"(
Region proposals of N images: top-k, decode, clip, drop the small, non-maximum suppression.

scores: [N, A, H, W] float32, or [N, H, W, A] with layout="NHWC"
bbox_deltas: [N, 4A, H, W] float32, or [N, H, W, 4A]
img_size: [N, 2] float32, height and width
anchors, variances: [H, W, A, 4] float32
pre_nms_top_n: the best so many are decoded; 0 or less for all
post_nms_top_n: at most so many are kept of each image
nms_thresh: a proposal goes if it overlaps a better one by more than this
min_size: shorter sides are dropped, as are those below 1
eta: 1; there is no adaptive suppression
pixel_offset: lengths count pixels
return_rois_num: also how many each image has
dtype: of these counts; int64 unless int32 is asked for

Returns rois [R, 4], probs [R, 1] and rois_num [N], all images one after the other. An image without
proposals gets one of zeros. On a CUDA device the call waits for R.

>>> import numpy as np
>>> scores = np.array([[[[.9, .1]]]], np.float32)  # one anchor at each of 1 x 2 places
>>> deltas = np.zeros((1, 4, 1, 2), np.float32)
>>> anchors = np.array([[[[0, 0, 9, 9]], [[4, 0, 30, 9]]]], np.float32)
>>> rois, probs, count = generate_proposals(
...     scores, deltas, np.array([[20, 20]], np.float32), anchors, np.ones_like(anchors))
>>> rois
array([[ 0.,  0.,  9.,  9.],
       [ 4.,  0., 20.,  9.]], dtype=float32)
>>> probs.ravel(), count
(array([0.9, 0.1], dtype=float32), array([2]))
)";

nb::object GenerateProposals(nb::handle scores, nb::handle bbox_deltas, nb::handle img_size,
                             nb::handle anchors, nb::handle variances, int pre_nms_top_n,
                             int post_nms_top_n, double nms_thresh, double min_size, double eta,
                             bool pixel_offset, std::string_view layout, bool return_rois_num,
                             nb::handle dtype) {
  const bool nchw = !IsSecond("layout", layout, "NCHW", "NHWC");
  const Element index_element = IndexElement(dtype);
  const Call call(scores, "scores");
  const Array in_scores = call.Import(scores, "scores", Types::kFloat, nchw);
  const Array in_deltas = call.Import(bbox_deltas, "bbox_deltas", Types::kFloat, nchw);
  const Array in_size = call.Import(img_size, "img_size", Types::kFloat);
  const Array in_anchors = call.Import(anchors, "anchors", Types::kFloat);
  const Array in_variances = call.Import(variances, "variances", Types::kFloat);

  const Descriptor scores_desc(in_scores), deltas_desc(in_deltas), size_desc(in_size);
  const Descriptor anchors_desc(in_anchors), variances_desc(in_variances);
  size_t bytes = 0;
  Check(mluOpGetGenerateProposalsV2WorkspaceSize_v2(call.handle(), scores_desc, pre_nms_top_n,
                                                    &bytes));
  // An image has no more proposals than anchors, whatever the caller allows, and always one.
  const int64_t images = in_scores.shape()[0];
  const int64_t per_image = in_scores.shape()[1] * in_scores.shape()[2] * in_scores.shape()[3];
  const int most =
      static_cast<int>(std::min<int64_t>(post_nms_top_n, std::max<int64_t>(per_image, 1)));
  const int64_t rows = images * std::max(most, 0);
  const Descriptor rois_desc(MLUOP_DTYPE_FLOAT, {rows, 4}),
      probs_desc(MLUOP_DTYPE_FLOAT, {rows, 1});
  const Descriptor num_desc(MLUOP_DTYPE_INT32, {images});
  const Workspace workspace(call, bytes);
  IndexOutput num(call, {images}, index_element);
  const auto run = [&](void* rois, void* probs, void* total) {
    call.Run([&](mluOpHandle_t handle) {
      return mluOpGenerateProposalsV2(
          handle, pre_nms_top_n, most, static_cast<float>(nms_thresh), static_cast<float>(min_size),
          static_cast<float>(eta), pixel_offset, scores_desc, in_scores.data(), deltas_desc,
          in_deltas.data(), size_desc, in_size.data(), anchors_desc, in_anchors.data(),
          variances_desc, in_variances.data(), workspace.data(), bytes, rois_desc, rois, probs_desc,
          probs, num_desc, num.data(), total);
    });
  };

  nb::object rois_object, probs_object;
  if (call.on_device()) {
    Output rois = call.Empty({rows, 4}, Element::kFloat);
    Output probs = call.Empty({rows, 1}, Element::kFloat);
    const Output total = call.Empty({1}, Element::kInt32);
    run(rois.data, probs.data, total.data);
    const int32_t count = ReadCount(call, total.data);
    rois_object = Front(call, std::move(rois), count);
    probs_object = Front(call, std::move(probs), count);
  } else {
    const HostMemory rois(static_cast<size_t>(rows) * 4 * sizeof(float));
    const HostMemory probs(static_cast<size_t>(rows) * sizeof(float));
    int32_t count = 0;
    run(rois.data(), probs.data(), &count);
    const auto result = [&](const HostMemory& from, int64_t columns) {
      Output output = call.Empty({count, columns}, Element::kFloat);
      const auto size = static_cast<size_t>(count * columns) * sizeof(float);
      if (size > 0) std::memcpy(output.data, from.data(), size);
      return call.Finish(std::move(output));
    };
    rois_object = result(rois, 4);
    probs_object = result(probs, 1);
  }
  if (!return_rois_num) return nb::make_tuple(std::move(rois_object), std::move(probs_object));
  return nb::make_tuple(std::move(rois_object), std::move(probs_object), num.Finish());
}

}  // namespace

template <>
void Bind<ops::GenerateProposalsV2>(nb::module_& module) {
  module.def("generate_proposals", &GenerateProposals, "scores"_a, "bbox_deltas"_a, "img_size"_a,
             "anchors"_a, "variances"_a, "pre_nms_top_n"_a = 6000, "post_nms_top_n"_a = 1000,
             "nms_thresh"_a = 0.5, "min_size"_a = 0.1, "eta"_a = 1.0, "pixel_offset"_a = false,
             "layout"_a = "NCHW", "return_rois_num"_a = true, "dtype"_a = nb::none(), kDoc);
}

}  // namespace detops::python
