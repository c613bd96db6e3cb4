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

constexpr double kThreshold = 3e-3;
// The oracle emulates float in double, some 20 million pairs a second.
constexpr int64_t kMostPairs = 4'000'000;

// All of a small matrix, of a larger one every so many rows.
class BboxJudge final : public Judge {
 public:
  explicit BboxJudge(const Problem& problem) {
    const auto& param = problem.spec.bbox_overlaps_param();
    const std::vector<float> boxes1 = problem.inputs[0].Floats(),
                             boxes2 = problem.inputs[1].Floats();
    const int64_t rows = problem.inputs[0].dim(0), columns = problem.inputs[1].dim(0);
    row_elements_ = param.aligned() ? 1 : columns;
    rows_ = Sample(rows, kMostPairs / std::max<int64_t>(1, row_elements_));
    if (rows_.count() < rows) note_ = fmt::format("{} of {} rows", rows_.count(), rows);
    const std::vector<float> picked1 = rows_.Pick<float>(boxes1, 4);
    const std::vector<float> picked2 = param.aligned() ? rows_.Pick<float>(boxes2, 4) : boxes2;
    expected_ =
        oracle::BboxOverlapsWide(picked1, picked2, param.mode(), param.aligned(), param.offset());
    // Areas beyond float's range are infinite by the contract, and not in a wider type.
    const std::vector<float> plain =
        oracle::BboxOverlaps(picked1, picked2, param.mode(), param.aligned(), param.offset());
    for (size_t i = 0; i < plain.size(); ++i) {
      if (!std::isfinite(plain[i])) expected_[i] = plain[i];
    }
  }

  Verdict Compare(const std::vector<Array>& results) const override {
    const Array& ious = results[0];
    const Array picked = rows_.PickRows(ious, row_elements_);
    Verdict verdict;
    verdict.outputs = {CompareFloats("ious", picked, expected_, kThreshold)};
    verdict.sample = note_;
    verdict.weak = WeakValues(picked);
    return verdict;
  }

 private:
  Sample rows_;
  int64_t row_elements_ = 1;
  std::vector<double> expected_;
  std::string note_;
};

class BboxOverlapsOperator final : public Operator {
 public:
  const char* name() const override { return "bbox_overlaps"; }
  const char* summary() const override { return "IoU or IoF of boxes, all pairs or aligned"; }
  std::vector<TensorInfo> inputs() const override {
    return {{"bbox1", "--bboxes1", "[M,4] x1,y1,x2,y2"},
            {"bbox2", "--bboxes2", "[N,4] x1,y1,x2,y2"}};
  }
  std::vector<TensorInfo> outputs() const override {
    return {{"ious", "--out", "[M,N]; aligned: [M]"}};
  }
  void AddOptions(Command& command, proto::Case& spec) const override {
    auto* param = spec.mutable_bbox_overlaps_param();
    command
        .AddSetter<std::string>(
            "--mode", [param](const std::string& mode) { param->set_mode(mode == "iof"); },
            "iou, or iof: over the area of the first box")
        .OneOf({"iou", "iof"})
        .ShowDefault("iou");
    command.AddFlagSetter(
        "--aligned", [param] { param->set_aligned(true); }, "box i with box i, not all pairs");
    command
        .AddSetter<int>(
            "--offset", [param](int offset) { param->set_offset(offset); },
            "0, or 1 to add a pixel to every length")
        .OneOf({"0", "1"})
        .ShowDefault("0");
  }
  const char* example() const override {
    return "detops run bbox_overlaps --bboxes1 found.npy --bboxes2 truth.csv --out ious.npy";
  }

  std::vector<Array> MakeOutputs(const Problem& p) const override {
    const int64_t m = p.inputs[0].dim(0), n = p.inputs[1].dim(0);
    const bool aligned = p.spec.bbox_overlaps_param().aligned();
    std::vector<Array> outputs;
    outputs.emplace_back(p.inputs[0].dtype(), aligned ? Shape{m} : Shape{m, n}, "ious");
    return outputs;
  }
  mluOpStatus_t Run(const Problem& p, const Call& c) const override {
    const auto& param = p.spec.bbox_overlaps_param();
    return mluOpBboxOverlaps(c.handle, param.mode(), param.aligned(), param.offset(),
                             c.input_descs[0], c.inputs[0], c.input_descs[1], c.inputs[1],
                             c.output_descs[0], c.outputs[0]);
  }

