// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/generate_proposals_v2/plan.h"
#include "runtime/cuda/plugin.h"

namespace detops::ops {

// cpu.cc
int64_t GenerateProposalsV2CpuWorkspace(const GenerateProposalsV2Plan& plan,
                                        const runtime::Device&);
cpu::SimdKernels<GenerateProposalsV2> GenerateProposalsV2Kernels();

namespace {

const char* SortUnsupported(const GenerateProposalsV2Plan& plan) {
  return plan.anchors < (int64_t{1} << 31) ? nullptr : "sorts keys with 32-bit indices";
}

}  // namespace

std::span<const core::Implementation<GenerateProposalsV2>> GenerateProposalsV2::Table() {
  static const auto table = core::BestFirst(
      cuda::Row<GenerateProposalsV2, &cuda::Plugin::generate_proposals_v2>(SortUnsupported),
      cpu::Table<GenerateProposalsV2>(
          GenerateProposalsV2Kernels(), GenerateProposalsV2CpuWorkspace,
          {"cpu:reference", runtime::Backend::kCpu, core::UsableEverywhere, core::SupportsAll<Plan>,
           GenerateProposalsV2ReferenceWorkspace, GenerateProposalsV2Reference},
          SortUnsupported));
  return table;
}

}  // namespace detops::ops
