// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/names.h"
#include "schema/random.h"
#include "schema/schema.h"

namespace detops::schema {
namespace {

using random::Uniform;

using Values = std::vector<float>;

void AppendBox(Values& boxes, float x, float y, float w, float h) {
  boxes.insert(boxes.end(), {x, y, x + w, y + h});
}

// Of 10 to 40, a few neighbours each.
Values Scattered(Rng& rng, int64_t count, float origin) {
  const float side = 25.0f * std::sqrt(static_cast<float>(count));
  Values boxes;
  for (int64_t i = 0; i < count; ++i) {
    const float x = origin + Uniform(rng, 0, side), y = origin + Uniform(rng, 0, side);
    AppendBox(boxes, x, y, Uniform(rng, 10, 40), Uniform(rng, 10, 40));
  }
  return boxes;
}

// Things that a detector found a hundred times each.
Values Repeated(Rng& rng, int64_t count) {
  const Values things = Scattered(rng, std::max<int64_t>(1, count / 100), 0);
  Values boxes;
  for (int64_t i = 0; i < count; ++i) {
    const size_t thing = 4 * (rng() % (things.size() / 4));
    for (size_t k = 0; k < 4; ++k) boxes.push_back(things[thing + k] + Uniform(rng, -1, 1));
  }
  return boxes;
}

Values OnOneSpot(Rng& rng, int64_t count) {
  Values boxes;
  for (int64_t i = 0; i < count; ++i) {
    AppendBox(boxes, Uniform(rng, -1, 1), Uniform(rng, -1, 1), Uniform(rng, 10, 40),
              Uniform(rng, 10, 40));
  }
  return boxes;
}

// Strips of 2, by turns along x and along y, over all of a square: half of all pairs overlap. Of
// every eight, two lie on others, with an IoU of 0.6; those that cross have hardly any.
Values Crossing(int64_t count) {
  const float side = 2.0f * static_cast<float>(count);
  Values boxes;
  for (int64_t i = 0; i < count; ++i) {
    const float at = i % 8 < 6 ? 2.0f * static_cast<float>(i) : 2.0f * static_cast<float>(i) - 3.5f;
    const bool along_x = i % 2 == 0;
    AppendBox(boxes, along_x ? 0 : at, along_x ? at : 0, along_x ? side : 2, along_x ? 2 : side);
  }
  return boxes;
}

// Of few sides at whole coordinates: equal boxes, shared edges, and IoUs of 1/2, 1/3, 1/4.
Values OnAGrid(Rng& rng, int64_t count) {
  const auto places = 2 + static_cast<uint64_t>(2 * std::sqrt(static_cast<double>(count)));
  Values boxes;
  for (int64_t i = 0; i < count; ++i) {
    AppendBox(boxes, static_cast<float>(rng() % places), static_cast<float>(rng() % places),
              static_cast<float>(1 + rng() % 4), static_cast<float>(1 + rng() % 4));
  }
  return boxes;
}

void Set(Problem& problem, const Values& boxes, const Values& scores) {
  problem.inputs[0] =
      Array::FromFloats(problem.inputs[0].dtype(), problem.inputs[0].shape(), boxes);
  problem.inputs[1] =
      Array::FromFloats(problem.inputs[1].dtype(), problem.inputs[1].shape(), scores);
}

}  // namespace

template <>
std::vector<Scene> Scenes<ops::Nms>::List() {
  return {{"scattered", "boxes of 10 to 40, a few neighbours each"},
          {"ties", "scores of few values, small boxes at whole coordinates"},
          {"repeated", "a detector's raw output: everything is found a hundred times"},
          {"piled", "all around one spot"},
          {"crossing", "strips of 2 across a square: each along x crosses each along y"},
          {"far", "like scattered, 4096 from the origin"},
          {"special", "NaN, infinities, zeros and huge numbers among coordinates and scores"}};
}

template <>
void Scenes<ops::Nms>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  const int64_t count = problem.size('N');
  Values boxes = scene == "repeated"   ? Repeated(rng, count)
                 : scene == "piled"    ? OnOneSpot(rng, count)
                 : scene == "crossing" ? Crossing(count)
                 : scene == "ties"     ? OnAGrid(rng, count)
                                       : Scattered(rng, count, scene == "far" ? 4096.0f : 0.0f);
  Values scores = random::UniformFloats(rng, count, 0, 1);
  if (scene == "ties") {
    for (float& score : scores) score = std::floor(score * 4) / 4;
  }
  if (scene == "special") {
    random::Spoil(rng, boxes, 20);
    random::Spoil(rng, scores, 20);
  }
  Set(problem, boxes, scores);
}

template <>
Problem Scenes<ops::Nms>::Random(Rng& rng) {
  Problem problem(SchemaOf<ops::Nms>());
  const int64_t count = random::RandomSize(rng, 6000);
  problem.MakeInputs({count}, rng() % 2 == 0 ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT);
  Values boxes;
  switch (rng() % 6) {
    case 0: boxes = random::Coordinates(rng, 4 * count, 20); break;  // most without an inside
    case 1: boxes = random::RandomBoxes(rng, count, 50); break;      // some without an area
    case 2: boxes = OnAGrid(rng, count); break;
    case 3: boxes = Repeated(rng, count); break;
    case 4: boxes = OnOneSpot(rng, count); break;
    default: boxes = Scattered(rng, count, 0);
  }
  if (rng() % 4 == 0) random::Spoil(rng, boxes, 30);
  if (rng() % 8 == 0) {
    for (float& v : boxes) v *= 1e19f;  // areas of many are infinite
  }
  Set(problem, boxes, random::Scores(rng, count));
  static constexpr float kThresholds[] = {-0.1f, 0.0f,  1e-6f, 0.1f, 0.25f,
                                          0.5f,  0.75f, 0.9f,  1.0f, 2.0f};
  problem.set_scalar("iou_threshold",
                     rng() % 2 == 0 ? kThresholds[rng() % 10] : Uniform(rng, 0, 1));
  return problem;
}

}  // namespace detops::schema
