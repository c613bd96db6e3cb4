// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/all.h"
#include "ops/sample.h"
#include "oracle/oracle.h"
#include "support/random_data.h"

namespace detops::cli {
namespace {

// Samples of the oracle, each in long double.
constexpr int64_t kMostSamples = 8'000'000;
// The bar is dynamic: ten times the error of plain float evaluation, and never below these.
constexpr double kTimesPlain = 10, kLeastFloat = 1.2e-7, kLeastHalf = 9.8e-4;

struct Dims {
  int64_t n, h, w, c, k;
};
Dims DimsOf(const Problem& p) {
  const Array &input = p.inputs[0], &boxes = p.inputs[1];
  const bool nchw = p.layout == MLUOP_LAYOUT_NCHW;
  return {input.dim(0), input.dim(nchw ? 2 : 1), input.dim(nchw ? 3 : 2),
          input.dim(nchw ? 1 : 3) / 4, boxes.dim(1)};
}
Shape OutputShape(const Problem& p) {
  const Dims d = DimsOf(p);
  return p.layout == MLUOP_LAYOUT_NCHW ? Shape{d.n, d.c, d.k, 4} : Shape{d.n, d.k, 4, d.c};
}

// Compares some of the boxes of each image.
class BorderJudge final : public Judge {
 public:
  explicit BorderJudge(const Problem& p) : dims_(DimsOf(p)), nchw_(p.layout == MLUOP_LAYOUT_NCHW) {
    const int pool = p.spec.border_align_param().pool_size();
    const int64_t samples_a_box = dims_.n * dims_.c * 4 * (int64_t{pool} + 1);
    sample_ = Sample(dims_.k, kMostSamples / std::max<int64_t>(1, samples_a_box));
    if (!sample_.all()) {
      note_ = fmt::format("{} of {} boxes", dims_.n * sample_.count(), dims_.n * dims_.k);
    }
    const std::vector<float> input = p.inputs[0].Floats();
    std::vector<float> boxes;
    for (int64_t n = 0; n < dims_.n; ++n) {
      const std::vector<float> all = p.inputs[1].Floats();
      const std::vector<float> some = sample_.Pick<float>(
          std::span<const float>(all).subspan(static_cast<size_t>(4 * n * dims_.k),
                                              static_cast<size_t>(4 * dims_.k)),
          4);
      boxes.insert(boxes.end(), some.begin(), some.end());
    }
    wide_ = oracle::BorderAlignWide(input, boxes, dims_.n, dims_.h, dims_.w, dims_.c,
                                    sample_.count(), pool, nchw_);
    const oracle::BorderAlignResult plain = oracle::BorderAlign(
        input, boxes, dims_.n, dims_.h, dims_.w, dims_.c, sample_.count(), pool, nchw_);
    argmax_ = plain.argmax;
    const bool half = p.inputs[0].dtype() == MLUOP_DTYPE_HALF;
    const oracle::Diffs d = oracle::Compare(plain.output, wide_, TinyOf(p.inputs[0].dtype()));
    threshold_ =
        std::max(kTimesPlain * std::max(d.diff1, d.diff2), half ? kLeastHalf : kLeastFloat);
  }

  Verdict Compare(const std::vector<Array>& results) const override {
    const Array output = Pick(results[0]), argmax = Pick(results[1]);
    Verdict verdict;
    verdict.outputs = {CompareFloats("output", output, wide_, threshold_),
                       CompareIntegers("argmax_idx", argmax, argmax_)};
    verdict.sample = note_;
    verdict.weak = WeakValues(output);
    return verdict;
  }

