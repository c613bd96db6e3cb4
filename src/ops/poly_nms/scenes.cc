// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/names.h"
#include "schema/random.h"
#include "schema/schema.h"

namespace detops::schema {
namespace {

using random::Quad;
using random::RandomRectangle;
using random::Strip;
using random::Uniform;

void Append(std::vector<float>& boxes, const Quad& quad, float score) {
  boxes.insert(boxes.end(), quad.begin(), quad.end());
  boxes.push_back(score);
}

// How far from the threshold the IoU of a near pair may be.
constexpr double kNear = 1e-6;
constexpr int kMostTries = 10000;  // far out, floats are too coarse to come near

// A square of side 1 at whole coordinates and one moved along both axes, with an IoU near the
// threshold on a side drawn by lot. One shift is random and gives the other; as rounding shifts
// both, it takes some tries.
void AppendNearThreshold(Rng& rng, float threshold, float x, float y, std::vector<float>& boxes) {
  const bool above = rng() % 2 == 0;
  const double wanted = threshold > 0 && threshold < 1 ? threshold : 0.5;  // none is near others
  const double overlap = 2 * wanted / (1 + wanted);
  float left = x, top = y;
  double nearest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMostTries && nearest > kNear; ++i) {
    const float moved = x + Uniform(rng, 0, static_cast<float>(1 - overlap));
    const double width = x + 1 - double{moved};
    const auto middle = static_cast<float>(y + 1 - overlap / width);
    for (const float lower : {middle, std::nextafter(middle, y), std::nextafter(middle, y + 1)}) {
      const double common = width * (y + 1 - double{lower});
      const double area = (moved + 1 - double{moved}) * (lower + 1 - double{lower});
      const double iou = common / (1 + area - common);
      if ((iou > wanted) != above || std::fabs(iou - wanted) >= nearest) continue;
      nearest = std::fabs(iou - wanted);
      left = moved, top = lower;
    }
  }
  Append(boxes, {x, y, x + 1, y, x + 1, y + 1, x, y + 1}, Uniform(rng, 0.5f, 1));
  Append(boxes, {left, top, left + 1, top, left + 1, top + 1, left, top + 1},
         Uniform(rng, 0, 0.5f));
}

// In a square about the origin, where floats are finest.
std::vector<float> NearThreshold(Rng& rng, int64_t count, float threshold) {
  std::vector<float> boxes;
  const auto columns = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count) / 2)));
  for (int64_t i = 0; 2 * i < count; ++i) {
    AppendNearThreshold(rng, threshold, 3 * static_cast<float>(i % columns - columns / 2),
                        3 * static_cast<float>(i / columns - columns / 2), boxes);
  }
  boxes.resize(static_cast<size_t>(9 * count));
  return boxes;
}

// Two whole rectangles whose IoU is the threshold, exactly, where there are such of small sides.
std::array<random::WholeRectangle, 2> Tie(Rng& rng, float threshold) {
  const auto share = [&](const auto& a, const auto& b) {
    const auto shared = static_cast<double>(a.SharedArea(b));
    return shared / (static_cast<double>(a.Area() + b.Area()) - shared);
  };
  const double wanted = threshold > 0 && threshold < 1 ? threshold : 0.5;
  std::array<random::WholeRectangle, 2> pair;
  for (int i = 0; i < 1000; ++i) {
    pair = {random::RandomWholeRectangle(rng), random::RandomWholeRectangle(rng)};
    if (share(pair[0], pair[1]) == wanted) break;
  }
  return pair;
}

// Every pair by itself, upright or rotated, listed from any corner; half of them far from the
// origin, where floats are still whole numbers. In every eighth pair or so, both are the same, so
// that something is suppressed.
std::vector<float> ExactTies(Rng& rng, int64_t count, float threshold) {
  constexpr int64_t kFar = 8000000, kPitch = 128;
  std::vector<float> boxes;
  const auto columns = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count) / 2)));
  for (int64_t i = 0; 2 * i < count; ++i) {
    const int64_t far = rng() % 2 == 0 ? kFar : 0;
    const bool rotated = rng() % 2 == 0;
    auto pair = Tie(rng, threshold);
    if (rng() % 8 == 0) pair[1] = pair[0];
    for (const auto& rectangle : pair) {
      const Quad quad =
          rectangle.Outline(far + kPitch * (i % columns), far + kPitch * (i / columns), rotated);
      Append(boxes, random::Listed(quad, rng()), Uniform(rng, 0, 1));
    }
  }
  boxes.resize(static_cast<size_t>(9 * count));
  return boxes;
}

