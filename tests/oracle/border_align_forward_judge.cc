// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/names.h"
#include "oracle/judge.h"
#include "oracle/oracle.h"

namespace detops::oracle {
namespace {

// Samples that the oracle computes, each in long double.
constexpr int64_t kMostSamples = 8'000'000;
// The limit is relative: ten times the error of plain float evaluation, and never below these.
constexpr double kTimesPlain = 10, kLeastFloat = 1.2e-7, kLeastHalf = 9.8e-4;

struct Dims {
  int64_t n, h, w, c, k;
};
Dims DimsOf(const Problem& p) {
  return {p.size('N'), p.size('H'), p.size('W'), p.size('C'), p.size('K')};
}

// Compares some of the boxes of each image.
class BorderJudge final : public Judge {
 public:
  explicit BorderJudge(const Problem& p) : dims_(DimsOf(p)), nchw_(p.scalar("layout") != 0) {
    const int pool = static_cast<int>(p.scalar("pool_size"));
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
    wide_ = BorderAlignWide(input, boxes, dims_.n, dims_.h, dims_.w, dims_.c, sample_.count(), pool,
                            nchw_);
    const BorderAlignResult plain =
        BorderAlign(input, boxes, dims_.n, dims_.h, dims_.w, dims_.c, sample_.count(), pool, nchw_);
    argmax_ = plain.argmax;
    const bool half = p.inputs[0].dtype() == MLUOP_DTYPE_HALF;
    const Diffs d = oracle::Compare(plain.output, wide_, TinyOf(p.inputs[0].dtype()));
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
    const size_t bytes = static_cast<size_t>(row) * schema::SizeOf(result.dtype());
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

}  // namespace

template <>
std::unique_ptr<Judge> MakeJudgeOf<ops::BorderAlignForward>(const Problem& problem) {
  return std::make_unique<BorderJudge>(problem);
}

}  // namespace detops::oracle
