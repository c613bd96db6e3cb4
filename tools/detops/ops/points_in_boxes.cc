// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/all.h"
#include "ops/sample.h"
#include "oracle/oracle.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

constexpr int64_t kMostPairs = 20'000'000;

class PointsJudge final : public Judge {
 public:
  explicit PointsJudge(const Problem& problem) {
    const Array &points = problem.inputs[0], &boxes = problem.inputs[1];
    batches_ = points.dim(0), count_ = points.dim(1);
    const int64_t boxes_each = boxes.dim(1);
    sample_ = Sample(count_, kMostPairs / std::max<int64_t>(1, batches_ * boxes_each));
    if (!sample_.all()) {
      note_ = fmt::format("{} of {} points", batches_ * sample_.count(), batches_ * count_);
    }
    for (int64_t b = 0; b < batches_; ++b) {
      const auto cloud = points.As<float>().subspan(static_cast<size_t>(3 * b * count_),
                                                    static_cast<size_t>(3 * count_));
      const auto held = boxes.As<float>().subspan(static_cast<size_t>(7 * b * boxes_each),
                                                  static_cast<size_t>(7 * boxes_each));
      const std::vector<float> picked = sample_.Pick(cloud, 3);
      const std::vector<int32_t> answer =
          oracle::PointsInBoxes(picked, held, 1, sample_.count(), boxes_each);
      expected_.insert(expected_.end(), answer.begin(), answer.end());
    }
  }

  Verdict Compare(const std::vector<Array>& results) const override {
    std::vector<int32_t> got;
    for (int64_t b = 0; b < batches_; ++b) {
      const auto part = results[0].As<int32_t>().subspan(static_cast<size_t>(b * count_),
                                                         static_cast<size_t>(count_));
      const std::vector<int32_t> picked = sample_.Pick(part, 1);
      got.insert(got.end(), picked.begin(), picked.end());
    }
    Array picked(MLUOP_DTYPE_INT32, {static_cast<int64_t>(got.size())});
    std::copy(got.begin(), got.end(), picked.As<int32_t>().begin());
    Verdict verdict;
    verdict.outputs = {CompareIntegers("points_indices", picked, expected_)};
    verdict.sample = note_;
    if (got.empty()) {
      verdict.weak = "there is no point";
    } else if (std::ranges::all_of(expected_, [](int32_t i) { return i < 0; })) {
      verdict.weak = "no point is in a box";
    }
    return verdict;
  }

 private:
  int64_t batches_ = 0, count_ = 0;
  Sample sample_;
  std::vector<int32_t> expected_;
  std::string note_;
};

class PointsInBoxesOperator final : public Operator {
 public:
  const char* name() const override { return "points_in_boxes"; }
  const char* summary() const override { return "which turned 3-D box holds each point"; }
  std::vector<TensorInfo> inputs() const override {
    return {{"points", "--points", "[B,M,3] or [M,3] x,y,z"},
            {"boxes", "--boxes", "[B,T,7] or [T,7] cx,cy,cz,dx,dy,dz,heading"}};
  }
  std::vector<TensorInfo> outputs() const override {
    return {{"points_indices", "--out", "[B,M] the first box that holds the point, or -1"}};
  }
  void AddOptions(Command&, proto::Case&) const override {}
  const char* example() const override {
    return "detops run points_in_boxes --points sweep.csv --boxes cars.csv --out index.npy";
  }

  std::vector<Array> MakeOutputs(const Problem& p) const override {
    std::vector<Array> outputs;
    outputs.emplace_back(MLUOP_DTYPE_INT32, Shape{p.inputs[0].dim(0), p.inputs[0].dim(1)},
                         "points_indices");
    return outputs;
  }
  mluOpStatus_t Run(const Problem&, const Call& c) const override {
    return mluOpPointsInBoxes(c.handle, c.input_descs[0], c.inputs[0], c.input_descs[1],
                              c.inputs[1], c.output_descs[0], c.outputs[0]);
  }

