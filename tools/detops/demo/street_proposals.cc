// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "demo/scene.h"
#include "demo/svg.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

constexpr int kStride = 16, kRows = 30, kColumns = 48, kAnchors = 3;
constexpr double kWidth = kStride * kColumns, kHeight = kStride * kRows;

struct Object {
  float x1, y1, x2, y2;
};
// Cars, people and a bicycle, where the picture has them.
const std::vector<Object> kObjects = {
    {70, 300, 250, 390},  {300, 290, 400, 350}, {430, 296, 512, 346}, {545, 255, 740, 405},
    {268, 282, 298, 380}, {520, 268, 542, 352}, {30, 290, 56, 372}};

double Iou(const Object& a, const float* b) {
  const double w = std::min<double>(a.x2, b[2]) - std::max<double>(a.x1, b[0]);
  const double h = std::min<double>(a.y2, b[3]) - std::max<double>(a.y1, b[1]);
  if (w <= 0 || h <= 0) return 0;
  const double inter = w * h;
  return inter / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b[2] - b[0]) * (b[3] - b[1]) - inter);
}

void DrawStreet(Svg& svg) {
  svg.Rect(0, 0, kWidth, kHeight, "fill=\"#a9cbe3\"");
  svg.Rect(0, 250, kWidth, 230, "fill=\"#6d7278\"");
  svg.Rect(0, 250, kWidth, 42, "fill=\"#9aa0a4\"");
  const double houses[][3] = {{0, 120, 130},  {130, 70, 110}, {240, 140, 150},
                              {390, 95, 120}, {510, 40, 140}, {650, 110, 118}};
  const char* walls[] = {"#c9a68a", "#b58e77", "#d3bda0", "#a99282", "#c4b09a", "#b79b85"};
  for (size_t i = 0; i < 6; ++i) {
    const auto& [x, y, w] = houses[i];
    svg.Rect(x, y, w, 255 - y, fmt::format("fill=\"{}\"", walls[i]));
    std::string windows;
    for (double wy = y + 14; wy < 225; wy += 34) {
      for (double wx = x + 12; wx + 16 < x + w; wx += 30)
        windows += fmt::format("M{} {}h15v20h-15z", wx, wy);
    }
    svg.Path(windows, "fill=\"#5f7486\"");
  }
  for (double x = 10; x < kWidth; x += 90) svg.Rect(x, 432, 52, 7, "fill=\"#e8e4d0\"");
  const char* paints[] = {"#b23a3a", "#2f6db5", "#3f8f5a", "#e0c341"};
  for (size_t i = 0; i < 4; ++i) {
    const Object& o = kObjects[i];
    const double w = o.x2 - o.x1, h = o.y2 - o.y1;
    svg.Path(
        fmt::format("M{:.0f} {:.0f}q{:.0f} {:.0f} {:.0f} {:.0f}h{:.0f}q{:.0f} 0 {:.0f} {:.0f}z",
                    o.x1 + 0.16 * w, o.y1 + 0.45 * h, 0.06 * w, -0.45 * h, 0.2 * w, -0.45 * h,
                    0.3 * w, 0.16 * w, 0.22 * w, 0.45 * h),
        "fill=\"#2b3640\"");
    svg.Add(fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"9\" fill=\"{}\"/>",
        o.x1, o.y1 + 0.42 * h, w, 0.44 * h, paints[i]));
    svg.Circle(o.x1 + 0.2 * w, o.y2 - 0.14 * h, 0.14 * h, "fill=\"#1a1d20\"");
    svg.Circle(o.x2 - 0.2 * w, o.y2 - 0.14 * h, 0.14 * h, "fill=\"#1a1d20\"");
  }
  for (size_t i = 4; i < kObjects.size(); ++i) {
    const Object& o = kObjects[i];
    const double w = o.x2 - o.x1, h = o.y2 - o.y1, cx = (o.x1 + o.x2) / 2;
    svg.Circle(cx, o.y1 + 0.1 * h, 0.1 * h, "fill=\"#e0b592\"");
    svg.Add(
        fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\" "
                    "fill=\"#4b3f72\"/>",
                    o.x1 + 0.1 * w, o.y1 + 0.2 * h, 0.8 * w, 0.42 * h));
    svg.Rect(cx - 0.3 * w, o.y1 + 0.6 * h, 0.22 * w, 0.4 * h, "fill=\"#22252b\"");
    svg.Rect(cx + 0.08 * w, o.y1 + 0.6 * h, 0.22 * w, 0.4 * h, "fill=\"#22252b\"");
  }
}

struct Network {
  std::vector<float> scores, deltas, anchors;
};

