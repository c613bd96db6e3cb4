// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "demo/scene.h"
#include "demo/svg.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

constexpr double kScale = 10, kHalfWidth = 48, kHalfHeight = 30;  // pixels a metre; metres
constexpr float kSensorHeight = 1.9f;

struct Box {
  float x, y, z, length, width, height, heading;
};

// Cars along a street and a crossing one, and some parked on a square.
std::vector<Box> MakeBoxes(Rng& rng) {
  std::vector<Box> boxes;
  const auto car = [&](float x, float y, float heading) {
    const float height = test::Uniform(rng, 1.4f, 1.9f);
    boxes.push_back({x, y, height / 2, test::Uniform(rng, 4.0f, 4.9f),
                     test::Uniform(rng, 1.7f, 2.0f), height,
                     heading + test::Uniform(rng, -0.1f, 0.1f)});
  };
  for (float x = -42; x < 44; x += test::Uniform(rng, 8, 15)) car(x, -4.5f, 0);
  for (float x = -40; x < 44; x += test::Uniform(rng, 9, 16)) car(x, 5.0f, 3.14f);
  for (float y = -26; y < -9; y += 6.5f) car(14, y, 1.57f);
  for (float x = -36; x < -6; x += 3.4f) car(x, 16, 1.2f);
  for (float x = -36; x < -6; x += 3.4f) car(x, 24, 1.2f);
  boxes.push_back({28, 16, 1.6f, 11, 2.6f, 3.2f, 0.5f});  // a bus
  return boxes;
}

// Where a ray from the sensor meets the outline of the box: its distance in the plane, or infinity.
float DistanceTo(const Box& box, float dx, float dy) {
  const float c = std::cos(box.heading), s = std::sin(box.heading);
  const float ox = -box.x * c - box.y * s, oy = box.x * s - box.y * c;
  const float rx = dx * c + dy * s, ry = -dx * s + dy * c;
  float near = 0, far = test::kInf;
  const float origin[] = {ox, oy}, ray[] = {rx, ry}, half[] = {box.length / 2, box.width / 2};
  for (int axis = 0; axis < 2; ++axis) {
    if (std::fabs(ray[axis]) < 1e-6f) {
      if (std::fabs(origin[axis]) > half[axis]) return test::kInf;
      continue;
    }
    const float t1 = (-half[axis] - origin[axis]) / ray[axis];
    const float t2 = (half[axis] - origin[axis]) / ray[axis];
    near = std::max(near, std::min(t1, t2)), far = std::min(far, std::max(t1, t2));
  }
  return near < far && near > 0 ? near : test::kInf;
}

// 64 beams turn around: each hits the ground, or what stands before it.
std::vector<float> Sweep(Rng& rng, const std::vector<Box>& boxes) {
  std::vector<float> points;
  for (int step = 0; step < 1800; ++step) {
    const float azimuth = static_cast<float>(step) * 2 * std::numbers::pi_v<float> / 1800;
    const float dx = std::cos(azimuth), dy = std::sin(azimuth);
    std::vector<std::pair<float, const Box*>> hits;
    for (const Box& box : boxes) {
      if (const float d = DistanceTo(box, dx, dy); d < 70) hits.emplace_back(d, &box);
    }
    std::ranges::sort(hits);
    for (int beam = 0; beam < 64; ++beam) {
      const float fall =
          std::tan((0.4f + 0.4f * static_cast<float>(beam)) * std::numbers::pi_v<float> / 180);
      float distance = kSensorHeight / fall;
      for (const auto& [d, box] : hits) {
        const float height = kSensorHeight - d * fall;
        if (d < distance && height < box->height) {
          distance = d + test::Uniform(rng, 0.02f, 0.12f);
          break;
        }
      }
      if (distance > 60) continue;
      const float r = distance + test::Uniform(rng, -0.02f, 0.02f);
      points.insert(points.end(), {r * dx, r * dy, std::max(0.02f, kSensorHeight - r * fall)});
    }
  }
  return points;
}

}  // namespace

Scene LidarSweep(const std::string& device) {
  Rng rng(11);
  const std::vector<Box> boxes = MakeBoxes(rng);
  const std::vector<float> points = Sweep(rng, boxes);
  std::vector<float> flat;
  for (const Box& b : boxes)
    flat.insert(flat.end(), {b.x, b.y, b.z, b.length, b.width, b.height, b.heading});
  const auto m = static_cast<int64_t>(points.size() / 3), t = static_cast<int64_t>(boxes.size());
  schema::Problem problem =
      ProblemOf("points_in_boxes", {FloatArray({1, m, 3}, points), FloatArray({1, t, 7}, flat)});
  Scene scene;
  scene.title = "A LiDAR sweep from above";
  const std::vector<Array> results = RunScene(problem, device, scene);
  const auto index = results[0].As<int32_t>();

  static constexpr const char* kColours[] = {"#ff6b6b", "#ffd43b", "#69db7c", "#4dabf7",
                                             "#da77f2", "#ff922b", "#3bc9db", "#f783ac"};
  std::string ground;
  std::array<std::string, 8> held, outlines;
  for (size_t i = 0; i < index.size(); ++i) {
    const double x = (points[3 * i] + kHalfWidth) * kScale,
                 y = (kHalfHeight - points[3 * i + 1]) * kScale;
    if (x < 0 || y < 0 || x > 2 * kHalfWidth * kScale || y > 2 * kHalfHeight * kScale) continue;
    // Of the ground every seventh point, for the size of the page.
    if (index[i] < 0 && i % 7 != 0) continue;
    (index[i] < 0 ? ground : held[static_cast<size_t>(index[i]) % 8]) +=
        fmt::format("M{:.1f} {:.1f}h0", x, y);
  }
  for (size_t b = 0; b < boxes.size(); ++b) {
    const Box& box = boxes[b];
    const float c = std::cos(box.heading), s = std::sin(box.heading);
    std::string d;
    for (const auto& [l, w] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
      const float lx = static_cast<float>(l) * box.length / 2,
                  ly = static_cast<float>(w) * box.width / 2;
      d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L",
                       (box.x + c * lx - s * ly + kHalfWidth) * kScale,
                       (kHalfHeight - (box.y + s * lx + c * ly)) * kScale);
    }
    outlines[b % 8] += d + "Z";
  }
  Svg svg(2 * kHalfWidth * kScale, 2 * kHalfHeight * kScale, "points of a LiDAR, coloured by box");
  svg.Rect(0, 0, 2 * kHalfWidth * kScale, 2 * kHalfHeight * kScale, "fill=\"#10151b\"");
  svg.Path(ground, "stroke=\"#5d6b78\" stroke-width=\"1.5\" stroke-linecap=\"round\"");
  for (size_t i = 0; i < held.size(); ++i) {
    svg.Path(outlines[i],
             fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\" opacity=\"0.85\"",
                         kColours[i]));
    svg.Path(held[i], fmt::format("stroke=\"{}\" stroke-width=\"2.6\" stroke-linecap=\"round\"",
                                  kColours[i]));
  }
  svg.Circle(kHalfWidth * kScale, kHalfHeight * kScale, 5, "fill=\"#ffffff\"");

  const auto inside = std::ranges::count_if(index, [](int32_t i) { return i >= 0; });
  scene.story = fmt::format(
      "64 beams, {} points, {} vehicles. points_in_boxes says for each point which turned box "
      "holds it: {} "
      "points are on a vehicle and take its colour, the rest is ground.",
      m, t, inside);
  scene.pictures = {{"white: the sensor; every seventh point of the ground is drawn", svg.str()}};
  return scene;
}

}  // namespace detops::cli
