// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "demo/scene.h"
#include "demo/svg.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

constexpr int kTruths = 12, kFound = 20;
constexpr double kWidth = 640, kHeight = 560, kCell = 28, kLeft = 40, kTop = 40;

std::string Rectangle(const float* b) {
  return fmt::format("M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}Z", b[0], b[1], b[2], b[3], b[0]);
}

}  // namespace

Scene IouMatrix(const std::string& device) {
  Rng rng(21);
  std::vector<float> truths, found;
  for (int i = 0; i < kTruths; ++i) {
    const float x = 20 + static_cast<float>(i % 4) * 155 + test::Uniform(rng, 0, 25);
    const float y = 20 + static_cast<float>(i / 4) * 180 + test::Uniform(rng, 0, 25);
    truths.insert(truths.end(),
                  {x, y, x + test::Uniform(rng, 90, 150), y + test::Uniform(rng, 90, 150)});
  }
  for (int i = 0; i < kFound; ++i) {
    const float* t = &truths[static_cast<size_t>(4 * (i * kTruths / kFound))];
    for (int c = 0; c < 4; ++c) found.push_back(t[c] + test::Uniform(rng, -32, 32));
  }
  schema::Problem problem = ProblemOf(
      "bbox_overlaps", {FloatArray({kFound, 4}, found), FloatArray({kTruths, 4}, truths)});
  Scene scene;
  scene.title = "Detections and the truth";
  const std::vector<Array> results = RunScene(problem, device, scene);
  const auto ious = results[0].As<float>();

  Svg boxes(kWidth, kHeight, "detections over true boxes");
  boxes.Rect(0, 0, kWidth, kHeight, "fill=\"#f7f8fa\"");
  std::string true_path, found_path;
  for (int i = 0; i < kTruths; ++i) true_path += Rectangle(&truths[static_cast<size_t>(4 * i)]);
  for (int i = 0; i < kFound; ++i) found_path += Rectangle(&found[static_cast<size_t>(4 * i)]);
  boxes.Path(true_path,
             "fill=\"#3b528b\" fill-opacity=\"0.18\" stroke=\"#2b3d6b\" stroke-width=\"2\"");
  boxes.Path(found_path, "fill=\"none\" stroke=\"#d9480f\" stroke-width=\"2\"");
  for (int i = 0; i < kTruths; ++i) {
    boxes.Text(truths[static_cast<size_t>(4 * i)] + 6, truths[static_cast<size_t>(4 * i + 1)] + 22,
               fmt::format("{}", i), "style=\"fill:#2b3d6b;font-size:18px;font-weight:600\"");
  }

  Svg matrix(kLeft + kTruths * 46 + 10, kTop + kFound * kCell + 10, "matrix of IoU");
  for (int i = 0; i < kFound; ++i) {
    matrix.Text(kLeft - 8, kTop + (i + 0.68) * kCell, fmt::format("{}", i),
                "class=\"tick\" text-anchor=\"end\"");
    for (int j = 0; j < kTruths; ++j) {
      const double iou = ious[static_cast<size_t>(i * kTruths + j)];
      matrix.Rect(kLeft + j * 46, kTop + i * kCell, 45, kCell - 1,
                  fmt::format("fill=\"{}\"", Shade(iou)));
      if (iou < 0.005) continue;
      matrix.Text(kLeft + (j + 0.49) * 46, kTop + (i + 0.68) * kCell, fmt::format("{:.2f}", iou),
                  fmt::format("text-anchor=\"middle\" style=\"fill:{};font-size:14px\"",
                              iou > 0.55 ? "#10151b" : "#ffffff"));
    }
  }
  for (int j = 0; j < kTruths; ++j) {
    matrix.Text(kLeft + (j + 0.49) * 46, kTop - 10, fmt::format("{}", j),
                "class=\"tick\" text-anchor=\"middle\"");
  }
  scene.story = fmt::format(
      "bbox_overlaps compares {} detections with {} true boxes at once; the largest number of a "
      "row says which "
      "object was meant.",
      kFound, kTruths);
  scene.pictures = {{"blue: the truth, numbered; orange: detections", boxes.str()},
                    {"IoU of each detection (rows) with each true box (columns)", matrix.str()}};
  return scene;
}

}  // namespace detops::cli
