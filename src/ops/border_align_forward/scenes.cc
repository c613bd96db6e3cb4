// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "ops/names.h"
#include "schema/random.h"
#include "schema/schema.h"

namespace detops::schema {
namespace {

void Set(Problem& problem, const std::vector<float>& input, const std::vector<float>& boxes) {
  const std::vector<float>* values[] = {&input, &boxes};
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    Array& array = problem.inputs[i];
    array = Array::FromFloats(array.dtype(), array.shape(), *values[i]);
  }
}

}  // namespace

template <>
std::vector<Scene> Scenes<ops::BorderAlignForward>::List() {
  return {{"scattered", "features of -5 to 5, any two points of the map as corners"},
          {"ties", "features of few values: the first maximum counts"},
          {"far", "boxes half outside of the map"},
          {"special", "NaN, infinities, zeros and huge numbers in features and boxes"}};
}

template <>
void Scenes<ops::BorderAlignForward>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  std::vector<float> input = random::UniformFloats(rng, problem.inputs[0].count(), -5, 5), boxes;
  const float margin = scene == "far" ? 0.5f : 0.0f;
  const auto right = static_cast<float>(problem.size('W') - 1);
  const auto bottom = static_cast<float>(problem.size('H') - 1);
  const auto any = [&](float side) {
    return random::Uniform(rng, -margin * side, (1 + margin) * side);
  };
  for (int64_t i = 0; i < problem.size('N') * problem.size('K'); ++i) {
    float x1 = any(right), x2 = any(right), y1 = any(bottom), y2 = any(bottom);
    if (x2 < x1) std::swap(x1, x2);
    if (y2 < y1) std::swap(y1, y2);
    boxes.insert(boxes.end(), {x1, y1, x2, y2});
  }
  if (scene == "ties") {
    for (float& v : input) v = std::round(v / 3);
    for (float& v : boxes) v = std::round(v);
  }
  if (scene == "special") {
    random::Spoil(rng, input, 30);
    random::Spoil(rng, boxes, 12);
  }
  Set(problem, input, boxes);
}

template <>
Problem Scenes<ops::BorderAlignForward>::Random(Rng& rng) {
  using random::Between;
  Problem problem(SchemaOf<ops::BorderAlignForward>());
  const bool half = rng() % 2 == 0, nchw = rng() % 3 == 0;
  const int64_t n = Between(rng, 1, 3), h = Between(rng, 1, 12), w = Between(rng, 1, 12);
  const int64_t c = random::RandomSize(rng, 70), k = random::RandomSize(rng, 40);
  problem.set_scalar("layout", nchw);
  problem.set_scalar("pool_size", static_cast<double>(rng() % 8 == 0 ? Between(rng, 60, 140)
                                                                     : Between(rng, 1, 12)));
  problem.MakeInputs({n, h, w, c, k}, half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT);
  std::vector<float> input = random::UniformFloats(rng, problem.inputs[0].count(), -2, 2);
  if (rng() % 3 == 0) random::Spoil(rng, input, 50);
  std::vector<float> boxes = random::UniformFloats(rng, problem.inputs[1].count(), -2, 13);
  if (rng() % 3 == 0) random::Spoil(rng, boxes, 20);
  Set(problem, input, boxes);
  return problem;
}

}  // namespace detops::schema
