// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"
#include "runtime/cuda/plugin.h"

namespace detops::ops {

cpu::SimdKernels<BboxOverlaps> BboxOverlapsKernels();  // cpu.cc

std::span<const core::Implementation<BboxOverlaps>> BboxOverlaps::Table() {
  static const auto table =
      core::BestFirst(cuda::Row<BboxOverlaps, &cuda::Plugin::bbox_overlaps>(),
                      cpu::Table<BboxOverlaps>(BboxOverlapsKernels(), core::NoWorkspace<Plan>,
                                               {"cpu:reference", runtime::Backend::kCpu,
                                                core::UsableEverywhere, core::SupportsAll<Plan>,
                                                core::NoWorkspace<Plan>, BboxOverlapsReference}));
  return table;
}

}  // namespace detops::ops
