// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/poly_nms/plan.h"

namespace detops::ops {

// cpu.cc
int64_t PolyNmsCpuWorkspace(const PolyNmsPlan& plan, const runtime::Device&);
cpu::SimdKernels<PolyNms> PolyNmsKernels();

std::span<const runtime::Implementation<PolyNms>> PolyNms::Table() {
  // Sixteen lanes are seldom full: with AVX-512 it takes 5 % longer on Intel, and as long on AMD.
  static const auto table = cpu::Prefer(
      "cpu:avx2",
      cpu::Table<PolyNms>(PolyNmsKernels(), PolyNmsCpuWorkspace,
                          {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
                           PolyNmsReferenceWorkspace, PolyNmsReference}));
  return table;
}

}  // namespace detops::ops
