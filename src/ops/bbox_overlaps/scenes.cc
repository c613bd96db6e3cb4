// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/names.h"
#include "schema/random.h"
#include "schema/schema.h"

namespace detops::schema {
namespace {

using random::Uniform;

// x1 <= x2 and y1 <= y2, as most boxes have it; and small beside the space between them if `part`
// is.
void MakeWellFormed(std::vector<float>& boxes, float part) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (i % 4 >= 2) boxes[i] = boxes[i - 2] + part * std::abs(boxes[i] - boxes[i - 2]);
  }
}

}  // namespace

template <>
std::vector<Scene> Scenes<ops::BboxOverlaps>::List() {
  return {{"scattered", "boxes of 8 to 400 in an image of 1333 x 800"},
          {"ties", "few corners on a coarse grid: many equal and touching boxes"},
          {"piled", "all boxes around one spot"},
          {"far", "like scattered, 4096 from the origin"},
          {"special", "NaN, infinities, zeros and huge numbers among the coordinates"}};
}

template <>
void Scenes<ops::BboxOverlaps>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  for (Array& boxes : problem.inputs) {
    std::vector<float> values;
    for (int64_t i = 0; i < boxes.dim(0); ++i) {
      const bool piled = scene == "piled";
      float x = Uniform(rng, 0, piled ? 20 : 1325), y = Uniform(rng, 0, piled ? 20 : 792);
      float w = Uniform(rng, 8, 400), h = Uniform(rng, 8, 400);
      if (scene == "far") x += 4096, y += 4096;
      if (scene == "ties") {
        for (float* v : {&x, &y, &w, &h}) *v = std::floor(*v / 200) * 50;
      }
      values.insert(values.end(), {x, y, x + w, y + h});
    }
    if (scene == "special") random::Spoil(rng, values, 9);
    boxes = Array::FromFloats(boxes.dtype(), boxes.shape(), values);
  }
}

template <>
Problem Scenes<ops::BboxOverlaps>::Random(Rng& rng) {
  Problem problem(SchemaOf<ops::BboxOverlaps>());
  const bool half = rng() % 2 == 0, aligned = rng() % 3 == 0;
  const int64_t m = random::RandomSize(rng, 3000);
  const int64_t pairs = rng() % 8 == 0 ? 2000000 : 600000;  // some are enough for threads
  const int64_t n = aligned ? m : random::RandomSize(rng, std::max<int64_t>(1, pairs / m));
  problem.set_scalar("mode", static_cast<double>(rng() % 2));
  problem.set_scalar("aligned", aligned);
  problem.set_scalar("offset", static_cast<double>(rng() % 2));
  problem.MakeInputs({m, n}, half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT);
  const bool well_formed = rng() % 4 != 0;
  const float part = rng() % 2 == 0 ? 0.1f : 1.0f;
  for (Array& boxes : problem.inputs) {
    std::vector<float> values = random::Coordinates(rng, boxes.count(), 50);
    if (well_formed) MakeWellFormed(values, part);
    boxes = Array::FromFloats(boxes.dtype(), boxes.shape(), values);
  }
  return problem;
}

}  // namespace detops::schema
