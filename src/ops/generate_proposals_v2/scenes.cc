// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/names.h"
#include "schema/random.h"
#include "schema/schema.h"

namespace detops::schema {
namespace {

// In the order of the C function.
struct Values {
  std::vector<float> scores, deltas, im_shape, anchors, variances;
};

void Set(Problem& problem, const Values& v) {
  const std::vector<float>* values[] = {&v.scores, &v.deltas, &v.im_shape, &v.anchors,
                                        &v.variances};
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    problem.inputs[i] = Array::FromFloats(MLUOP_DTYPE_FLOAT, problem.inputs[i].shape(), *values[i]);
  }
}

}  // namespace

template <>
std::vector<Scene> Scenes<ops::GenerateProposalsV2>::List() {
  return {
      {"scattered", "anchors of five sizes on a grid of 16 pixels, random scores and deltas"},
      {"ties", "scores of few values"},
      {"piled", "all anchors on one spot"},
      {"far", "deltas that carry boxes over the image's edge"},
      {"crossing", "strips of 2 pixels across a large image: each along x crosses each along y"},
      {"special", "NaN, infinities, zeros and huge numbers in scores and deltas"}};
}

template <>
void Scenes<ops::GenerateProposalsV2>::Fill(std::string_view scene, Rng& rng, Problem& problem) {
  const int64_t count = problem.inputs[0].count();
  const int64_t h = problem.size('H'), w = problem.size('W'), a = problem.size('A');
  const float reach = scene == "far" ? 4.0f : scene == "crossing" ? 0.1f : 0.5f;
  const float side = 2.0f * static_cast<float>(h * w * a);  // of an image with crossing strips
  Values v;
  v.scores = random::UniformFloats(rng, count, 0, 1);
  v.deltas = random::UniformFloats(rng, 4 * count, -reach, reach);
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) {
      for (int64_t i = 0; i < a; ++i) {
        const float half = 8.0f * static_cast<float>(1 << (i % 5));
        if (scene == "crossing") {
          const auto n = static_cast<float>(v.anchors.size() / 4);
          const bool along_x = v.anchors.size() % 8 == 0;
          v.anchors.insert(v.anchors.end(),
                           {along_x ? 0 : 2 * n, along_x ? 2 * n : 0, along_x ? side : 2 * n + 2,
                            along_x ? 2 * n + 2 : side});
          continue;
        }
        const bool piled = scene == "piled";
        const float cx = 16.0f * static_cast<float>(piled ? w / 2 : x) + 8;
        const float cy = 16.0f * static_cast<float>(piled ? h / 2 : y) + 8;
        v.anchors.insert(v.anchors.end(), {cx - half, cy - half, cx + half, cy + half});
      }
    }
  }
  v.variances.assign(v.anchors.size(), 1.0f);
  for (int64_t i = 0; i < problem.size('N'); ++i) {
    const bool crossing = scene == "crossing";
    v.im_shape.insert(v.im_shape.end(), {crossing ? side : 16.0f * static_cast<float>(h),
                                         crossing ? side : 16.0f * static_cast<float>(w)});
  }
  if (scene == "ties") {
    for (float& score : v.scores) score = std::floor(score * 8) / 8;
  }
  if (scene == "special") {
    random::Spoil(rng, v.scores, 12);
    random::Spoil(rng, v.deltas, 12);
  }
  Set(problem, v);
}

template <>
Problem Scenes<ops::GenerateProposalsV2>::Random(Rng& rng) {
  using random::Between, random::Uniform;
  Problem problem(SchemaOf<ops::GenerateProposalsV2>());
  const int64_t n = Between(rng, 1, 3), h = Between(rng, 1, 30), w = Between(rng, 1, 30);
  const int64_t a = Between(rng, 1, 4), anchors = h * w * a;
  problem.MakeInputs({n, h, w, a}, MLUOP_DTYPE_FLOAT);
  Values v;
  v.scores = random::Scores(rng, n * anchors);
  v.deltas = random::UniformFloats(rng, n * anchors * 4, -1, 1);
  v.anchors = random::Coordinates(rng, anchors * 4, 60);
  for (size_t i = 0; i < v.anchors.size(); i += 4) {
    v.anchors[i + 2] = v.anchors[i] + std::abs(v.anchors[i + 2]) / 2;
    v.anchors[i + 3] = v.anchors[i + 1] + std::abs(v.anchors[i + 3]) / 2;
  }
  v.variances = random::UniformFloats(rng, anchors * 4, 0.1f, 1);
  for (int64_t i = 0; i < 2 * n; ++i) {
    v.im_shape.push_back(rng() % 10 == 0 ? random::kNan : Uniform(rng, 10, 100));
  }
  if (rng() % 3 == 0) random::Spoil(rng, v.deltas, 30);
  problem.set_scalar("pre_nms_top_n", static_cast<double>(Between(rng, -1, 2 * anchors)));
  problem.set_scalar("post_nms_top_n",
                     rng() % 20 == 0 ? 0 : static_cast<double>(Between(rng, 1, anchors + 5)));
  problem.set_scalar("nms_thresh", Uniform(rng, 0.01f, 1));
  problem.set_scalar("min_size", Uniform(rng, -1, 12));
  problem.set_scalar("pixel_offset", static_cast<double>(rng() % 2));
  Set(problem, v);
  return problem;
}

}  // namespace detops::schema
