// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "demo/scene.h"
#include "demo/svg.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

constexpr float kWidth = 150, kHeight = 96;  // metres
constexpr float kSlotWidth = 2.7f, kSlotDepth = 5.2f, kAisle = 6.6f, kTurn = 0.06f;
constexpr double kScale = 6.4;
constexpr float kThreshold = 0.3f;

struct Car {
  float x, y, angle, length, width;
  int paint;
};

test::Quad OutlineOf(const Car& car) {
  const float c = std::cos(car.angle), s = std::sin(car.angle);
  const float l = car.length / 2, w = car.width / 2;
  const float corners[4][2] = {{-l, -w}, {l, -w}, {l, w}, {-l, w}};
  test::Quad quad;
  for (size_t i = 0; i < 4; ++i) {
    quad[2 * i] = car.x + c * corners[i][0] - s * corners[i][1];
    quad[2 * i + 1] = car.y + s * corners[i][0] + c * corners[i][1];
  }
  return quad;
}

// The lot is turned a little against the picture.
void Place(float along, float across, float* x, float* y) {
  const float c = std::cos(kTurn), s = std::sin(kTurn);
  *x = 7 + along * c - across * s;
  *y = 1 + along * s + across * c;
}

struct Lot {
  std::vector<Car> cars;
  std::string lines;  // between the slots, as a path
};

Lot MakeLot(Rng& rng) {
  Lot lot;
  for (float across = 3; across < kHeight - 16; across += 2 * kSlotDepth + kAisle) {
    for (int side = 0; side < 2; ++side) {
      const float top = across + static_cast<float>(side) * kSlotDepth;
      for (int slot = 0; slot < 51; ++slot) {
        const float along = static_cast<float>(slot) * kSlotWidth;
        float x1, y1, x2, y2;
        Place(along, top, &x1, &y1);
        Place(along, top + kSlotDepth, &x2, &y2);
        lot.lines += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1 * kScale, y1 * kScale,
                                 x2 * kScale, y2 * kScale);
        if (slot == 50 || rng() % 8 == 0) continue;  // a free slot
        Car car;
        Place(along + kSlotWidth / 2, top + kSlotDepth / 2, &car.x, &car.y);
        car.angle = kTurn + std::numbers::pi_v<float> / 2 + test::Uniform(rng, -0.04f, 0.04f) +
                    (rng() % 2 == 0 ? 0 : std::numbers::pi_v<float>);
        car.length = test::Uniform(rng, 4.0f, 4.8f), car.width = test::Uniform(rng, 1.75f, 1.95f);
        car.paint = static_cast<int>(rng() % 6);
        lot.cars.push_back(car);
      }
    }
  }
  return lot;
}

// As a detector sees it: several boxes a car, the better placed ones with higher scores.
std::vector<float> Detect(Rng& rng, const std::vector<Car>& cars) {
  std::vector<float> boxes;
  for (const Car& car : cars) {
    const int count = 6 + static_cast<int>(rng() % 6);
    for (int i = 0; i < count; ++i) {
      const float off = i == 0 ? 0.15f : 1.0f;
      Car seen = car;
      seen.x += off * test::Uniform(rng, -0.35f, 0.35f);
      seen.y += off * test::Uniform(rng, -0.35f, 0.35f);
      seen.angle += off * test::Uniform(rng, -0.12f, 0.12f);
      seen.length *= 1 + off * test::Uniform(rng, -0.12f, 0.12f);
      seen.width *= 1 + off * test::Uniform(rng, -0.12f, 0.12f);
      const test::Quad quad = OutlineOf(seen);
      boxes.insert(boxes.end(), quad.begin(), quad.end());
      boxes.push_back(i == 0 ? test::Uniform(rng, 0.85f, 1) : test::Uniform(rng, 0.2f, 0.85f));
    }
  }
  return boxes;
}

std::string Draw(const Lot& lot, const std::string& outlines, const char* colour, double stroke) {
  Svg svg(kWidth * kScale, kHeight * kScale, "a car park from above");
  svg.Rect(0, 0, kWidth * kScale, kHeight * kScale, "fill=\"#394047\"");
  svg.Path(lot.lines, "stroke=\"#8d979f\" stroke-width=\"1\" fill=\"none\"");
  static constexpr const char* kPaints[] = {"#b9c0c7", "#7b8792", "#5c6670",
                                            "#8f3d3d", "#3f5f8a", "#d8dcdf"};
  std::array<std::string, 6> bodies;
  for (const Car& car : lot.cars) {
    bodies[static_cast<size_t>(car.paint)] += QuadPath(OutlineOf(car).data(), kScale);
  }
  for (size_t i = 0; i < bodies.size(); ++i)
    svg.Path(bodies[i], fmt::format("fill=\"{}\"", kPaints[i]));
  svg.Path(outlines,
           fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", colour, stroke));
  return svg.str();
}

}  // namespace

Scene ParkingLot(const std::string& device) {
  Rng rng(7);
  const Lot lot = MakeLot(rng);
  const std::vector<float> boxes = Detect(rng, lot.cars);
  const auto count = static_cast<int64_t>(boxes.size() / 9);
  schema::Problem problem = ProblemOf("poly_nms", {FloatArray({count, 9}, boxes)});
  problem.set_scalar("iou_threshold", kThreshold);
  Scene scene;
  scene.title = "A car park from above";
  const std::vector<Array> results = RunScene(problem, device, scene);

  std::string before, after;
  for (int64_t i = 0; i < count; ++i)
    before += QuadPath(&boxes[static_cast<size_t>(9 * i)], kScale);
  for (const int32_t i : results[0].As<int32_t>()) {
    after += QuadPath(&boxes[static_cast<size_t>(9 * i)], kScale);
  }
  scene.story = fmt::format(
      "A detector of turned boxes finds every car several times. poly_nms keeps the best of each: "
      "{} detections before, {} after, for {} cars.",
      count, results[0].count(), lot.cars.size());
  scene.pictures = {
      {fmt::format("before: {} detections", count), Draw(lot, before, "#ff9d42", 0.7)},
      {fmt::format("after: {} kept", results[0].count()), Draw(lot, after, "#4be38a", 1.8)}};
  return scene;
}

}  // namespace detops::cli
