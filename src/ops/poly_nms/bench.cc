// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "bench/case.h"
#include "core/status.h"
#include "support/random_data.h"

namespace detops::bench {
namespace {

constexpr float kThreshold = 0.1f;
// The largest size for which the reference, which compares every pair, is measured.
constexpr int64_t kReferenceUpTo = 2000;
// The least that clipping a pair requires: for four pairs of triangles, on which side of one edge
// three corners and the edge's own end lie, 7 operations each.
constexpr double kOperationsPerPair = 4 * 4 * 7;

enum class Scene { kScattered, kRepeated, kPiled, kIdentical };

std::vector<float> BoxesOf(Scene scene, int64_t count) {
  test::Rng rng(102);
  if (scene == Scene::kScattered) return test::RandomQuads(rng, count, 0.0f, true);
  std::vector<float> boxes;
  std::vector<test::Quad> objects;  // each detected 100 times
  const float side = 25.0f * std::sqrt(static_cast<float>(count) / 10.0f);
  for (int64_t i = 0; scene == Scene::kRepeated && i < count / 100; ++i) {
    const float x = test::Uniform(rng, 0, side), y = test::Uniform(rng, 0, side);
    objects.push_back(test::RandomRectangle(rng, x, y));
  }
  test::Quad quad = test::RandomRectangle(rng, 0, 0);
  for (int64_t i = 0; i < count; ++i) {
    if (scene == Scene::kRepeated) {
      quad = objects[rng() % objects.size()];
      for (float& v : quad) v += test::Uniform(rng, -1, 1);
    } else if (scene == Scene::kPiled) {
      const float x = test::Uniform(rng, -1, 1), y = test::Uniform(rng, -1, 1);
      quad = test::RandomRectangle(rng, x, y);
    }
    boxes.insert(boxes.end(), quad.begin(), quad.end());
    boxes.push_back(test::Uniform(rng, 0, 1));
  }
  return boxes;
}

class PolyNmsProblem final : public Problem {
 public:
  PolyNmsProblem(Scene scene, int64_t count, const Place& place)
      : Problem(place),
        boxes_desc_(MLUOP_DTYPE_FLOAT, {count, 9}),
        output_desc_(MLUOP_DTYPE_INT32, {count}),
        boxes_(Input(BoxesOf(scene, count))),
        output_(Output(4 * count)),
        result_num_(Output(4)),
        workspace_(Workspace(WorkspaceBytes())) {}

  mluOpStatus_t Run(mluOpHandle_t handle, int64_t set) override {
    return mluOpPolyNms(handle, boxes_desc_, boxes_.at(set), kThreshold, workspace_.at(0),
                        workspace_.bytes(), output_desc_, output_.at(set), result_num_.at(set));
  }

 private:
  size_t WorkspaceBytes() const {
    size_t bytes = 0;
    Require(mluOpGetPolyNmsWorkspaceSize(memory_handle(), boxes_desc_, &bytes));
    return bytes;
  }

  const Desc boxes_desc_, output_desc_;
  const Buffer &boxes_, &output_, &result_num_, &workspace_;
};

Case Make(const std::string& name, Scene scene, int64_t count) {
  Case c;
  c.op = "poly_nms";
  c.name = name;
  c.dims = core::Concat("[", count, ",9] ", name.substr(0, name.find('_')));
  c.size = count;
  c.report.bytes = c.floor.bytes = static_cast<double>(count * (9 + 1) * 4 + 4);
  c.operations_a_pair = kOperationsPerPair;
  c.reference = count <= kReferenceUpTo;
  c.one_thread = count > kReferenceUpTo;
  c.make = [scene, count](const Place& place) {
    return std::make_unique<PolyNmsProblem>(scene, count, place);
  };
  return c;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const int64_t count : {70, 500, 1000, 2000, 9770, 50000, 100000, 1000000}) {
    cases.push_back(Make("scattered_" + std::to_string(count), Scene::kScattered, count));
  }
  cases.push_back(Make("repeated_10000", Scene::kRepeated, 10000));
  cases.push_back(Make("piled_20000", Scene::kPiled, 20000));
  cases.push_back(Make("identical_20000", Scene::kIdentical, 20000));
  return cases;
}

const Registrar registrar(Cases);

}  // namespace
}  // namespace detops::bench