 private:
  Array Pick(const Array& result) const {
    if (sample_.all()) return result;
    // Rows are boxes: [N,K,4,C] has N of K rows, [N,C,K,4] has N*C.
    const int64_t groups = nchw_ ? dims_.n * dims_.c : dims_.n;
    const int64_t row = nchw_ ? 4 : 4 * dims_.c;
    Array picked(result.dtype(), {groups * sample_.count() * row});
    const size_t bytes = static_cast<size_t>(row) * cli::SizeOf(result.dtype());
    size_t to = 0;
    for (int64_t group = 0; group < groups; ++group) {
      for (const int64_t box : sample_.rows()) {
        const auto from = static_cast<size_t>(group * dims_.k + box) * bytes;
        std::copy_n(result.bytes().begin() + static_cast<std::ptrdiff_t>(from), bytes,
                    picked.bytes().begin() + static_cast<std::ptrdiff_t>(to));
        to += bytes;
      }
    }
    return picked;
  }

  Dims dims_;
  bool nchw_;
  Sample sample_;
  std::vector<double> wide_;
  std::vector<int32_t> argmax_;
  double threshold_ = 0;
  std::string note_;
};

class BorderAlignOperator final : public Operator {
 public:
  const char* name() const override { return "border_align_forward"; }
  const char* summary() const override { return "maxima along the borders of boxes"; }
  std::vector<TensorInfo> inputs() const override {
    return {{"input", "--input", "[N,H,W,4C], with --layout nchw [N,4C,H,W]"},
            {"boxes", "--boxes", "[N,K,4] x1,y1,x2,y2"}};
  }
  std::vector<TensorInfo> outputs() const override {
    return {{"output", "--out", "[N,K,4,C], nchw: [N,C,K,4]"},
            {"argmax_idx", "--out-argmax", "of that shape: which sample holds the maximum"}};
  }
  void AddOptions(Command& command, proto::Case& spec) const override {
    auto* param = spec.mutable_border_align_param();
    command
        .AddSetter<int>(
            "--pool-size", [param](int size) { param->set_pool_size(size); },
            "steps along each border")
        .ShowDefault("10");
    command
        .AddSetter<std::string>(
            "--layout",
            [&spec](const std::string& layout) {
              if (spec.input_size() == 0) spec.add_input();
              spec.mutable_input(0)->set_layout(layout == "nchw" ? proto::LAYOUT_NCHW
                                                                 : proto::LAYOUT_NHWC);
            },
            "of input and results")
        .OneOf({"nhwc", "nchw"})
        .ShowDefault("nhwc");
  }
  const char* example() const override {
    return "detops run border_align_forward --input map.npy --boxes boxes.npy --pool-size 10 "
           "--out out.npy --out-argmax where.npy";
  }

  std::vector<Array> MakeOutputs(const Problem& p) const override {
    std::vector<Array> outputs;
    outputs.emplace_back(p.inputs[0].dtype(), OutputShape(p), "output");
    outputs.emplace_back(MLUOP_DTYPE_INT32, OutputShape(p), "argmax_idx");
    return outputs;
  }
  mluOpTensorLayout_t LayoutOfInput(const Problem& p, size_t i) const override {
    return i == 0 ? p.layout : MLUOP_LAYOUT_ARRAY;
  }
  mluOpTensorLayout_t LayoutOfOutput(const Problem& p, size_t) const override { return p.layout; }
  mluOpStatus_t Run(const Problem& p, const Call& c) const override {
    return detopsBorderAlignForward(c.handle, c.input_descs[0], c.inputs[0], c.input_descs[1],
                                    c.inputs[1], p.spec.border_align_param().pool_size(),
                                    c.output_descs[0], c.outputs[0], c.output_descs[1],
                                    c.outputs[1]);
  }

