// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/names.h"

namespace detops::schema {
namespace {

enum ScalarIndex : size_t { kPreNms, kPostNms, kNmsThresh, kMinSize, kEta, kPixelOffset };

Tensor Make(Role role, Element element, const char* name, const char* shape, const char* help,
            const char* option = nullptr, const char* rows_written = nullptr) {
  return {.name = name,
          .role = role,
          .element = element,
          .shape = shape,
          .help = help,
          .option = option,
          .layout = MLUOP_LAYOUT_ARRAY,
          .rows_written = rows_written};
}

// Of an image: what the top-k keeps.
double Candidates(const Problem& p) {
  const double anchors = p.product("H,W,A"), pre = p.scalars[kPreNms];
  return pre > 0 ? std::min(anchors, pre) : anchors;
}

double ReferenceSteps(const Problem& p) {
  const double candidates = Candidates(p);
  return p.product("N") * candidates * std::min(candidates, std::max(1.0, p.scalars[kPostNms]));
}

// All scores are read, but only those deltas, anchors and variances that the top-k keeps; anchors
// and variances may be the same in all images. Decoding is counted likewise. Suppression depends on
// the boxes and is left out.
Work Floor(const Problem& p) {
  const double images = p.product("N"), candidates = Candidates(p);
  const double floats = images * (p.product("H,W,A") + 4 * candidates + 2) + 8 * candidates;
  return {4 * floats, p.tensors().written, 39 * images * candidates};
}

mluOpStatus_t Call(const Arguments& a) {
  return mluOpGenerateProposalsV2(
      a.handle, a.Int(kPreNms), a.Int(kPostNms), a.Float(kNmsThresh), a.Float(kMinSize),
      a.Float(kEta), a.Bool(kPixelOffset), a.descs[0], a.data[0], a.descs[1], a.data[1], a.descs[2],
      a.data[2], a.descs[3], a.data[3], a.descs[4], a.data[4], a.workspace, a.workspace_size,
      a.descs[5], a.data[5], a.descs[6], a.data[6], a.descs[7], a.data[7], a.data[8]);
}

}  // namespace

template <>
const Schema& SchemaOf<ops::GenerateProposalsV2>() {
  constexpr auto kIn = Role::kInput, kOut = Role::kOutput;
  constexpr auto kFloats = Element::kFloat, kInts = Element::kInt32;
  constexpr const char* kTotal = "rpn_rois_batch_size";
  static const Schema schema = {
      .name = "generate_proposals_v2",
      .summary = "top-k, decode, clip, filter, NMS of a region proposal network",
      .example =
          "detops run generate_proposals_v2 --scores s.npy --bbox-deltas d.npy --anchors "
          "a.npy --variances v.npy --im-shape size.npy --out rois.npy --out-probs probs.npy",
      .letters = {{'N', 2, 1, "images"},
                  {'H', 5, 25, "height of the map", false},
                  {'W', 6, 38, "width of the map", false},
                  {'A', 3, 3, "anchors per cell", false}},
      .scalars =
          {{"pre_nms_top_n", Scalar::Kind::kInt, 6000,
            "best scores of an image to go on with; 0 is all"},
           {"post_nms_top_n", Scalar::Kind::kInt, 2000, "proposals of an image at most", {-1}},
           {"nms_thresh",
            Scalar::Kind::kFloat,
            0.5,
            "IoU above which the lower score goes",
            {0, -1, NAN}},
           {"min_size", Scalar::Kind::kFloat, 0.1, "smaller ones go; below 1 counts as 1", {NAN}},
           {"eta", Scalar::Kind::kFloat, 1, "1 or more: plain NMS", {0.5, NAN}},
           {"pixel_offset", Scalar::Kind::kBool, 1, "true adds a pixel to every length"}},
      .forms = {{"mluOpGenerateProposalsV2",
                 {Make(kIn, kFloats, "scores", "N,H,W,A", ""),
                  Make(kIn, kFloats, "bbox_deltas", "N,H,W,4A", "dx,dy,dw,dh of each anchor"),
                  Make(kIn, kFloats, "im_shape", "N,2", "height,width"),
                  Make(kIn, kFloats, "anchors", "H,W,A,4", "x1,y1,x2,y2"),
                  Make(kIn, kFloats, "variances", "H,W,A,4", "of dx,dy,dw,dh"),
                  Make(kOut, kFloats, "rpn_rois", "N*post_nms_top_n,4",
                       "x1,y1,x2,y2, packed over the images", "--out", kTotal),
                  Make(kOut, kFloats, "rpn_roi_probs", "N*post_nms_top_n,1", "their scores",
                       "--out-probs", kTotal),
                  Make(kOut, kInts, "rpn_rois_num", "N", "how many of each image", "--out-num"),
                  Make(Role::kCount, kInts, kTotal, "1", "their sum")},
                 Call}},
      .queries = {{"mluOpGetGenerateProposalsV2WorkspaceSize_v2",
                   [](const Arguments& a, size_t* size) {
                     return mluOpGetGenerateProposalsV2WorkspaceSize_v2(a.handle, a.descs[0],
                                                                        a.Int(kPreNms), size);
                   }},
                  {"mluOpGetGenerateProposalsV2WorkspaceSize",
                   [](const Arguments& a, size_t* size) {
                     return mluOpGetGenerateProposalsV2WorkspaceSize(a.handle, a.descs[0], size);
                   }}},
      .case_order = {"scores", "bbox_deltas", "anchors", "variances", "im_shape"},
      .scenes = Scenes<ops::GenerateProposalsV2>::List(),
      .fill = Scenes<ops::GenerateProposalsV2>::Fill,
      .random = Scenes<ops::GenerateProposalsV2>::Random,
      .operations = [](const Problem& p) { return 39 * p.product("N,H,W,A"); },
      .floor = Floor,
      .reference_steps = ReferenceSteps,
      .size = [](const Problem& p) { return p.product("N,H,W,A"); },
      .size_unit = "anchors",
      .item = "anchor",
      .limited_by =
          "finding the top scores and suppression, which the count of 39 operations per "
          "anchor leaves out; only the kept candidates are decoded",
      .describe =
          [](const Problem& p) {
            return fmt::format("{} pre {} post {}", TextOf(p.inputs[0].shape()), p.scalars[kPreNms],
                               p.scalars[kPostNms]);
          },
      .summarize =
          [](const Problem& p, const std::vector<Array>& results) {
            return fmt::format("{} proposals of {} anchors in {} image(s)", results[0].dim(0),
                               p.inputs[0].count(), p.size('N'));
          },
  };
  return schema;
}

}  // namespace detops::schema
