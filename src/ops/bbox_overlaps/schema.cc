// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/names.h"

namespace detops::schema {
namespace {

enum ScalarIndex : size_t { kMode, kAligned, kOffset };

Tensor Boxes(const char* name, const char* shape, const char* option) {
  return {name, Role::kInput, Element::kAny, shape, "x1,y1,x2,y2", option};
}

mluOpStatus_t Call(const Arguments& a) {
  return mluOpBboxOverlaps(a.handle, a.Int(kMode), a.Bool(kAligned), a.Int(kOffset), a.descs[0],
                           a.data[0], a.descs[1], a.data[1], a.descs[2], a.data[2]);
}

double Elements(const Problem& p) { return p.product(p.scalars[kAligned] != 0 ? "M" : "M,N"); }

// Given the areas of the boxes: 4 minima and maxima, 2 differences, 2 maxima with 0, a product, a
// maximum with the offset, a division; the union takes 2 more.
Work Floor(const Problem& p) {
  Work work = p.tensors();
  work.operations = Elements(p) * (p.scalars[kMode] == 1 ? 11 : 13);
  return work;
}

std::string Describe(const Problem& p) {
  return fmt::format("{} {} {} {} {}{}", TextOf(p.inputs[0].shape()),
                     p.scalars[kAligned] != 0 ? "with" : "x", TextOf(p.inputs[1].shape()),
                     NameOf(p.type()), p.scalars[kMode] == 1 ? "IoF" : "IoU",
                     p.scalars[kOffset] == 1 ? " offset 1" : "");
}

std::string Summarize(const Problem&, const std::vector<Array>& results) {
  const std::vector<float> ious = results[0].Floats();
  int64_t overlapping = 0, nans = 0;
  float largest = 0;
  for (const float iou : ious) {
    overlapping += iou > 0;
    nans += std::isnan(iou);
    largest = std::max(largest, iou);
  }
  std::string text = fmt::format("{} {} pairs, {} overlap, the largest value is {:.6g}",
                                 TextOf(results[0].shape()), ious.size(), overlapping, largest);
  if (nans > 0) text += fmt::format("; {} are NaN (a NaN coordinate, or 0/0)", nans);
  return text;
}

}  // namespace

template <>
const Schema& SchemaOf<ops::BboxOverlaps>() {
  static const Schema schema = {
      .name = "bbox_overlaps",
      .summary = "IoU or IoF of boxes, all pairs or aligned",
      .example = "detops run bbox_overlaps --bboxes1 found.npy --bboxes2 truth.csv --out ious.npy",
      .letters = {{'M', 3, 100, "boxes in the first set"},
                  {'N', 2, 100, "boxes in the second set"}},
      .scalars = {{"mode",
                   Scalar::Kind::kInt,
                   0,
                   "iou, or iof: over the area of the first box",
                   {-1, 2},
                   {"iou", "iof"}},
                  {"aligned", Scalar::Kind::kBool, 0, "box i with box i, not all pairs"},
                  {"offset",
                   Scalar::Kind::kInt,
                   0,
                   "0, or 1 to add a pixel to every length",
                   {-1, 2},
                   {"0", "1"}}},
      .forms = {{"mluOpBboxOverlaps",
                 {Boxes("bbox1", "M,4", "--bboxes1"),
                  Boxes("bbox2", "N,4", "--bboxes2"),
                  {"ious", Role::kOutput, Element::kAny, "M,N", "aligned: [M]", "--out"}},
                 Call},
                {"mluOpBboxOverlaps",
                 {Boxes("bbox1", "M,4", "--bboxes1"),
                  Boxes("bbox2", "M,4", "--bboxes2"),
                  {.name = "ious",
                   .role = Role::kOutput,
                   .element = Element::kAny,
                   .shape = "M",
                   .help = "of box i with box i",
                   .option = "--out",
                   .other_shape = "M,1"}},
                 Call}},
      .form_scalar = "aligned",
      .scenes = Scenes<ops::BboxOverlaps>::List(),
      .fill = Scenes<ops::BboxOverlaps>::Fill,
      .random = Scenes<ops::BboxOverlaps>::Random,
      .operations =
          [](const Problem& p) { return Elements(p) * (p.scalars[kMode] == 1 ? 23 : 25); },
      .floor = Floor,
      .reference_steps = Elements,
      .size = Elements,
      .size_unit = "pairs",
      .item = "pair",
      .limited_by =
          "the arithmetic of the cores: minima, maxima and a division per element; small "
          "matrices stay in the cache, where the memory's peak says nothing",
      .describe = Describe,
      .summarize = Summarize,
  };
  return schema;
}

}  // namespace detops::schema
