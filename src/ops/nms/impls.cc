// SPDX-License-Identifier: Apache-2.0
#include "cpu/simd.h"
#include "ops/nms/plan.h"

namespace detops::ops {

// cpu.cc
int64_t NmsCpuWorkspace(const NmsPlan& plan, const runtime::Device&);
cpu::SimdKernels<Nms> NmsKernels();

std::span<const runtime::Implementation<Nms>> Nms::Table() {
  static const auto table =
      cpu::Table<Nms>(NmsKernels(), NmsCpuWorkspace,
                      {"cpu:reference", runtime::UsableEverywhere, runtime::SupportsAll<Plan>,
                       NmsReferenceWorkspace, NmsReference});
  return table;
}

}  // namespace detops::ops
