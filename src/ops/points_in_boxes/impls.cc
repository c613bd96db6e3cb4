// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/points_in_boxes/plan.h"
#include "runtime/cuda/plugin.h"

namespace detops::ops {

// cpu.cc
int64_t PointsInBoxesCpuWorkspace(const PointsInBoxesPlan& plan, const runtime::Device&);
cpu::SimdKernels<PointsInBoxes> PointsInBoxesKernels();

std::span<const core::Implementation<PointsInBoxes>> PointsInBoxes::Table() {
  static const auto table =
      core::BestFirst(cuda::Row<PointsInBoxes, &cuda::Plugin::points_in_boxes>(),
                      cpu::Table<PointsInBoxes>(PointsInBoxesKernels(), PointsInBoxesCpuWorkspace,
                                                {"cpu:reference", runtime::Backend::kCpu,
                                                 core::UsableEverywhere, core::SupportsAll<Plan>,
                                                 core::NoWorkspace<Plan>, PointsInBoxesReference}));
  return table;
}

}  // namespace detops::ops
