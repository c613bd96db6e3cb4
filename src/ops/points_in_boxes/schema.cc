// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/names.h"

template <>
const detops::schema::Schema& detops::schema::SchemaOf<detops::ops::PointsInBoxes>() {
  constexpr auto kArray = MLUOP_LAYOUT_ARRAY;
  static const Schema schema = {
      .name = "points_in_boxes",
      .summary = "which rotated 3-D box holds each point",
      .example = "detops run points_in_boxes --points sweep.csv --boxes cars.csv --out index.npy",
      .letters = {{'B', 2, 1, "batches"},
                  {'M', 5, 10000, "points in each"},
                  {'T', 4, 50, "boxes in each"}},
      .scalars = {},
      .forms = {{"mluOpPointsInBoxes",
                 {{"points", Role::kInput, Element::kFloat, "B,M,3", "x,y,z", "--points", kArray},
                  {"boxes", Role::kInput, Element::kFloat, "B,T,7", "cx,cy,cz,dx,dy,dz,heading",
                   "--boxes", kArray},
                  {"points_indices", Role::kOutput, Element::kInt32, "B,M",
                   "the first box that holds the point, or -1", "--out", kArray}},
                 [](const Arguments& a) {
                   return mluOpPointsInBoxes(a.handle, a.descs[0], a.data[0], a.descs[1], a.data[1],
                                             a.descs[2], a.data[2]);
                 }}},
      .batch_is_optional = true,
      .scenes = Scenes<ops::PointsInBoxes>::List(),
      .fill = Scenes<ops::PointsInBoxes>::Fill,
      .random = Scenes<ops::PointsInBoxes>::Random,
      .operations =
          [](const Problem& p) { return p.product("B,M") * (6 + 27 * p.product("T") + 2); },
      // Most boxes can be ruled out without a test: only the operations per point itself are
      // certain.
      .floor =
          [](const Problem& p) {
            Work work = p.tensors();
            work.operations = p.product("B,M") * 8;
            return work;
          },
      .reference_steps = [](const Problem& p) { return p.product("B,M,T"); },
      .size = [](const Problem& p) { return p.product("B,M"); },
      .size_unit = "points",
      .item = "point",
      .limited_by =
          "reading the points and looking up their cells; operations are counted as if "
          "every point were compared with every box, so that the share of the compute "
          "peak can exceed 100 %",
      .describe =
          [](const Problem& p) {
            return fmt::format("{} in {}", TextOf(p.inputs[0].shape()),
                               TextOf(p.inputs[1].shape()));
          },
      .summarize =
          [](const Problem&, const std::vector<Array>& results) {
            const auto indices = results[0].As<int32_t>();
            return fmt::format("{} of {} points are in a box",
                               std::ranges::count_if(indices, [](int32_t i) { return i >= 0; }),
                               indices.size());
          },
  };
  return schema;
}
