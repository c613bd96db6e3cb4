// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/border_align_forward/plan.h"
#include "runtime/cuda/plugin.h"

namespace detops::ops {

// cpu.cc
cpu::SimdKernels<BorderAlignForward> BorderAlignForwardKernels();
int64_t BorderAlignForwardCpuWorkspace(const BorderAlignForwardPlan& plan, const runtime::Device&);

std::span<const core::Implementation<BorderAlignForward>> BorderAlignForward::Table() {
  static const auto table = core::BestFirst(
      cuda::Row<BorderAlignForward, &cuda::Plugin::border_align_forward>(),
      cpu::Table<BorderAlignForward>(
          BorderAlignForwardKernels(), BorderAlignForwardCpuWorkspace,
          {"cpu:reference", runtime::Backend::kCpu, core::UsableEverywhere, core::SupportsAll<Plan>,
           core::NoWorkspace<Plan>, BorderAlignForwardReference}));
  return table;
}

}  // namespace detops::ops
