// SPDX-License-Identifier: Apache-2.0
#include "ops/points_in_boxes/plan.h"

namespace detops::ops {

std::span<const core::Implementation<PointsInBoxes>> PointsInBoxes::Table() {
  static constexpr core::Implementation<PointsInBoxes> kTable[] = {
      {"cpu:reference", runtime::Backend::kCpu, core::SupportsAll<Plan>, core::NoWorkspace<Plan>,
       PointsInBoxesReference},
  };
  return kTable;
}

}  // namespace detops::ops
