// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "demo/scene.h"
#include "demo/svg.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

constexpr int kRows = 40, kColumns = 64, kPool = 10;
constexpr double kCell = 14;

// Hills of several sizes.
std::vector<float> MakeField(Rng& rng) {
  std::vector<float> field(kRows * kColumns, 0.0f);
  for (int hill = 0; hill < 46; ++hill) {
    const float cx = test::Uniform(rng, 0, kColumns), cy = test::Uniform(rng, 0, kRows);
    const float size = test::Uniform(rng, 1.5f, 6.5f), height = test::Uniform(rng, 0.3f, 1);
    for (int y = 0; y < kRows; ++y) {
      for (int x = 0; x < kColumns; ++x) {
        const float d = std::hypot(static_cast<float>(x) - cx, static_cast<float>(y) - cy) / size;
        field[static_cast<size_t>(y * kColumns + x)] += height * std::exp(-d * d);
      }
    }
  }
  const float top = *std::ranges::max_element(field);
  for (float& v : field) v /= top;
  return field;
}

struct Peak {
  double x, y;
  float value;
  bool along_x, first;  // on a horizontal border; on the top or left one
};

double At(float cell) { return (static_cast<double>(cell) + 0.5) * kCell; }

}  // namespace

Scene BorderPoints(const std::string& device) {
  Rng rng(3);
  const std::vector<float> field = MakeField(rng);
  const std::vector<float> boxes = {4,  4,  17, 15, 22, 6,  40, 30, 44, 3,
                                    58, 14, 6,  23, 16, 36, 45, 20, 58, 36};
  const auto count = static_cast<int64_t>(boxes.size() / 4);
  std::vector<float> input;
  for (const float v : field) input.insert(input.end(), {v, v, v, v});  // the same for every border
  schema::Problem problem =
      ProblemOf("border_align_forward",
                {FloatArray({1, kRows, kColumns, 4}, input), FloatArray({1, count, 4}, boxes)});
  problem.set_scalar("pool_size", kPool);
  Scene scene;
  scene.title = "Border points, and where the maxima lie";
  const std::vector<Array> results = RunScene(problem, device, scene);
  const auto maxima = results[0].As<float>();
  const auto where = results[1].As<int32_t>();

  Svg svg(kColumns * kCell, kRows * kCell, "a feature map with boxes, samples and maxima");
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kColumns; ++x) {
      svg.Rect(
          x * kCell, y * kCell, kCell + 0.3, kCell + 0.3,
          fmt::format("fill=\"{}\"", Shade(0.92 * field[static_cast<size_t>(y * kColumns + x)])));
    }
  }
  std::string samples;
  std::vector<Peak> peaks;
  for (int64_t k = 0; k < count; ++k) {
    const float* b = &boxes[static_cast<size_t>(4 * k)];
    svg.Rect(At(b[0]), At(b[1]), At(b[2]) - At(b[0]), At(b[3]) - At(b[1]),
             "fill=\"none\" stroke=\"#ffffff\" stroke-width=\"1.6\" opacity=\"0.85\"");
    for (int border = 0; border < 4; ++border) {
      // Top and left start at the first corner, bottom and right at the second.
      const bool first = border < 2, along_x = border % 2 == 0;
      const float sign = first ? 1.0f : -1.0f;
      const float step_x = along_x ? sign * (b[2] - b[0]) / kPool : 0,
                  step_y = along_x ? 0 : sign * (b[3] - b[1]) / kPool;
      const auto at = static_cast<size_t>(4 * k + border);
      const auto point = [&](int i) {
        return std::pair{At(b[first ? 0 : 2] + static_cast<float>(i) * step_x),
                         At(b[first ? 1 : 3] + static_cast<float>(i) * step_y)};
      };
      for (int i = 0; i <= kPool; ++i) {
        const auto [x, y] = point(i);
        samples += fmt::format("M{:.1f} {:.1f}h0", x, y);
      }
      const auto [x, y] = point(where[at]);
      peaks.push_back({x, y, maxima[at], along_x, first});
    }
  }
  svg.Path(samples, "stroke=\"#ffffff\" stroke-width=\"5\" stroke-linecap=\"round\"");
  for (const Peak& p : peaks) {
    svg.Circle(p.x, p.y, 7, "fill=\"#ff4d5e\" stroke=\"#ffffff\" stroke-width=\"2\"");
    const double dy = p.along_x ? (p.first ? -13 : 24) : 5,
                 dx = p.along_x ? 0 : (p.first ? -12 : 12);
    svg.Text(p.x + dx, p.y + dy, fmt::format("{:.2f}", p.value),
             fmt::format("text-anchor=\"{}\" style=\"fill:#fff;font-size:17px;font-weight:600;"
                         "paint-order:stroke;stroke:#10151b;stroke-width:4px\"",
                         p.along_x ? "middle"
                         : p.first ? "end"
                                   : "start"));
  }
  scene.story = fmt::format(
      "border_align_forward samples each border of a box at {} points, between the pixels, and "
      "keeps the "
      "maximum and its place: the red points. {} boxes, four borders each.",
      kPool + 1, count);
  scene.pictures = {
      {"a feature map, light is high; white: samples; red: the first maximum of each border",
       svg.str()}};
  return scene;
}

}  // namespace detops::cli
