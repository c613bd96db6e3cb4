// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/border_align_forward/plan.h"

namespace detops::ops {

// cpu.cc
cpu::SimdKernels<BorderAlignForward> BorderAlignForwardKernels();
int64_t BorderAlignForwardCpuWorkspace(const BorderAlignForwardPlan& plan, const runtime::Device&);

std::span<const runtime::Implementation<BorderAlignForward>> BorderAlignForward::Table() {
  static const auto table = cpu::Table<BorderAlignForward>(
      BorderAlignForwardKernels(), BorderAlignForwardCpuWorkspace,
      {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
       runtime::NoWorkspace<Plan>, BorderAlignForwardReference});
  return table;
}

}  // namespace detops::ops
