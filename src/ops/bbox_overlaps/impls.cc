// SPDX-License-Identifier: Apache-2.0
#include "ops/bbox_overlaps/plan.h"

namespace detops::ops {

std::span<const core::Implementation<BboxOverlaps>> BboxOverlaps::Table() {
  static constexpr core::Implementation<BboxOverlaps> kTable[] = {
      {"cpu:reference", runtime::Backend::kCpu, core::SupportsAll<Plan>, core::NoWorkspace<Plan>,
       BboxOverlapsReference},
  };
  return kTable;
}

}  // namespace detops::ops
