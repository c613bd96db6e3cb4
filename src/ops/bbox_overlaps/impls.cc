// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"

namespace detops::ops {

// cpu.cc
cpu::SimdKernels<BboxOverlaps> BboxOverlapsKernels();
decltype(runtime::Implementation<BboxOverlaps>::run) BboxOverlapsRowPairsKernel();

namespace {

auto MakeTable() {
  using Plan = BboxOverlapsPlan;
  auto table = cpu::Table<BboxOverlaps>(
      BboxOverlapsKernels(), runtime::NoWorkspace<Plan>,
      {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
       runtime::NoWorkspace<Plan>, BboxOverlapsReference});
  if (BboxOverlapsRowPairsKernel() != nullptr) {
    static constexpr cpu::InstructionSet kAvx512 = cpu::kInstructionSets[0];
    static_assert(kAvx512.target == HWY_AVX3);
    table.insert(table.begin(), {"cpu:avx512-row-pairs", [] { return cpu::WhyUnusable(kAvx512); },
                                 runtime::SupportsAll<Plan>, runtime::NoWorkspace<Plan>,
                                 BboxOverlapsRowPairsKernel()});
  }
  return table;
}

}  // namespace

std::span<const runtime::Implementation<BboxOverlaps>> BboxOverlaps::Table() {
  static const auto table = MakeTable();
  return table;
}

}  // namespace detops::ops
