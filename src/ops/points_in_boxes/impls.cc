// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/points_in_boxes/plan.h"

namespace detops::ops {

// cpu.cc
int64_t PointsInBoxesCpuWorkspace(const PointsInBoxesPlan& plan, const runtime::Device&);
cpu::SimdKernels<PointsInBoxes> PointsInBoxesKernels();

std::span<const runtime::Implementation<PointsInBoxes>> PointsInBoxes::Table() {
  static const auto table = cpu::Table<PointsInBoxes>(
      PointsInBoxesKernels(), PointsInBoxesCpuWorkspace,
      {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
       runtime::NoWorkspace<Plan>, PointsInBoxesReference});
  return table;
}

}  // namespace detops::ops