// Whole rectangles on one grid, as many per area as in 'scattered'.
std::vector<float> IntegerGrid(Rng& rng, int64_t count) {
  const auto side = static_cast<uint64_t>(5 * std::sqrt(static_cast<double>(count))) + 1;
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<int64_t>(rng() % side), y = static_cast<int64_t>(rng() % side);
    const Quad quad = random::RandomWholeRectangle(rng).Outline(x, y, false);
    Append(boxes, random::Listed(quad, rng()), Uniform(rng, 0, 1));
  }
  return boxes;
}

// Things that a detector found a hundred times each.
std::vector<float> Repeated(Rng& rng, int64_t count) {
  const float side = 25.0f * std::sqrt(static_cast<float>(count) / 10.0f);
  std::vector<Quad> things;
  for (int64_t i = 0; i < std::max<int64_t>(1, count / 100); ++i) {
    const float x = Uniform(rng, 0, side), y = Uniform(rng, 0, side);
    things.push_back(RandomRectangle(rng, x, y));
  }
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    Quad quad = things[rng() % things.size()];
    for (float& v : quad) v += Uniform(rng, -1, 1);
    Append(boxes, quad, Uniform(rng, 0, 1));
  }
  return boxes;
}

std::vector<float> OnOneSpot(Rng& rng, int64_t count, bool identical) {
  std::vector<float> boxes;
  Quad quad = RandomRectangle(rng, 0, 0);
  for (int64_t i = 0; i < count; ++i) {
    if (!identical) quad = RandomRectangle(rng, Uniform(rng, -1, 1), Uniform(rng, -1, 1));
    Append(boxes, quad, Uniform(rng, 0, 1));
  }
  return boxes;
}

// Side by side, about one apart, and longer than all of them are wide together, so the bounds of
// every two overlap.
std::vector<float> Diagonals(Rng& rng, int64_t count) {
  const float angle = Uniform(rng, 0.3f, 1.2f), across = static_cast<float>(count);
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    const float from = Uniform(rng, 0, across);
    const Quad quad = Strip(-from * std::sin(angle), from * std::cos(angle), 4 * across,
                            Uniform(rng, 0.1f, 0.5f), angle);
    Append(boxes, quad, Uniform(rng, 0, 1));
  }
  return boxes;
}

// All begin at one spot and go in all directions.
std::vector<float> Fan(Rng& rng, int64_t count) {
  const auto length = static_cast<float>(count);
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    const Quad quad = Strip(Uniform(rng, -1, 1), Uniform(rng, -1, 1), length, Uniform(rng, 0.5f, 2),
                            Uniform(rng, 0, 6.2831853f));
    Append(boxes, quad, Uniform(rng, 0, 1));
  }
  return boxes;
}

// One row, in which every box overlaps the next enough to suppress it, and scores fall along it:
// what becomes of a box depends on all before it. Listed in any order.
std::vector<float> FallingRow(Rng& rng, int64_t count) {
  std::vector<int64_t> places(static_cast<size_t>(count));
  std::iota(places.begin(), places.end(), int64_t{0});
  std::shuffle(places.begin(), places.end(), rng);
  std::vector<float> boxes;
  for (const int64_t i : places) {
    const auto x = static_cast<float>(i) - static_cast<float>(count / 2);
    Append(boxes, {x, 0, x + 2, 0, x + 2, 1, x, 1}, 1 - static_cast<float>(i) * 0x1p-24f);
  }
  return boxes;
}

void MakeTies(Rng& rng, std::vector<float>& boxes) {
  for (size_t at = 0; at < boxes.size(); at += 9) {
    if (at > 0 && rng() % 3 == 0) std::copy_n(&boxes[at - 9], 8, &boxes[at]);
    boxes[at + 8] = std::floor(boxes[at + 8] * 4) / 4;
  }
}

// Shared edges, identical boxes and ties.
std::vector<float> OnAGrid(Rng& rng, int64_t count) {
  std::vector<float> boxes;
  const bool some_rotated = rng() % 2 == 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<int64_t>(rng() % 12), y = static_cast<int64_t>(rng() % 12);
    const bool rotated = some_rotated && rng() % 2 == 0;
    const Quad quad = random::RandomWholeRectangle(rng).Outline(5 * x, 5 * y, rotated);
    Append(boxes, random::Listed(quad, rng()), 0);
  }
  return boxes;
}