// What a trained network would say: scores grow with the overlap of anchor and object, deltas lead
// to it, both with errors.
Network MakeNetwork(Rng& rng) {
  Network n;
  const float sizes[kAnchors][2] = {{34, 88}, {110, 64}, {190, 120}};
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kColumns; ++x) {
      for (const auto& size : sizes) {
        const float cx = static_cast<float>(x * kStride) + 8,
                    cy = static_cast<float>(y * kStride) + 8;
        const float anchor[4] = {cx - size[0] / 2, cy - size[1] / 2, cx + size[0] / 2,
                                 cy + size[1] / 2};
        n.anchors.insert(n.anchors.end(), anchor, anchor + 4);
        const Object* best = &kObjects[0];
        for (const Object& o : kObjects) {
          if (Iou(o, anchor) > Iou(*best, anchor)) best = &o;
        }
        const auto iou = static_cast<float>(Iou(*best, anchor));
        n.scores.push_back(
            std::clamp(iou * 1.25f + test::Uniform(rng, -0.06f, 0.06f), 0.0f, 0.999f));
        const float error = iou > 0.2f ? 0.07f : 0.25f, pull = iou > 0.2f ? 1.0f : 0.0f;
        n.deltas.insert(
            n.deltas.end(),
            {pull * ((best->x1 + best->x2) / 2 - cx) / size[0] + test::Uniform(rng, -error, error),
             pull * ((best->y1 + best->y2) / 2 - cy) / size[1] + test::Uniform(rng, -error, error),
             pull * std::log((best->x2 - best->x1) / size[0]) + test::Uniform(rng, -error, error),
             pull * std::log((best->y2 - best->y1) / size[1]) + test::Uniform(rng, -error, error)});
      }
    }
  }
  return n;
}

}  // namespace

Scene StreetProposals(const std::string& device) {
  Rng rng(5);
  const Network net = MakeNetwork(rng);
  const std::vector<float> variances(net.anchors.size(), 1.0f);
  schema::Problem problem =
      ProblemOf("generate_proposals_v2",
                {FloatArray({1, kRows, kColumns, kAnchors}, net.scores),
                 FloatArray({1, kRows, kColumns, 4 * kAnchors}, net.deltas),
                 FloatArray({1, 2}, {static_cast<float>(kHeight), static_cast<float>(kWidth)}),
                 FloatArray({kRows, kColumns, kAnchors, 4}, net.anchors),
                 FloatArray({kRows, kColumns, kAnchors, 4}, variances)});
  problem.set_scalar("pre_nms_top_n", 400);
  problem.set_scalar("post_nms_top_n", 14);
  problem.set_scalar("nms_thresh", 0.4);
  problem.set_scalar("pixel_offset", false);
  Scene scene;
  scene.title = "Proposals of a street";
  const std::vector<Array> results = RunScene(problem, device, scene);
  const auto rois = results[0].As<float>(), probs = results[1].As<float>();

  Svg heat(kWidth, kHeight, "scores of the anchors over a street");
  DrawStreet(heat);
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kColumns; ++x) {
      const auto at = static_cast<size_t>((y * kColumns + x) * kAnchors);
      const float best = std::max({net.scores[at], net.scores[at + 1], net.scores[at + 2]});
      heat.Rect(x * kStride, y * kStride, kStride, kStride,
                fmt::format("fill=\"{}\" opacity=\"{:.2f}\"", Shade(best), 0.25 + 0.6 * best));
    }
  }
  Svg found(kWidth, kHeight, "proposals with their scores");
  DrawStreet(found);
  for (size_t i = probs.size(); i-- > 0;) {  // the best on top
    const float* r = &rois[4 * i];
    const std::string colour = probs[i] > 0.5f ? "#ffe14d" : "#ffffff";
    found.Rect(r[0], r[1], r[2] - r[0], r[3] - r[1],
               fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" opacity=\"{:.2f}\"",
                           colour, 1 + 2.5 * probs[i], probs[i] > 0.5f ? 1.0 : 0.75));
    if (probs[i] < 0.5f) continue;
    // Under people, over cars: the labels of neighbours keep apart.
    const bool person = r[3] - r[1] > 1.5f * (r[2] - r[0]);
    const double y = person ? r[3] : r[1] - 19;
    found.Rect(r[0], y, 44, 19, "fill=\"#ffe14d\"");
    found.Text(r[0] + 4, y + 15, fmt::format("{:.2f}", probs[i]),
               "style=\"fill:#1c2128;font-size:15px;font-weight:600\"");
  }
  scene.story = fmt::format(
      "A region proposal network scores {} anchors. generate_proposals_v2 takes the best 400, "
      "decodes and clips "
      "them, and suppresses what overlaps: {} proposals are left for {} objects.",
      net.scores.size(), probs.size(), kObjects.size());
  scene.pictures = {{"the best score of each cell, light is high", heat.str()},
                    {"proposals; yellow ones score above 0.5", found.str()}};
  return scene;
}

}  // namespace detops::cli
