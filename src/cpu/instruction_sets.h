// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that vector kernels are compiled for.
#pragma once

#include <hwy/targets.h>

#include <array>
#include <cstdint>

namespace detops::cpu {

struct InstructionSet {
  const char* implementation;  // "cpu:avx2"; DETOPS_CPU takes the part after the colon
  const char* needs;           // why a processor without it can't run that implementation
  int64_t target;              // Highway's bit for it
};

// Widest first. Each build has those of its own architecture.
inline constexpr std::array kInstructionSets = {
    InstructionSet{"cpu:avx512", "needs AVX-512", HWY_AVX3},
    InstructionSet{"cpu:avx2", "needs AVX2", HWY_AVX2},
    InstructionSet{"cpu:sse4", "needs SSE4", HWY_SSE4},
    InstructionSet{"cpu:sve256", "needs SVE with vectors of 256 bits", HWY_SVE_256},
    InstructionSet{"cpu:neon", "needs NEON", HWY_NEON},
};

// The targets that DETOPS_CPU allows: those no wider than the one it names, or all of them where it
// is not set. The variable is read once. Throws BAD_PARAM where it names no instruction set of this
// architecture.
int64_t AllowedTargets();

// Null if the processor has the instruction set and DETOPS_CPU allows it; else why not, in a few
// words.
const char* WhyUnusable(const InstructionSet& set);

}  // namespace detops::cpu
