// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/generate_proposals_v2/plan.h"

namespace detops::ops {

// cpu.cc
int64_t GenerateProposalsV2CpuWorkspace(const GenerateProposalsV2Plan& plan,
                                        const runtime::Device&);
cpu::SimdKernels<GenerateProposalsV2> GenerateProposalsV2Kernels();

std::span<const runtime::Implementation<GenerateProposalsV2>> GenerateProposalsV2::Table() {
  static const auto table = cpu::Table<GenerateProposalsV2>(
      GenerateProposalsV2Kernels(), GenerateProposalsV2CpuWorkspace,
      {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
       GenerateProposalsV2ReferenceWorkspace, GenerateProposalsV2Reference},
      SortUnsupported);
  return table;
}

}  // namespace detops::ops
