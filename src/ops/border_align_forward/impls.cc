// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/border_align_forward/plan.h"
#include "runtime/cuda/plugin.h"

namespace detops::ops {

cpu::SimdKernels<BorderAlignForward> BorderAlignForwardKernels();  // cpu.cc

std::span<const core::Implementation<BorderAlignForward>> BorderAlignForward::Table() {
  static const auto table =
      core::BestFirst(cuda::Row<BorderAlignForward, &cuda::Plugin::border_align_forward>(),
                      cpu::Table<BorderAlignForward>(
                          BorderAlignForwardKernels(), core::NoWorkspace<Plan>,
                          {"cpu:reference", runtime::Backend::kCpu, core::SupportsAll<Plan>,
                           core::NoWorkspace<Plan>, BorderAlignForwardReference}));
  return table;
}

}  // namespace detops::ops
