// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/poly_nms/plan.h"
#include "runtime/cuda/plugin.h"

namespace detops::ops {

// cpu.cc
int64_t PolyNmsCpuWorkspace(const PolyNmsPlan& plan, const runtime::Device&);
cpu::SimdKernels<PolyNms> PolyNmsKernels();

std::span<const core::Implementation<PolyNms>> PolyNms::Table() {
  static const auto table = core::BestFirst(
      cuda::Row<PolyNms, &cuda::Plugin::poly_nms>(),
      cpu::Table<PolyNms>(PolyNmsKernels(), PolyNmsCpuWorkspace,
                          {"cpu:reference", runtime::Backend::kCpu, core::UsableEverywhere,
                           core::SupportsAll<Plan>, PolyNmsReferenceWorkspace, PolyNmsReference}));
  return table;
}

}  // namespace detops::ops
