// SPDX-License-Identifier: Apache-2.0
#include "cpu/instruction_sets.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/status.h"

namespace detops::cpu {
namespace {

std::string_view NameOf(const InstructionSet& set) {
  return std::string_view(set.implementation).substr(sizeof("cpu:") - 1);
}

// Highway gives wider targets lower bits.
int64_t ReadAllowedTargets() {
  const char* widest = std::getenv("DETOPS_CPU");
  if (widest == nullptr || *widest == '\0') return ~int64_t{0};
  std::string names;
  for (const InstructionSet& set : kInstructionSets) {
    if ((HWY_TARGETS & set.target) == 0) continue;
    if (NameOf(set) == widest) return ~(set.target - 1);
    names += core::Concat(names.empty() ? "" : ", ", NameOf(set));
  }
  core::BadParam("DETOPS_CPU: is \"", widest,
                 "\", expected the widest instruction set to use: ", names);
}

}  // namespace

int64_t AllowedTargets() {
  static const int64_t allowed = ReadAllowedTargets();
  return allowed;
}

const char* WhyUnusable(const InstructionSet& set) {
  static const int64_t supported = hwy::SupportedTargets();  // asks the processor: slow
  if ((supported & set.target) == 0) return set.needs;
  return (AllowedTargets() & set.target) == 0 ? "not allowed by DETOPS_CPU" : nullptr;
}

}  // namespace detops::cpu
