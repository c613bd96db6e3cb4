// SPDX-License-Identifier: Apache-2.0
#include "ops/border_align_forward/plan.h"

namespace detops::ops {

std::span<const core::Implementation<BorderAlignForward>> BorderAlignForward::Table() {
  static constexpr core::Implementation<BorderAlignForward> kTable[] = {
      {"cpu:reference", runtime::Backend::kCpu, core::SupportsAll<Plan>, core::NoWorkspace<Plan>,
       BorderAlignForwardReference},
  };
  return kTable;
}

}  // namespace detops::ops