// On one spot, of sizes over many decades.
std::vector<float> OfAllSizes(Rng& rng, int64_t count) {
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    Quad quad = random::RandomQuad(rng, 0, 0);
    const float scale = std::pow(10.0f, Uniform(rng, -5, 5));
    for (float& v : quad) v *= scale;
    Append(boxes, quad, 0);
  }
  return boxes;
}

void Set(Problem& problem, const std::vector<float>& boxes) {
  problem.inputs[0] = Array::FromFloats(MLUOP_DTYPE_FLOAT, problem.inputs[0].shape(), boxes);
}

}  // namespace

template <>
std::vector<Scene> Scenes<ops::PolyNms>::List() {
  return {
      {"scattered", "rotated rectangles, a few neighbours each"},
      {"concave", "rectangles and concave quadrilaterals, in either orientation"},
      {"ties", "scores of few values, many boxes the same"},
      {"near_threshold", "pairs of squares whose IoU is within a millionth of the threshold"},
      {"exact_ties", "pairs of whole rectangles whose IoU is the threshold, where there are any"},
      {"integer_grid", "upright rectangles with whole coordinates, a few neighbours each"},
      {"repeated", "a detector's raw output: everything is found a hundred times"},
      {"piled", "all around one spot"},
      {"identical", "one box, many times"},
      {"diagonals", "thin parallel strips that hardly touch, while the bounds of all overlap"},
      {"fan", "thin strips from one spot in all directions"},
      {"falling_row", "a row of boxes, each of which would suppress the next"},
      {"far", "like scattered, 100000 from the origin"},
      {"special", "NaN, infinities, zeros and huge numbers among coordinates and scores"}};
}

template <>
void Scenes<ops::PolyNms>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  const int64_t count = problem.size('N');
  if (scene == "near_threshold") {
    const auto threshold = static_cast<float>(problem.scalar("iou_threshold"));
    return Set(problem, NearThreshold(rng, count, threshold));
  }
  if (scene == "exact_ties") {
    const auto threshold = static_cast<float>(problem.scalar("iou_threshold"));
    return Set(problem, ExactTies(rng, count, threshold));
  }
  if (scene == "integer_grid") return Set(problem, IntegerGrid(rng, count));
  if (scene == "diagonals") return Set(problem, Diagonals(rng, count));
  if (scene == "fan") return Set(problem, Fan(rng, count));
  if (scene == "falling_row") return Set(problem, FallingRow(rng, count));
  if (scene == "repeated") return Set(problem, Repeated(rng, count));
  if (scene == "piled" || scene == "identical") {
    return Set(problem, OnOneSpot(rng, count, scene == "identical"));
  }
  const bool rectangles = scene == "scattered" || scene == "far";
  std::vector<float> boxes =
      random::RandomQuads(rng, count, scene == "far" ? 1e5f : 0.0f, rectangles);
  if (scene == "special") random::Spoil(rng, boxes, 20);
  if (scene == "ties") MakeTies(rng, boxes);
  Set(problem, boxes);
}

template <>
Problem Scenes<ops::PolyNms>::Random(Rng& rng) {
  Problem problem(SchemaOf<ops::PolyNms>());
  const int64_t count = random::RandomSize(rng, 3000);
  problem.MakeInputs({count}, MLUOP_DTYPE_FLOAT);
  std::vector<float> boxes;
  switch (rng() % 4) {
    case 0: boxes = random::Coordinates(rng, 9 * count, 20); break;  // mostly self-intersecting
    case 1: boxes = random::RandomQuads(rng, count, rng() % 2 == 0 ? 0.0f : 1e6f); break;
    case 2: boxes = OnAGrid(rng, count); break;
    default: boxes = OfAllSizes(rng, count);
  }
  const std::vector<float> scores = random::Scores(rng, count);
  for (size_t i = 0; i < scores.size(); ++i) boxes[9 * i + 8] = scores[i];
  Set(problem, boxes);
  static constexpr float kThresholds[] = {-0.1f, 0.0f, 1e-6f, 0.125f, 0.25f,
                                          0.3f,  0.5f, 0.75f, 0.9f,   1.0f};
  problem.set_scalar("iou_threshold", rng() % 3 > 0 ? kThresholds[rng() % 10] : Uniform(rng, 0, 1));
  return problem;
}

}  // namespace detops::schema
