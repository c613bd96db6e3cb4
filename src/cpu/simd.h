// SPDX-License-Identifier: Apache-2.0
//
// One vector source, compiled for several instruction sets, as rows of the table.
//
// A kernel file (cpu.cc) is written with Highway: foreach_target.h compiles its HWY_NAMESPACE once
// for each target, and after that, in the part under HWY_ONCE, DETOPS_SIMD_KERNELS(Run) is the list
// of what came out. Table() makes a row of each, "cpu:avx512" and so on; at run time a row is
// refused where the machine lacks the instructions.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <vector>

#include "core/implementation.h"
#include "cpu/threads.h"

namespace detops::cpu {

// Null where this build's architecture has no such target.
template <class Op>
struct SimdKernels {
  using Run = decltype(core::Implementation<Op>::run);
  Run avx512, avx2, sse4, sve256, neon;
};

// To be used in a file that includes hwy/highway.h.
#define DETOPS_SIMD_KERNELS(run)                                                               \
  {                                                                                            \
    HWY_CHOOSE_AVX3(run), HWY_CHOOSE_AVX2(run), HWY_CHOOSE_SSE4(run), HWY_CHOOSE_SVE_256(run), \
        HWY_CHOOSE_NEON(run)                                                                   \
  }

inline bool MachineHas(int64_t target) {
  static const int64_t supported = hwy::SupportedTargets();  // asks the processor: slow
  return (supported & target) != 0;
}

template <class Op>
using Unsupported = const char* (*)(const typename Op::Plan&);

template <class Op, int64_t kTarget, Unsupported<Op> kUnsupported>
const char* UnsupportedOn(const typename Op::Plan& plan) {
  if (!MachineHas(kTarget)) return "needs instructions that this processor lacks";
  return kUnsupported(plan);
}

// Best first, the reference last. kUnsupported is what the kernels refuse on any machine.
template <class Op, Unsupported<Op> kUnsupported = core::SupportsAll<typename Op::Plan>>
std::vector<core::Implementation<Op>> Table(const SimdKernels<Op>& kernels,
                                            decltype(core::Implementation<Op>::workspace) workspace,
                                            const core::Implementation<Op>& reference) {
  constexpr auto kCpu = runtime::Backend::kCpu;
  const core::Implementation<Op> all[] = {
      {"cpu:avx512", kCpu, UnsupportedOn<Op, HWY_AVX3, kUnsupported>, workspace, kernels.avx512},
      {"cpu:avx2", kCpu, UnsupportedOn<Op, HWY_AVX2, kUnsupported>, workspace, kernels.avx2},
      {"cpu:sse4", kCpu, UnsupportedOn<Op, HWY_SSE4, kUnsupported>, workspace, kernels.sse4},
      {"cpu:sve256", kCpu, UnsupportedOn<Op, HWY_SVE_256, kUnsupported>, workspace, kernels.sve256},
      {"cpu:neon", kCpu, UnsupportedOn<Op, HWY_NEON, kUnsupported>, workspace, kernels.neon},
  };
  std::vector<core::Implementation<Op>> table;
  for (const core::Implementation<Op>& row : all) {
    if (row.run != nullptr) table.push_back(row);
  }
  table.push_back(reference);
  return table;
}

}  // namespace detops::cpu