  Work WorkOf(const Problem& p) const override {
    const double each = static_cast<double>(cli::SizeOf(p.inputs[0].dtype()));
    const double outputs = Outputs(p);
    return {(static_cast<double>(p.inputs[0].count() + p.inputs[1].count()) + outputs) * each +
                outputs * 4,
            Samples(p) * 14, 0};
  }
  int64_t SizeOf(const Problem& p) const override { return static_cast<int64_t>(Outputs(p)); }
  std::string Describe(const Problem& p) const override {
    return fmt::format("{} K {} P {} {} {}", TextOf(p.inputs[0].shape()), p.inputs[1].dim(1),
                       p.spec.border_align_param().pool_size(), NameOf(p.inputs[0].dtype()),
                       p.layout == MLUOP_LAYOUT_NCHW ? "NCHW" : "NHWC");
  }
  double ReferenceSteps(const Problem& p) const override { return 2 * Samples(p); }
  const char* LimitedBy() const override {
    return "the arithmetic where the map stays in a cache (the weights of a sample are counted for "
           "each channel, but computed once); large maps wait for the cache and address "
           "translation";
  }
  std::unique_ptr<Judge> MakeJudge(const Problem& p) const override {
    return std::make_unique<BorderJudge>(p);
  }
  std::string Summarize(const Problem& p, const std::vector<Array>& results) const override {
    const std::vector<float> output = results[0].Floats();
    if (output.empty()) return "no maxima";
    const auto [low, high] = std::ranges::minmax(output);
    return fmt::format("{} maxima of {} samples each, from {:.6g} to {:.6g}", output.size(),
                       p.spec.border_align_param().pool_size() + 1, low, high);
  }

  std::vector<SceneKind> scenes() const override {
    return {{"scattered", "features of -5 to 5, any two points of the map as corners"},
            {"ties", "features of few values: the first maximum counts"},
            {"far", "boxes half outside of the map"},
            {"special", "NaN, infinities, zeros and huge numbers in features and boxes"}};
  }
  void FillScene(const std::string& kind, Rng& rng, Problem& p) const override {
    const Dims d = DimsOf(p);
    std::vector<float> input = test::UniformFloats(rng, p.inputs[0].count(), -5, 5), boxes;
    const float margin = kind == "far" ? 0.5f : 0.0f;
    const auto right = static_cast<float>(d.w - 1), bottom = static_cast<float>(d.h - 1);
    const auto any = [&](float side) {
      return test::Uniform(rng, -margin * side, (1 + margin) * side);
    };
    for (int64_t i = 0; i < d.n * d.k; ++i) {
      float x1 = any(right), x2 = any(right), y1 = any(bottom), y2 = any(bottom);
      if (x2 < x1) std::swap(x1, x2);
      if (y2 < y1) std::swap(y1, y2);
      boxes.insert(boxes.end(), {x1, y1, x2, y2});
    }
    if (kind == "ties") {
      for (float& v : input) v = std::round(v / 3);
      for (float& v : boxes) v = std::round(v);
    }
    if (kind == "special") {
      test::Spoil(rng, input, 30);
      test::Spoil(rng, boxes, 12);
    }
    p.inputs[0] = Array::FromFloats(p.inputs[0].dtype(), p.inputs[0].shape(), input);
    p.inputs[1] = Array::FromFloats(p.inputs[1].dtype(), p.inputs[1].shape(), boxes);
  }
  std::vector<SizeInfo> sizes() const override {
    return {{"--n", 1, "images"},
            {"--h", 25, "height of the map"},
            {"--w", 38, "width of the map"},
            {"--c", 64, "channels of each border"},
            {"--k", 100, "boxes an image"}};
  }
  std::vector<Shape> ShapesOf(const std::vector<int64_t>& s,
                              const proto::Case& spec) const override {
    const bool nchw = spec.input_size() > 0 && spec.input(0).layout() == proto::LAYOUT_NCHW;
    const Shape input =
        nchw ? Shape{s[0], 4 * s[3], s[1], s[2]} : Shape{s[0], s[1], s[2], 4 * s[3]};
    return {input, {s[0], s[4], 4}};
  }

 private:
  static double Outputs(const Problem& p) {
    const Dims d = DimsOf(p);
    return static_cast<double>(d.n) * static_cast<double>(d.k) * 4 * static_cast<double>(d.c);
  }
  static double Samples(const Problem& p) {
    return Outputs(p) * (p.spec.border_align_param().pool_size() + 1.0);
  }
};

}  // namespace

const Operator& BorderAlignForward() {
  static const BorderAlignOperator op;
  return op;
}

}  // namespace detops::cli
