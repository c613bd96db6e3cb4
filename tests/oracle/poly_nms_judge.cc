// SPDX-License-Identifier: Apache-2.0
#include "oracle/poly_nms_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/names.h"
#include "oracle/oracle.h"

namespace detops::oracle {
namespace {

// Candidates examined, boxes times kept boxes: each costs the comparison of two bounding boxes.
constexpr double kMostBoundPairs = 4e8;
// Exact clipping takes some ten microseconds per pair.
constexpr int64_t kMostBoxes = 20000;

// NaN first, then descending; equal scores in the order of the boxes.
std::vector<int64_t> Ranks(const std::vector<float>& boxes, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count)), rank(order.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto score = [&](int64_t i) { return boxes[static_cast<size_t>(9 * i + 8)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (std::isnan(score(b))) return false;
    return std::isnan(score(a)) || score(a) > score(b);
  });
  for (size_t position = 0; position < order.size(); ++position) {
    rank[static_cast<size_t>(order[position])] = static_cast<int64_t>(position);
  }
  return rank;
}

}  // namespace

PolyNmsJudge::PolyNmsJudge(const Array& boxes, float threshold)
    : boxes_(boxes.Floats()), threshold_(threshold) {
  const int64_t count = boxes.dim(0);
  rank_ = Ranks(boxes_, count);
  for (int64_t i = 0; i < count; ++i) {
    const auto q = Quad(i);
    const bool finite = std::ranges::all_of(q, [](float v) { return std::isfinite(v); });
    const auto [x1, x2] = std::minmax({q[0], q[2], q[4], q[6]});
    const auto [y1, y2] = std::minmax({q[1], q[3], q[5], q[7]});
    // A quadrilateral without area is not simple either, but its IoU is defined: 0.
    const bool simple = !finite || QuadIsSimple(q) || QuadIsOnALine(q);
    bounds_.push_back({x1, y1, x2, y2, finite, simple});
  }
}

PolyNmsJudge::Fate PolyNmsJudge::FateOf(int64_t box, const std::vector<int32_t>& kept) const {
  const Bounds& b = bounds_[static_cast<size_t>(box)];
  bool open = false;
  for (const int32_t other : kept) {
    if (rank_[static_cast<size_t>(other)] >= rank_[static_cast<size_t>(box)]) continue;
    if (threshold_ < 0) return Fate::kSuppressed;
    const Bounds& o = bounds_[static_cast<size_t>(other)];
    if (!b.finite || !o.finite) continue;
    if (b.x2 <= o.x1 || o.x2 <= b.x1 || b.y2 <= o.y1 || o.y2 <= b.y1) continue;
    if (!b.simple || !o.simple) {
      open = true;
    } else if (QuadIouGreater(Quad(other), Quad(box), threshold_)) {
      return Fate::kSuppressed;
    }
  }
  return open ? Fate::kOpen : Fate::kKept;
}

Verdict PolyNmsJudge::Compare(const std::vector<Array>& results) const {
  const auto count = static_cast<int64_t>(rank_.size());
  const auto kept_span = results[0].As<int32_t>();
  const std::vector<int32_t> kept(kept_span.begin(), kept_span.end());
  Verdict verdict;
  verdict.outputs = {
      CompareIntegers("result_num", results[1], {static_cast<int32_t>(kept.size())})};
  // The indices must be ascending and in range for the rest to make sense.
  const bool sound = std::ranges::all_of(kept, [&](int32_t i) { return i >= 0 && i < count; }) &&
                     std::ranges::adjacent_find(kept, std::greater_equal<>()) == kept.end();
  if (!sound) {
    verdict.outputs.insert(verdict.outputs.begin(), CompareIntegers("output", results[0], {}));
    return verdict;
  }
  std::vector<bool> is_kept(static_cast<size_t>(count), false);
  for (const int32_t i : kept) is_kept[static_cast<size_t>(i)] = true;

  const auto affordable =
      static_cast<int64_t>(kMostBoundPairs / std::max<double>(1, static_cast<double>(kept.size())));
  const Sample sample(count, std::min(kMostBoxes, affordable));
  // One flag per box: 1 is kept.
  std::vector<int32_t> got, expected;
  int64_t open = 0;
  for (const int64_t box : sample.rows()) {
    const Fate fate = FateOf(box, kept);
    open += fate == Fate::kOpen;
    if (fate == Fate::kOpen) continue;
    got.push_back(is_kept[static_cast<size_t>(box)]);
    expected.push_back(fate == Fate::kKept);
  }
  Array flags(MLUOP_DTYPE_INT32, {static_cast<int64_t>(got.size())});
  std::copy(got.begin(), got.end(), flags.As<int32_t>().begin());
  verdict.outputs.insert(verdict.outputs.begin(), CompareIntegers("output", flags, expected));

  if (!sample.all() || open > 0) {
    verdict.sample = fmt::format("{} of {} boxes judged", got.size(), count);
    if (open > 0) verdict.sample += fmt::format(", {} meet a self-intersecting outline", open);
  }
  if (count == 0) {
    verdict.weak = "there is no box";
  } else if (got.empty()) {
    verdict.weak = "every box meets a self-intersecting outline, whose IoU is not defined";
  } else if (static_cast<int64_t>(kept.size()) == count) {
    verdict.weak = "nothing was suppressed";
  }
  return verdict;
}

template <>
std::unique_ptr<Judge> MakeJudgeOf<ops::PolyNms>(const Problem& problem) {
  return std::make_unique<PolyNmsJudge>(problem.inputs[0],
                                        static_cast<float>(problem.scalar("iou_threshold")));
}

}  // namespace detops::oracle
