// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include "ops/names.h"

template <>
const detops::schema::Schema& detops::schema::SchemaOf<detops::ops::Nms>() {
  static const Schema schema = {
      .name = "nms",
      .summary = "suppression of upright boxes",
      .example =
          "detops run nms --boxes boxes.npy --scores scores.npy --iou-threshold 0.5 "
          "--out keep.npy",
      .letters = {{'N', 3, 1000, "boxes"}},
      .scalars = {{"iou_threshold",
                   Scalar::Kind::kFloat,
                   0.5,
                   "boxes that overlap a better one by more are dropped",
                   {NAN}}},
      .forms = {{"detopsNms",
                 {{.name = "boxes",
                   .role = Role::kInput,
                   .element = Element::kAny,
                   .shape = "N,4",
                   .help = "x1,y1,x2,y2",
                   .layout = MLUOP_LAYOUT_ARRAY},
                  {.name = "scores",
                   .role = Role::kInput,
                   .element = Element::kAny,
                   .shape = "N",
                   .help = "one per box"},
                  {.name = "output",
                   .role = Role::kOutput,
                   .element = Element::kInt32,
                   .shape = "N",
                   .help = "indices kept, best first",
                   .option = "--out",
                   .rows_written = "result_num"},
                  {.name = "result_num",
                   .role = Role::kCount,
                   .element = Element::kInt32,
                   .shape = "1",
                   .help = "how many"}},
                 [](const Arguments& a) {
                   return detopsNms(a.handle, a.descs[0], a.data[0], a.descs[1], a.data[1],
                                    a.Float(0), a.workspace, a.workspace_size, a.descs[2],
                                    a.data[2], a.data[3]);
                 }}},
      .queries = {{"detopsGetNmsWorkspaceSize",
                   [](const Arguments& a, size_t* size) {
                     return detopsGetNmsWorkspaceSize(a.handle, a.descs[0], size);
                   }}},
      .scenes = Scenes<ops::Nms>::List(),
      .fill = Scenes<ops::Nms>::Fill,
      .random = Scenes<ops::Nms>::Random,
      // 4 minima and maxima, 2 differences, 2 maxima with 0, a product, 3 for the union, a division
      // and a comparison.
      .operations_per_pair = 14,
      .reference_steps = [](const Problem& p) { return p.product("N,N"); },
      .size = [](const Problem& p) { return p.product("N"); },
      .size_unit = "boxes",
      .item = "box",
      .limited_by =
          "finding neighbours: the work is a spatial search and a sort, neither of which "
          "is counted as bytes or operations",
      .describe =
          [](const Problem& p) {
            return fmt::format("{}{}{} {} threshold {:g}", TextOf(p.inputs[0].shape()),
                               p.scene.empty() ? "" : " ", p.scene, NameOf(p.type()),
                               static_cast<float>(p.scalar("iou_threshold")));
          },
      .summarize =
          [](const Problem& p, const std::vector<Array>& results) {
            return fmt::format("kept {} of {} boxes", results[0].count(), p.size('N'));
          },
  };
  return schema;
}
