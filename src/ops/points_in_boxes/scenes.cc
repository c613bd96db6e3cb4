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
          {"outlier", "like scattered, with one box 1000 km away"},
          {"tower", "boxes above each other in one column, which has all points"},
          {"beside", "long thin boxes that cross in one spot, points in no box but in all bounds"},
          {"special", "NaN, infinities, zeros and huge numbers in points and boxes"}};
}

template <>
void Scenes<ops::PointsInBoxes>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  const int64_t boxes_per_batch = problem.inputs[1].dim(1);
  std::vector<float> points =
      random::RandomPoints(rng, problem.inputs[0].dim(0) * problem.inputs[0].dim(1));
  std::vector<float> boxes = random::RandomBoxes3d(rng, problem.inputs[1].dim(0) * boxes_per_batch);
  const auto height = static_cast<float>(boxes_per_batch);  // of a tower, in boxes
  for (size_t i = 0; i < points.size(); i += 3) {
    float* const p = &points[i];  // x y z
    for (size_t axis = 0; axis < 3; ++axis) {
      if (scene == "piled") p[axis] /= 40;
      if (scene == "far" && axis < 2) p[axis] += 10000;
      if (scene == "ties") p[axis] = std::round(p[axis] / 2) / 2;
      if (scene == "tower") p[axis] *= axis < 2 ? 1 / 40.0f : height / 4;
    }
    if (scene == "beside") {
      p[0] = 1;
      p[1] = -1 + p[1] / 1000;
      p[2] = 0;
    }
  }
  for (size_t i = 0; i < boxes.size(); i += 7) {
    float* const b = &boxes[i];  // cx cy cz dx dy dz heading
    for (size_t j = 0; j < 7; ++j) {
      if (scene == "piled" && j < 3) b[j] /= 40;
      if (scene == "far" && j < 2) b[j] += 10000;
      // Whole sizes and no rotation: points lie on the faces.
      if (scene == "ties") b[j] = j == 6 ? 0 : std::round(j < 3 ? b[j] / 4 : b[j]);
    }
    if (scene == "outlier" && i % static_cast<size_t>(7 * boxes_per_batch) == 0) b[0] = b[1] = 1e6f;
    if (scene == "tower") {
      b[0] = b[1] = 0;
      b[2] *= 3 * height / 8;
    }
    if (scene == "beside") {
      b[0] = b[1] = b[2] = 0;
      b[3] = 10;
      b[4] = 0.001f;
      b[6] = 0.785f + b[6] / 1000;
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
