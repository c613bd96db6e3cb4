// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "bind.h"
#include "counted.h"
#include "indices.h"

namespace detops::python {
namespace {

constexpr const char* kFunction = "generate_proposals";
constexpr Argument kScores[] = {
    {kFunction, "scores", "(N, A, H, W) with A, H and W of 1 or more", "scores"},
    {kFunction, "scores", "(N, H, W, A) with A, H and W of 1 or more", "scores"}};
constexpr Argument kDeltas[] = {{kFunction, "bbox_deltas", "(N, 4A, H, W)", "bbox_deltas"},
                                {kFunction, "bbox_deltas", "(N, H, W, 4A)", "bbox_deltas"}};
constexpr Argument kSize = {kFunction, "img_size", "(N, 2)", "im_shape"};
constexpr Argument kAnchors = {kFunction, "anchors", "(H, W, A, 4)", "anchors", "box"};
constexpr Argument kVariances = {kFunction, "variances", "(H, W, A, 4)", "variances"};

nb::object GenerateProposals(nb::handle scores, nb::handle bbox_deltas, nb::handle img_size,
                             nb::handle anchors, nb::handle variances, nb::handle pre_nms_top_n,
                             nb::handle post_nms_top_n, nb::handle nms_thresh, nb::handle min_size,
                             nb::handle eta, nb::handle pixel_offset, nb::handle layout,
                             nb::handle return_rois_num, nb::handle dtype) {
  const int candidates = ToInt(kFunction, "pre_nms_top_n", pre_nms_top_n);
  const int wanted = ToInt(kFunction, "post_nms_top_n", post_nms_top_n);
  const auto threshold = static_cast<float>(ToNumber(kFunction, "nms_thresh", nms_thresh));
  const auto least_side = static_cast<float>(ToNumber(kFunction, "min_size", min_size));
  const auto adaption = static_cast<float>(ToNumber(kFunction, "eta", eta));
  const bool pixels = ToBool(kFunction, "pixel_offset", pixel_offset);
  const bool nhwc = IsSecond(kFunction, "layout", layout, "NCHW", "NHWC");
  const bool with_rois_num = ToBool(kFunction, "return_rois_num", return_rois_num);
  const Element index_element = IndexElement(kFunction, dtype);
  Call call(kScores[nhwc], scores);
  const Array in_scores = call.Import(kScores[nhwc], scores, Types::kFloat, !nhwc);
  const Array in_deltas = call.Import(kDeltas[nhwc], bbox_deltas, Types::kFloat, !nhwc);
  const Array in_size = call.Import(kSize, img_size, Types::kFloat);
  const Array in_anchors = call.Import(kAnchors, anchors, Types::kFloat);
  const Array in_variances = call.Import(kVariances, variances, Types::kFloat);

  const Descriptor scores_desc(in_scores), deltas_desc(in_deltas), size_desc(in_size);
  const Descriptor anchors_desc(in_anchors), variances_desc(in_variances);
  size_t bytes = 0;
  call.Check(
      mluOpGetGenerateProposalsV2WorkspaceSize_v2(call.handle(), scores_desc, candidates, &bytes));
  // An image has no more proposals than anchors, whatever the caller allows, and always one.
  const int64_t images = in_scores.shape()[0];
  const int64_t per_image = in_scores.shape()[1] * in_scores.shape()[2] * in_scores.shape()[3];
  const int most = static_cast<int>(std::min<int64_t>(wanted, std::max<int64_t>(per_image, 1)));
  const int64_t rows = images * std::max(most, 0);
  const Descriptor rois_desc(MLUOP_DTYPE_FLOAT, {rows, 4}),
      probs_desc(MLUOP_DTYPE_FLOAT, {rows, 1});
  const Descriptor num_desc(MLUOP_DTYPE_INT32, {images});
  const Workspace workspace(call, bytes);
  IndexOutput num(call, {images}, index_element);
  const auto run = [&](float* rois, float* probs, int32_t* total) {
    call.Run([&](mluOpHandle_t handle, Staging& at) {
      return mluOpGenerateProposalsV2(handle, candidates, most, threshold, least_side, adaption,
                                      pixels, scores_desc, at.Read(in_scores), deltas_desc,
                                      at.Read(in_deltas), size_desc, at.Read(in_size), anchors_desc,
                                      at.Read(in_anchors), variances_desc, at.Read(in_variances),
                                      at.Scratch(workspace.data(), bytes), bytes, rois_desc,
                                      at.Write(rois, rows * 4), probs_desc, at.Write(probs, rows),
                                      num_desc, at.Write(num.data(), images), at.Write(total, 1));
    });
  };

  nb::object rois_object, probs_object;
  if (call.on_device()) {
    Output rois = call.Empty({rows, 4}, Element::kFloat);
    Output probs = call.Empty({rows, 1}, Element::kFloat);
    const Output total = call.Empty({1}, Element::kInt32);
    run(rois.As<float>(), probs.As<float>(), total.As<int32_t>());
    const int32_t count = ReadCount(call, total.data);
    rois_object = Front(call, std::move(rois), count);
    probs_object = Front(call, std::move(probs), count);
  } else {
    const HostMemory rois(static_cast<size_t>(rows) * 4 * sizeof(float));
    const HostMemory probs(static_cast<size_t>(rows) * sizeof(float));
    int32_t count = 0;
    run(static_cast<float*>(rois.data()), static_cast<float*>(probs.data()), &count);
    const auto result = [&](const HostMemory& from, int64_t columns) {
      Output output = call.Empty({count, columns}, Element::kFloat);
      const auto size = static_cast<size_t>(count * columns) * sizeof(float);
      if (size > 0) std::memcpy(output.data, from.data(), size);
      return call.Finish(std::move(output));
    };
    rois_object = result(rois, 4);
    probs_object = result(probs, 1);
  }
  if (!with_rois_num) return nb::make_tuple(std::move(rois_object), std::move(probs_object));
  return nb::make_tuple(std::move(rois_object), std::move(probs_object), num.Finish());
}

}  // namespace

template <>
void Bind<ops::GenerateProposalsV2>(nb::module_& module) {
  module.def("generate_proposals", &GenerateProposals, "scores"_a.none(), "bbox_deltas"_a.none(),
             "img_size"_a.none(), "anchors"_a.none(), "variances"_a.none(),
             "pre_nms_top_n"_a.none(), "post_nms_top_n"_a.none(), "nms_thresh"_a.none(),
             "min_size"_a.none(), "eta"_a.none(), "pixel_offset"_a.none(), "layout"_a.none(),
             "return_rois_num"_a.none(), "dtype"_a.none());
}

}  // namespace detops::python
