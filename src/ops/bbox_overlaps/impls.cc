// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/bbox_overlaps/plan.h"

namespace detops::ops {

cpu::SimdKernels<BboxOverlaps> BboxOverlapsKernels();  // cpu.cc

std::span<const runtime::Implementation<BboxOverlaps>> BboxOverlaps::Table() {
  static const auto table = cpu::Table<BboxOverlaps>(
      BboxOverlapsKernels(), runtime::NoWorkspace<Plan>,
      {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
       runtime::NoWorkspace<Plan>, BboxOverlapsReference});
  return table;
}

}  // namespace detops::ops
