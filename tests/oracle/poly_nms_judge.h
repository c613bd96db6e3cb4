// SPDX-License-Identifier: Apache-2.0
//
// Whether a set of kept boxes is the one that greedy suppression leaves. That is the case exactly
// when every box is kept if and only if no kept box ahead of it in score order overlaps it by more
// than the threshold. So each box can be judged by itself, with exact arithmetic, and a sample of a
// million boxes is still meaningful.
//
// The contract does not define the IoU of self-intersecting outlines: a box whose result depends on
// one is left out, and the verdict says how many were.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge.h"

namespace detops::oracle {

class PolyNmsJudge final : public Judge {
 public:
  PolyNmsJudge(const Array& boxes, float threshold);
  Verdict Compare(const std::vector<Array>& results) const override;

 private:
  struct Bounds {
    float x1, y1, x2, y2;
    bool finite, simple;
  };
  enum class Fate { kKept, kSuppressed, kOpen };

  std::span<const float, 8> Quad(int64_t i) const {
    return std::span<const float>(boxes_).subspan(static_cast<size_t>(9 * i)).first<8>();
  }
  Fate FateOf(int64_t box, const std::vector<int32_t>& kept) const;

  std::vector<float> boxes_;
  float threshold_;
  std::vector<Bounds> bounds_;
  std::vector<int64_t> rank_;  // position of each box in score order
};

}  // namespace detops::oracle
