// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include "ops/names.h"

template <>
const detops::schema::Schema& detops::schema::SchemaOf<detops::ops::PolyNms>() {
  static const Schema schema = {
      .name = "poly_nms",
      .summary = "suppression of quadrilaterals, convex or concave",
      .example = "detops run poly_nms --boxes dets.npy --iou-threshold 0.1 --out keep.npy",
      .letters = {{'N', 3, 1000, "boxes"}},
      .scalars = {{"iou_threshold",
                   Scalar::Kind::kFloat,
                   0.2,
                   "boxes that overlap a better one by more are dropped",
                   {NAN}}},
      .forms = {{"mluOpPolyNms",
                 {{.name = "boxes",
                   .role = Role::kInput,
                   .element = Element::kFloat,
                   .shape = "N,9",
                   .help = "x1,y1,…,x4,y4,score",
                   .layout = MLUOP_LAYOUT_ARRAY},
                  {.name = "output",
                   .role = Role::kOutput,
                   .element = Element::kInt32,
                   .shape = "N",
                   .help = "indices kept, ascending",
                   .option = "--out",
                   .rows_written = "result_num"},
                  {.name = "result_num",
                   .role = Role::kCount,
                   .element = Element::kInt32,
                   .shape = "1",
                   .help = "how many"}},
                 [](const Arguments& a) {
                   return mluOpPolyNms(a.handle, a.descs[0], a.data[0], a.Float(0), a.workspace,
                                       a.workspace_size, a.descs[1], a.data[1], a.data[2]);
                 }}},
      .queries = {{"mluOpGetPolyNmsWorkspaceSize",
                   [](const Arguments& a, size_t* size) {
                     return mluOpGetPolyNmsWorkspaceSize(a.handle, a.descs[0], size);
                   }}},
      .scenes = Scenes<ops::PolyNms>::List(),
      .fill = Scenes<ops::PolyNms>::Fill,
      .random = Scenes<ops::PolyNms>::Random,
      // What clipping a pair can't do without: four pairs of triangles, in each the side of one
      // edge on which three corners and the edge's own end lie, 7 operations each.
      .operations_per_pair = 4 * 4 * 7,
      .reference_steps = [](const Problem& p) { return p.product("N,N"); },
      .size = [](const Problem& p) { return p.product("N"); },
      .size_unit = "boxes",
      .item = "box",
      .limited_by =
          "finding neighbours: the work is a spatial search and a sort, neither of which "
          "is counted as bytes or operations",
      .describe =
          [](const Problem& p) {
            return fmt::format("{}{}{} threshold {:g}", TextOf(p.inputs[0].shape()),
                               p.scene.empty() ? "" : " ", p.scene,
                               static_cast<float>(p.scalar("iou_threshold")));
          },
      .summarize =
          [](const Problem& p, const std::vector<Array>& results) {
            return fmt::format("kept {} of {} boxes", results[0].count(), p.size('N'));
          },
  };
  return schema;
}