  Work WorkOf(const Problem& p) const override {
    const double points = Points(p), boxes = static_cast<double>(p.inputs[1].dim(1));
    return {static_cast<double>(p.inputs[0].count() + p.inputs[1].count()) * 4 + points * 4,
            points * (6 + 27 * boxes + 2), 0};
  }
  int64_t SizeOf(const Problem& p) const override { return static_cast<int64_t>(Points(p)); }
  std::string Describe(const Problem& p) const override {
    return fmt::format("{} in {}", TextOf(p.inputs[0].shape()), TextOf(p.inputs[1].shape()));
  }
  double ReferenceSteps(const Problem& p) const override {
    return Points(p) * static_cast<double>(p.inputs[1].dim(1));
  }
  const char* LimitedBy() const override {
    return "reading the points and looking up their cells; operations are counted as if every "
           "point met every box, so that the share of the compute peak can exceed 100 %";
  }
  std::unique_ptr<Judge> MakeJudge(const Problem& p) const override {
    return std::make_unique<PointsJudge>(p);
  }
  std::string Summarize(const Problem&, const std::vector<Array>& results) const override {
    const auto indices = results[0].As<int32_t>();
    return fmt::format("{} of {} points are in a box",
                       std::ranges::count_if(indices, [](int32_t i) { return i >= 0; }),
                       indices.size());
  }

  std::vector<SceneKind> scenes() const override {
    return {{"scattered", "150 x 150 x 6 m with boxes of 1 to 5 m at any heading"},
            {"ties", "points on a coarse grid, faces of boxes through them, boxes in each other"},
            {"piled", "all points and boxes around one spot"},
            {"far", "like scattered, 10000 m from the origin"},
            {"special", "NaN, infinities, zeros and huge numbers in points and boxes"}};
  }
  void FillScene(const std::string& kind, Rng& rng, Problem& p) const override {
    Array &points_array = p.inputs[0], &boxes_array = p.inputs[1];
    std::vector<float> points = test::RandomPoints(rng, points_array.dim(0) * points_array.dim(1));
    std::vector<float> boxes = test::RandomBoxes3d(rng, boxes_array.dim(0) * boxes_array.dim(1));
    for (size_t i = 0; i < points.size(); ++i) {
      if (kind == "piled") points[i] /= 40;
      if (kind == "far" && i % 3 < 2) points[i] += 10000;
      if (kind == "ties") points[i] = std::round(points[i] / 2) / 2;
    }
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (kind == "piled" && i % 7 < 3) boxes[i] /= 40;
      if (kind == "far" && i % 7 < 2) boxes[i] += 10000;
      // Whole sizes and no turn: points lie on the faces.
      if (kind == "ties")
        boxes[i] = i % 7 == 6 ? 0 : i % 7 < 3 ? std::round(boxes[i] / 4) : std::round(boxes[i]);
    }
    if (kind == "special") {
      test::Spoil(rng, points, 12);
      test::Spoil(rng, boxes, 12);
    }
    points_array = Array::FromFloats(MLUOP_DTYPE_FLOAT, points_array.shape(), points);
    boxes_array = Array::FromFloats(MLUOP_DTYPE_FLOAT, boxes_array.shape(), boxes);
  }
  std::vector<SizeInfo> sizes() const override {
    return {{"--b", 1, "batches"}, {"--m", 10000, "points in each"}, {"--t", 50, "boxes in each"}};
  }
  std::vector<Shape> ShapesOf(const std::vector<int64_t>& sizes,
                              const proto::Case&) const override {
    return {{sizes[0], sizes[1], 3}, {sizes[0], sizes[2], 7}};
  }

 private:
  static double Points(const Problem& p) {
    return static_cast<double>(p.inputs[0].dim(0)) * static_cast<double>(p.inputs[0].dim(1));
  }
};

}  // namespace

const Operator& PointsInBoxes() {
  static const PointsInBoxesOperator op;
  return op;
}

}  // namespace detops::cli
