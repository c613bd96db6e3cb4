// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/names.h"
#include "oracle/judge.h"
#include "oracle/oracle.h"

namespace detops::oracle {
namespace {

constexpr int64_t kMostPointTests = 20'000'000;

class PointsJudge final : public Judge {
 public:
  explicit PointsJudge(const Problem& problem) {
    const Array &points = problem.inputs[0], &boxes = problem.inputs[1];
    batches_ = points.dim(0), count_ = points.dim(1);
    const int64_t boxes_each = boxes.dim(1);
    sample_ = Sample(count_, kMostPointTests / std::max<int64_t>(1, batches_ * boxes_each));
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
          PointsInBoxes(picked, held, 1, sample_.count(), boxes_each);
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

}  // namespace

template <>
std::unique_ptr<Judge> MakeJudgeOf<ops::PointsInBoxes>(const Problem& problem) {
  return std::make_unique<PointsJudge>(problem);
}

}  // namespace detops::oracle
