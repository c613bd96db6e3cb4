// SPDX-License-Identifier: Apache-2.0
#include "ops/registry.h"

#include "ops/bbox_overlaps/plan.h"
#include "ops/border_align_forward/plan.h"
#include "ops/generate_proposals_v2/plan.h"
#include "ops/points_in_boxes/plan.h"
#include "ops/poly_nms/plan.h"

namespace detops::ops {
namespace {

template <class Op>
constexpr OperatorEntry Entry() {
  return {Op::kName, [] { return Op::Table().size(); },
          [](size_t i) -> ImplementationEntry {
            return {Op::Table()[i].name, Op::Table()[i].unusable()};
          }};
}

}  // namespace

std::span<const OperatorEntry> Operators() {
  static constexpr OperatorEntry kOperators[] = {
      Entry<BboxOverlaps>(),         //
      Entry<PolyNms>(),              //
      Entry<BorderAlignForward>(),   //
      Entry<GenerateProposalsV2>(),  //
      Entry<PointsInBoxes>(),        //
  };
  return kOperators;
}

}  // namespace detops::ops
