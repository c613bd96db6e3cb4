// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/names.h"
#include "oracle/judge.h"
#include "oracle/oracle.h"

namespace detops::oracle {
namespace {

constexpr double kThreshold = 3e-3;
// The oracle emulates float in double, at some 20 million pairs per second.
constexpr int64_t kMostIous = 4'000'000;

// Compares all rows of a small matrix, or evenly spaced rows of a larger one.
class BboxJudge final : public Judge {
 public:
  explicit BboxJudge(const Problem& problem) {
    const bool aligned = problem.scalar("aligned") != 0;
    const auto mode = static_cast<int>(problem.scalar("mode"));
    const auto offset = static_cast<int>(problem.scalar("offset"));
    const std::vector<float> boxes1 = problem.inputs[0].Floats(),
                             boxes2 = problem.inputs[1].Floats();
    const int64_t rows = problem.inputs[0].dim(0), columns = problem.inputs[1].dim(0);
    row_elements_ = aligned ? 1 : columns;
    rows_ = Sample(rows, kMostIous / std::max<int64_t>(1, row_elements_));
    if (rows_.count() < rows) note_ = fmt::format("{} of {} rows", rows_.count(), rows);
    const std::vector<float> picked1 = rows_.Pick<float>(boxes1, 4);
    const std::vector<float> picked2 = aligned ? rows_.Pick<float>(boxes2, 4) : boxes2;
    expected_ = BboxOverlapsWide(picked1, picked2, mode, aligned, offset);
    // Areas beyond the range of float are infinite by the contract, but not in a wider type.
    const std::vector<float> plain = BboxOverlaps(picked1, picked2, mode, aligned, offset);
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

}  // namespace

template <>
std::unique_ptr<Judge> MakeJudgeOf<ops::BboxOverlaps>(const Problem& problem) {
  return std::make_unique<BboxJudge>(problem);
}

}  // namespace detops::oracle
