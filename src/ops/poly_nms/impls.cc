// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/poly_nms/plan.h"

namespace detops::ops {

// cpu.cc
int64_t PolyNmsCpuWorkspace(const PolyNmsPlan& plan, const runtime::Device&);
cpu::SimdKernels<PolyNms> PolyNmsKernels();

std::span<const runtime::Implementation<PolyNms>> PolyNms::Table() {
  static const auto table =
      cpu::Table<PolyNms>(PolyNmsKernels(), PolyNmsCpuWorkspace,
                          {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
                           PolyNmsReferenceWorkspace, PolyNmsReference});
  return table;
}

}  // namespace detops::ops
