// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/names.h"

namespace detops::schema {
namespace {

enum ScalarIndex : size_t { kPoolSize, kLayout };

constexpr auto kNhwc = MLUOP_LAYOUT_NHWC, kNchw = MLUOP_LAYOUT_NCHW;

std::vector<Tensor> Tensors(mluOpTensorLayout_t layout, const char* input, const char* output) {
  return {
      {"input", Role::kInput, Element::kAny, input, "feature maps of the four borders", "--input",
       layout},
      {"boxes", Role::kInput, Element::kAny, "N,K,4", "x1,y1,x2,y2", "--boxes"},
      {"output", Role::kOutput, Element::kAny, output, "maxima; nchw: [N,C,K,4]", "--out", layout},
      {"argmax_idx", Role::kOutput, Element::kInt32, output, "which sample holds the maximum",
       "--out-argmax", layout}};
}

double Samples(const Problem& p) { return p.product("N,K,C") * 4 * (p.scalars[kPoolSize] + 1); }

std::string Describe(const Problem& p) {
  return fmt::format("{} K {} P {} {} {}", TextOf(p.inputs[0].shape()), p.size('K'),
                     p.scalars[kPoolSize], NameOf(p.type()),
                     p.scalars[kLayout] == 1 ? "NCHW" : "NHWC");
}

std::string Summarize(const Problem& p, const std::vector<Array>& results) {
  const std::vector<float> output = results[0].Floats();
  if (output.empty()) return "no maxima";
  const auto [low, high] = std::ranges::minmax(output);
  return fmt::format("{} maxima of {} samples each, from {:.6g} to {:.6g}", output.size(),
                     p.scalars[kPoolSize] + 1, low, high);
}

}  // namespace

template <>
const Schema& SchemaOf<ops::BorderAlignForward>() {
  static const Schema schema = {
      .name = "border_align_forward",
      .summary = "maxima along the borders of boxes",
      .example =
          "detops run border_align_forward --input map.npy --boxes boxes.npy --pool-size 10 "
          "--out out.npy --out-argmax where.npy",
      .letters = {{'N', 2, 1, "images", false},
                  {'H', 6, 25, "height of the map", false},
                  {'W', 7, 38, "width of the map", false},
                  {'C', 3, 64, "channels of each border", false},
                  {'K', 5, 100, "boxes per image", false}},
      .scalars = {{"pool_size", Scalar::Kind::kInt, 10, "steps along each border", {0, -1}},
                  {"layout", Scalar::Kind::kInt, 0, "of input and results", {}, {"nhwc", "nchw"}}},
      .forms = {{"mluOpBorderAlignForward", Tensors(kNhwc, "N,H,W,4C", "N,K,4,C"),
                 [](const Arguments& a) {
                   return mluOpBorderAlignForward(a.handle, a.descs[0], a.data[0], a.descs[1],
                                                  a.data[1], a.Int(kPoolSize), a.descs[2],
                                                  a.data[2], a.descs[3], a.data[3]);
                 }},
                {"detopsBorderAlignForward", Tensors(kNchw, "N,4C,H,W", "N,C,K,4"),
                 [](const Arguments& a) {
                   return detopsBorderAlignForward(a.handle, a.descs[0], a.data[0], a.descs[1],
                                                   a.data[1], a.Int(kPoolSize), a.descs[2],
                                                   a.data[2], a.descs[3], a.data[3]);
                 }}},
      .form_scalar = "layout",
      .case_param = "border_align_param",
      .scenes = Scenes<ops::BorderAlignForward>::List(),
      .fill = Scenes<ops::BorderAlignForward>::Fill,
      .random = Scenes<ops::BorderAlignForward>::Random,
      .operations = [](const Problem& p) { return Samples(p) * 14; },
      // The channels share the weights of a sample: 4 products, 3 sums and a comparison remain.
      .floor =
          [](const Problem& p) {
            Work work = p.tensors();
            work.operations = Samples(p) * 8;
            return work;
          },
      .reference_steps = [](const Problem& p) { return Samples(p) * 2; },
      .size = [](const Problem& p) { return p.product("N,K,C") * 4; },
      .size_unit = "maxima",
      .item = "maximum",
      .limited_by =
          "the arithmetic where the map stays in a cache (the weights of a sample are "
          "counted for each channel, but computed once); large maps wait for the cache "
          "and address translation",
      .efficiency_bar = 0.5,
      .describe = Describe,
      .summarize = Summarize,
  };
  return schema;
}

}  // namespace detops::schema
