// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/names.h"
#include "oracle/judge.h"
#include "oracle/oracle.h"

namespace detops::oracle {
namespace {

constexpr double kRoisThreshold = 3e-3;
enum Input : size_t { kScores, kDeltas, kImShape, kAnchors, kVariances };
enum Output : size_t { kRois, kProbs, kRoisNum, kBatchSize };

class ProposalsJudge final : public Judge {
 public:
  explicit ProposalsJudge(const Problem& p) {
    const Array& scores = p.inputs[kScores];
    expected_ = GenerateProposals(
        scores.As<float>(), p.inputs[kDeltas].As<float>(), p.inputs[kImShape].As<float>(),
        p.inputs[kAnchors].As<float>(), p.inputs[kVariances].As<float>(), scores.dim(0),
        scores.dim(1), scores.dim(2), scores.dim(3), static_cast<int>(p.scalar("pre_nms_top_n")),
        static_cast<int>(p.scalar("post_nms_top_n")), static_cast<float>(p.scalar("nms_thresh")),
        static_cast<float>(p.scalar("min_size")), p.scalar("pixel_offset") != 0);
  }

  Verdict Compare(const std::vector<Array>& results) const override {
    const std::vector<double> rois(expected_.rois.begin(), expected_.rois.end());
    const std::vector<double> probs(expected_.probs.begin(), expected_.probs.end());
    const auto total = static_cast<int32_t>(expected_.probs.size());
    Verdict verdict;
    verdict.outputs = {CompareFloats("rpn_rois", results[kRois], rois, kRoisThreshold),
                       CompareFloats("rpn_roi_probs", results[kProbs], probs, 0),
                       CompareIntegers("rpn_rois_num", results[kRoisNum], expected_.num),
                       CompareIntegers("rpn_rois_batch_size", results[kBatchSize], {total})};
    const bool passed = std::ranges::all_of(verdict.outputs, [](auto& a) { return a.passed; });
    if (!passed && expected_.near_decision) {
      // The contract allows exp an error below one ulp, and the result of this case depends on it.
      for (Accuracy& a : verdict.outputs) a.passed = true;
      verdict.weak = "an ulp of exp decides which boxes come out, and the oracle's is another";
    } else if (std::ranges::all_of(expected_.rois, [](float v) { return v == 0; })) {
      verdict.weak = total == 0 ? "there is no proposal" : "no proposal was left: all boxes are 0";
    }
    return verdict;
  }

 private:
  Proposals expected_;
};

}  // namespace

template <>
std::unique_ptr<Judge> MakeJudgeOf<ops::GenerateProposalsV2>(const Problem& problem) {
  return std::make_unique<ProposalsJudge>(problem);
}

}  // namespace detops::oracle
