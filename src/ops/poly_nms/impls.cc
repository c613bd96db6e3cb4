// SPDX-License-Identifier: Apache-2.0
#include "ops/poly_nms/plan.h"

namespace detops::ops {

std::span<const core::Implementation<PolyNms>> PolyNms::Table() {
  static constexpr core::Implementation<PolyNms> kTable[] = {
      {"cpu:reference", runtime::Backend::kCpu, core::SupportsAll<Plan>, PolyNmsReferenceWorkspace,
       PolyNmsReference},
  };
  return kTable;
}

}  // namespace detops::ops