  Work WorkOf(const Problem& p) const override {
    const double elements = Elements(p);
    const double each = static_cast<double>(cli::SizeOf(p.inputs[0].dtype()));
    const bool iof = p.spec.bbox_overlaps_param().mode() == 1;
    return {(static_cast<double>(p.inputs[0].count() + p.inputs[1].count()) + elements) * each,
            elements * (iof ? 23 : 25), 0};
  }
  int64_t SizeOf(const Problem& p) const override { return static_cast<int64_t>(Elements(p)); }
  std::string Describe(const Problem& p) const override {
    const auto& param = p.spec.bbox_overlaps_param();
    return fmt::format("{} {} {} {} {}{}", TextOf(p.inputs[0].shape()),
                       param.aligned() ? "with" : "x", TextOf(p.inputs[1].shape()),
                       NameOf(p.inputs[0].dtype()), param.mode() == 1 ? "IoF" : "IoU",
                       param.offset() == 1 ? " offset 1" : "");
  }
  double ReferenceSteps(const Problem& p) const override { return Elements(p); }
  const char* LimitedBy() const override {
    return "the arithmetic of the cores: minima, maxima and a division an element; small matrices "
           "stay in the cache, where the memory's peak says nothing";
  }
  std::unique_ptr<Judge> MakeJudge(const Problem& p) const override {
    return std::make_unique<BboxJudge>(p);
  }
  std::string Summarize(const Problem&, const std::vector<Array>& results) const override {
    const std::vector<float> ious = results[0].Floats();
    int64_t overlapping = 0, nans = 0;
    float largest = 0;
    for (const float iou : ious) {
      overlapping += iou > 0;
      nans += std::isnan(iou);
      largest = std::max(largest, iou);
    }
    std::string text = fmt::format("{} {} pairs, {} overlap, the largest value is {:.6g}",
                                   TextOf(results[0].shape()), ious.size(), overlapping, largest);
    if (nans > 0) text += fmt::format("; {} are NaN (a NaN coordinate, or 0/0)", nans);
    return text;
  }

  std::vector<SceneKind> scenes() const override {
    return {{"scattered", "boxes of 8 to 400 in an image of 1333 x 800"},
            {"ties", "few corners on a coarse grid: many equal and touching boxes"},
            {"piled", "all boxes around one spot"},
            {"far", "like scattered, 4096 from the origin"},
            {"special", "NaN, infinities, zeros and huge numbers among the coordinates"}};
  }
  void FillScene(const std::string& kind, Rng& rng, Problem& p) const override {
    for (Array& boxes : p.inputs) {
      std::vector<float> values;
      for (int64_t i = 0; i < boxes.dim(0); ++i) {
        const bool piled = kind == "piled";
        float x = test::Uniform(rng, 0, piled ? 20 : 1325),
              y = test::Uniform(rng, 0, piled ? 20 : 792);
        float w = test::Uniform(rng, 8, 400), h = test::Uniform(rng, 8, 400);
        if (kind == "far") x += 4096, y += 4096;
        if (kind == "ties") {
          for (float* v : {&x, &y, &w, &h}) *v = std::floor(*v / 200) * 50;
        }
        values.insert(values.end(), {x, y, x + w, y + h});
      }
      if (kind == "special") test::Spoil(rng, values, 9);
      boxes = Array::FromFloats(boxes.dtype(), boxes.shape(), values);
    }
  }
  std::vector<SizeInfo> sizes() const override {
    return {{"--m", 100, "boxes in the first set"}, {"--n", 100, "boxes in the second set"}};
  }
  std::vector<Shape> ShapesOf(const std::vector<int64_t>& sizes,
                              const proto::Case&) const override {
    return {{sizes[0], 4}, {sizes[1], 4}};
  }

 private:
  static double Elements(const Problem& p) {
    const auto m = static_cast<double>(p.inputs[0].dim(0)),
               n = static_cast<double>(p.inputs[1].dim(0));
    return p.spec.bbox_overlaps_param().aligned() ? m : m * n;
  }
};

}  // namespace

const Operator& BboxOverlaps() {
  static const BboxOverlapsOperator op;
  return op;
}

}  // namespace detops::cli
