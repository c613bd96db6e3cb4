// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/all.h"
#include "ops/poly_nms_judge.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

// What clipping a pair can't do without: four pairs of triangles, in each the side of one edge on
// which three corners and the edge's own end lie, 7 operations each. (As in
// src/ops/poly_nms/bench.cc.)
constexpr double kOperationsAPair = 4 * 4 * 7;

void Append(std::vector<float>& boxes, const test::Quad& quad, float score) {
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
    const float moved = x + test::Uniform(rng, 0, static_cast<float>(1 - overlap));
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
  Append(boxes, {x, y, x + 1, y, x + 1, y + 1, x, y + 1}, test::Uniform(rng, 0.5f, 1));
  Append(boxes, {left, top, left + 1, top, left + 1, top + 1, left, top + 1},
         test::Uniform(rng, 0, 0.5f));
}

class PolyNmsOperator final : public Operator {
 public:
  const char* name() const override { return "poly_nms"; }
  const char* summary() const override {
    return "suppression of quadrilaterals, convex or concave";
  }
  std::vector<TensorInfo> inputs() const override {
    return {{"boxes", "--boxes", "[N,9] x1,y1,…,x4,y4,score"}};
  }
  std::vector<TensorInfo> outputs() const override {
    return {{"output", "--out", "indices kept, ascending"}, {"result_num", nullptr, "how many"}};
  }
  void AddOptions(Command& command, proto::Case& spec) const override {
    auto* param = spec.mutable_poly_nms_param();
    command
        .AddSetter<float>(
            "--iou-threshold", [param](float t) { param->set_iou_threshold(t); },
            "boxes that overlap a better one by more are dropped")
        .ShowDefault("0.2");
  }
  const char* example() const override {
    return "detops run poly_nms --boxes dets.npy --iou-threshold 0.1 --out keep.npy";
  }

  std::vector<Array> MakeOutputs(const Problem& p) const override {
    std::vector<Array> outputs;
    outputs.emplace_back(MLUOP_DTYPE_INT32, Shape{p.inputs[0].dim(0)}, "output");
    outputs.emplace_back(MLUOP_DTYPE_INT32, Shape{1}, "result_num");
    return outputs;
  }
  mluOpStatus_t WorkspaceBytes(const Problem&, const Call& c, size_t* bytes) const override {
    return mluOpGetPolyNmsWorkspaceSize(c.handle, c.input_descs[0], bytes);
  }
  mluOpStatus_t Run(const Problem& p, const Call& c) const override {
    return mluOpPolyNms(c.handle, c.input_descs[0], c.inputs[0],
                        p.spec.poly_nms_param().iou_threshold(), c.workspace, c.workspace_bytes,
                        c.output_descs[0], c.outputs[0], c.outputs[1]);
  }
  void Trim(const Problem&, std::vector<Array>& results) const override {
    results[0].KeepRows(results[1].As<int32_t>()[0]);
  }

  Work WorkOf(const Problem& p) const override {
    return {static_cast<double>(p.inputs[0].count() + p.inputs[0].dim(0) + 1) * 4, 0,
            kOperationsAPair};
  }
  int64_t SizeOf(const Problem& p) const override { return p.inputs[0].dim(0); }
  std::string Describe(const Problem& p) const override {
    return fmt::format("{}{} threshold {:g}", TextOf(p.inputs[0].shape()),
                       p.spec.has_scene() ? " " + p.spec.scene().kind() : "",
                       p.spec.poly_nms_param().iou_threshold());
  }
  double ReferenceSteps(const Problem& p) const override {
    const auto n = static_cast<double>(p.inputs[0].dim(0));
    return n * n;
  }
  const char* LimitedBy() const override {
    return "finding neighbours: the work is a search by place and a sort, neither of which is "
           "counted as bytes or operations";
  }
  std::unique_ptr<Judge> MakeJudge(const Problem& p) const override {
    return std::make_unique<PolyNmsJudge>(p.inputs[0], p.spec.poly_nms_param().iou_threshold());
  }
  std::string Summarize(const Problem& p, const std::vector<Array>& results) const override {
    return fmt::format("kept {} of {} boxes", results[0].count(), p.inputs[0].dim(0));
  }

  std::vector<SceneKind> scenes() const override {
    return {{"scattered", "turned rectangles, a few neighbours each"},
            {"concave", "rectangles and concave quadrilaterals, in either orientation"},
            {"ties", "scores of few values, many boxes the same"},
            {"near_threshold", "pairs of squares whose IoU is within a millionth of the threshold"},
            {"piled", "all around one spot"},
            {"identical", "one box, many times"},
            {"far", "like scattered, 100000 from the origin"},
            {"special", "NaN, infinities, zeros and huge numbers among coordinates and scores"}};
  }
  void FillScene(const std::string& kind, Rng& rng, Problem& p) const override {
    const int64_t count = p.inputs[0].dim(0);
    std::vector<float> boxes;
    const float origin = kind == "far" ? 1e5f : 0.0f;
    if (kind == "scattered" || kind == "concave" || kind == "far" || kind == "special" ||
        kind == "ties") {
      boxes = test::RandomQuads(rng, count, origin, kind == "scattered" || kind == "far");
    }
    if (kind == "special") test::Spoil(rng, boxes, 20);
    if (kind == "ties") {
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(9 * i);
        if (i > 0 && rng() % 3 == 0) std::copy_n(&boxes[at - 9], 8, &boxes[at]);
        boxes[at + 8] = std::floor(boxes[at + 8] * 4) / 4;
      }
    }
    if (kind == "near_threshold") {
      // In a square about the origin, where floats are finest.
      const auto columns =
          static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count) / 2)));
      for (int64_t i = 0; 2 * i < count; ++i) {
        AppendNearThreshold(rng, p.spec.poly_nms_param().iou_threshold(),
                            3 * static_cast<float>(i % columns - columns / 2),
                            3 * static_cast<float>(i / columns - columns / 2), boxes);
      }
      boxes.resize(static_cast<size_t>(9 * count));
    }
    if (kind == "piled" || kind == "identical") {
      test::Quad quad = test::RandomRectangle(rng, 0, 0);
      for (int64_t i = 0; i < count; ++i) {
        if (kind == "piled") {
          quad = test::RandomRectangle(rng, test::Uniform(rng, -1, 1), test::Uniform(rng, -1, 1));
        }
        Append(boxes, quad, test::Uniform(rng, 0, 1));
      }
    }
    p.inputs[0] = Array::FromFloats(MLUOP_DTYPE_FLOAT, p.inputs[0].shape(), boxes);
  }
  std::vector<SizeInfo> sizes() const override { return {{"--n", 1000, "boxes"}}; }
  std::vector<Shape> ShapesOf(const std::vector<int64_t>& sizes,
                              const proto::Case&) const override {
    return {{sizes[0], 9}};
  }
};

}  // namespace

const Operator& PolyNms() {
  static const PolyNmsOperator op;
  return op;
}

}  // namespace detops::cli
