// SPDX-License-Identifier: Apache-2.0
//
// Whether a list of kept boxes is the one that greedy suppression leaves. That is the case exactly
// when it lists them best first, and every box is in it if and only if no kept box ahead of it in
// the order has IoU > threshold with it. So each box can be judged by itself, and a sample of many
// boxes is still meaningful.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "internal.h"
#include "ops/names.h"
#include "oracle/judge.h"

namespace detops::oracle {
namespace {

// Boxes times kept boxes: most cost the comparison of two boxes, some an emulated IoU, which takes
// some 10 ns.
constexpr double kMostBoxPairs = 4e8;

struct Box {
  float x1, y1, x2, y2;
};

bool HasNan(const Box& b) {
  return std::isnan(b.x1) || std::isnan(b.y1) || std::isnan(b.x2) || std::isnan(b.y2);
}

// A NaN stays one, as the contract wants.
Rounded AtLeastZero(Rounded value) { return value < Rounded(0.0f) ? Rounded(0.0f) : value; }

Rounded Area(const Box& b) {
  return (Rounded(b.x2) - Rounded(b.x1)) * (Rounded(b.y2) - Rounded(b.y1));
}

// Neither box has a NaN coordinate. A NaN that arises on the way reaches the result, as every
// intermediate result goes into it.
Rounded Iou(const Box& a, const Box& b) {
  const Rounded width = AtLeastZero(Rounded(std::min(a.x2, b.x2)) - Rounded(std::max(a.x1, b.x1)));
  const Rounded height = AtLeastZero(Rounded(std::min(a.y2, b.y2)) - Rounded(std::max(a.y1, b.y1)));
  const Rounded inter = width * height;
  return inter / AtLeastZero((Area(a) + Area(b)) - inter);
}

// False with a NaN, for whose IoU that is right where the threshold is 0 or more.
bool ShareArea(const Box& a, const Box& b) {
  const bool in_x = a.x1 < b.x2 && b.x1 < a.x2 && a.x1 < a.x2 && b.x1 < b.x2;
  return in_x && a.y1 < b.y2 && b.y1 < a.y2 && a.y1 < a.y2 && b.y1 < b.y2;
}

class NmsJudge final : public Judge {
 public:
  explicit NmsJudge(const Problem& problem)
      : threshold_(static_cast<float>(problem.scalar("iou_threshold"))) {
    const std::vector<float> boxes = problem.inputs[0].Floats();  // halves are widened exactly
    const std::vector<float> scores = problem.inputs[1].Floats();
    for (size_t i = 0; i < boxes.size(); i += 4) {
      boxes_.push_back({boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]});
    }
    const std::vector<int64_t> order = OrderByScore(scores);
    rank_.resize(order.size());
    for (size_t position = 0; position < order.size(); ++position) {
      rank_[static_cast<size_t>(order[position])] = static_cast<int64_t>(position);
    }
  }

  Verdict Compare(const std::vector<Array>& results) const override {
    const auto kept = results[0].As<int32_t>();
    const auto count = static_cast<int64_t>(boxes_.size());
    Verdict verdict;
    verdict.outputs = {
        CompareIntegers("result_num", results[1], {static_cast<int32_t>(kept.size())})};
    if (!IsBestFirst(kept)) {
      // What is out of order cannot be the answer, so it is compared with an empty one.
      verdict.outputs.insert(verdict.outputs.begin(), CompareIntegers("output", results[0], {}));
      return verdict;
    }
    // Copied in the order, as a walk through scattered memory takes several times as long.
    std::vector<Box> kept_boxes;
    std::vector<int64_t> kept_ranks;
    for (const int32_t i : kept) {
      kept_boxes.push_back(boxes_[static_cast<size_t>(i)]);
      kept_ranks.push_back(rank_[static_cast<size_t>(i)]);
    }
    const double kept_count = std::max<double>(1, static_cast<double>(kept.size()));
    const Sample sample(count, static_cast<int64_t>(kMostBoxPairs / kept_count));
    // One flag per box: 1 is kept.
    Array flags(MLUOP_DTYPE_INT32, {sample.count()});
    std::vector<int32_t> expected;
    for (const int64_t i : sample.rows()) {
      const auto box = static_cast<size_t>(i);
      const auto place = std::ranges::lower_bound(kept_ranks, rank_[box]);
      const bool is_kept = place != kept_ranks.end() && *place == rank_[box];
      const auto ahead = static_cast<size_t>(place - kept_ranks.begin());
      flags.As<int32_t>()[expected.size()] = is_kept;
      expected.push_back(!IsSuppressed(boxes_[box], std::span(kept_boxes).first(ahead)));
    }
    verdict.outputs.insert(verdict.outputs.begin(), CompareIntegers("output", flags, expected));
    if (!sample.all()) {
      verdict.sample = fmt::format("{} of {} boxes judged", sample.count(), count);
    }
    if (count == 0) {
      verdict.weak = "there is no box";
    } else if (static_cast<int64_t>(kept.size()) == count) {
      verdict.weak = "nothing was suppressed";
    }
    return verdict;
  }

 private:
  // Also in range, and without repetition.
  bool IsBestFirst(std::span<const int32_t> kept) const {
    const auto count = static_cast<int64_t>(boxes_.size());
    if (!std::ranges::all_of(kept, [&](int32_t i) { return i >= 0 && i < count; })) return false;
    const auto rank = [&](int32_t i) { return rank_[static_cast<size_t>(i)]; };
    return std::ranges::adjacent_find(kept, std::greater_equal<>(), rank) == kept.end();
  }

  // By the kept boxes ahead of it.
  bool IsSuppressed(const Box& box, std::span<const Box> ahead) const {
    if (HasNan(box)) return false;
    return std::ranges::any_of(ahead, [&](const Box& other) {
      if (threshold_ >= 0 ? !ShareArea(other, box) : HasNan(other)) return false;
      return Iou(other, box) > Rounded(threshold_);
    });
  }

  float threshold_;
  std::vector<Box> boxes_;
  std::vector<int64_t> rank_;  // position of each box in the order
};

}  // namespace

template <>
std::unique_ptr<Judge> MakeJudgeOf<ops::Nms>(const Problem& problem) {
  return std::make_unique<NmsJudge>(problem);
}

}  // namespace detops::oracle
