// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/names.h"
#include "schema/random.h"
#include "schema/schema.h"

namespace detops::schema {
namespace {

void Set(Problem& problem, const std::vector<float>& points, const std::vector<float>& boxes) {
  problem.inputs[0] = Array::FromFloats(MLUOP_DTYPE_FLOAT, problem.inputs[0].shape(), points);
  problem.inputs[1] = Array::FromFloats(MLUOP_DTYPE_FLOAT, problem.inputs[1].shape(), boxes);
}

}  // namespace

template <>
std::vector<Scene> Scenes<ops::PointsInBoxes>::List() {
  return {{"scattered", "150 x 150 x 6 m with boxes of 1 to 5 m at any heading"},
          {"ties", "points on a coarse grid, faces of boxes through them, boxes in each other"},
          {"piled", "all points and boxes around one spot"},
          {"far", "like scattered, 10000 m from the origin"},
          {"special", "NaN, infinities, zeros and huge numbers in points and boxes"}};
}

template <>
void Scenes<ops::PointsInBoxes>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  std::vector<float> points =
      random::RandomPoints(rng, problem.inputs[0].dim(0) * problem.inputs[0].dim(1));
  std::vector<float> boxes =
      random::RandomBoxes3d(rng, problem.inputs[1].dim(0) * problem.inputs[1].dim(1));
  for (size_t i = 0; i < points.size(); ++i) {
    if (scene == "piled") points[i] /= 40;
    if (scene == "far" && i % 3 < 2) points[i] += 10000;
    if (scene == "ties") points[i] = std::round(points[i] / 2) / 2;
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (scene == "piled" && i % 7 < 3) boxes[i] /= 40;
    if (scene == "far" && i % 7 < 2) boxes[i] += 10000;
    // Whole sizes and no rotation: points lie on the faces.
    if (scene == "ties") {
      boxes[i] = i % 7 == 6 ? 0 : i % 7 < 3 ? std::round(boxes[i] / 4) : std::round(boxes[i]);
    }
  }
  if (scene == "special") {
    random::Spoil(rng, points, 12);
    random::Spoil(rng, boxes, 12);
  }
  Set(problem, points, boxes);
}

template <>
Problem Scenes<ops::PointsInBoxes>::Random(Rng& rng) {
  Problem problem(SchemaOf<ops::PointsInBoxes>());
  const int64_t b = random::Between(rng, 1, 3), t = random::RandomSize(rng, 400);
  const int64_t m = random::RandomSize(rng, std::max<int64_t>(1, 400000 / t));
  problem.MakeInputs({b, m, t}, MLUOP_DTYPE_FLOAT);
  const std::vector<float> points = random::Coordinates(rng, 3 * b * m, 10);
  std::vector<float> boxes = random::Coordinates(rng, 7 * b * t, 10);
  const float size = std::pow(10.0f, random::Uniform(rng, -1, 1));
  for (size_t i = 0; i < boxes.size(); i += 7) {
    for (size_t side = 3; side < 6; ++side) boxes[i + side] = std::abs(boxes[i + side]) / 10 * size;
  }
  Set(problem, points, boxes);
  return problem;
}

}  // namespace detops::schema
