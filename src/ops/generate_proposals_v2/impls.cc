// SPDX-License-Identifier: Apache-2.0
#include "ops/generate_proposals_v2/plan.h"

namespace detops::ops {

std::span<const core::Implementation<GenerateProposalsV2>> GenerateProposalsV2::Table() {
  static constexpr core::Implementation<GenerateProposalsV2> kTable[] = {
      {"cpu:reference", runtime::Backend::kCpu, core::SupportsAll<Plan>,
       GenerateProposalsV2ReferenceWorkspace, GenerateProposalsV2Reference},
  };
  return kTable;
}

}  // namespace detops::ops
