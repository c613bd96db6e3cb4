// SPDX-License-Identifier: Apache-2.0
//
// One vector source, compiled for several instruction sets, each an implementation of its own.
//
// A kernel file (cpu.cc) is written with Highway: foreach_target.h compiles its HWY_NAMESPACE once
// for each target. After that, in the part under HWY_ONCE, DETOPS_SIMD_KERNELS(Run) lists the
// compiled kernels. Table() makes an implementation of each, "cpu:avx512" and so on; at run time an
// implementation is refused where the machine lacks the instructions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/instruction_sets.h"
#include "runtime/cpu/threads.h"
#include "runtime/implementation.h"

namespace detops::cpu {

// In the order of kInstructionSets; null where this build's architecture has no such target.
template <class Op>
using SimdKernels = std::array<decltype(runtime::Implementation<Op>::run), kInstructionSets.size()>;

// To be used in a file that includes hwy/highway.h.
#define DETOPS_SIMD_KERNELS(run)                                                                 \
  {                                                                                              \
    {                                                                                            \
      HWY_CHOOSE_AVX3(run), HWY_CHOOSE_AVX2(run), HWY_CHOOSE_SSE4(run), HWY_CHOOSE_SVE_256(run), \
          HWY_CHOOSE_NEON(run)                                                                   \
    }                                                                                            \
  }

template <class Op>
using Unsupported = const char* (*)(const typename Op::Plan&);

// Widest first, the reference last. `unsupported` says what the kernels refuse on any machine.
template <class Op>
std::vector<runtime::Implementation<Op>> Table(
    const SimdKernels<Op>& kernels, decltype(runtime::Implementation<Op>::workspace) workspace,
    const runtime::Implementation<Op>& reference,
    Unsupported<Op> unsupported = runtime::SupportsAll<typename Op::Plan>) {
  std::vector<runtime::Implementation<Op>> table;
  const auto add = [&]<size_t i>() {
    if (kernels[i] == nullptr) return;
    table.push_back({kInstructionSets[i].implementation,
                     [] { return WhyUnusable(kInstructionSets[i]); }, unsupported, workspace,
                     kernels[i]});
  };
  [&]<size_t... i>(std::index_sequence<i...>) { (add.template operator()<i>(), ...); }
  (std::make_index_sequence<kInstructionSets.size()>());
  table.push_back(reference);
  return table;
}

// The same table with that implementation first, where a build has it: wider is not always faster.
template <class Op>
std::vector<runtime::Implementation<Op>> Prefer(std::string_view name,
                                                std::vector<runtime::Implementation<Op>> table) {
  const auto found = std::ranges::find(table, name, &runtime::Implementation<Op>::name);
  if (found != table.end()) std::rotate(table.begin(), found, found + 1);
  return table;
}

}  // namespace detops::cpu
