// SPDX-License-Identifier: Apache-2.0
//
// The best scores of lists, chosen without sorting the others.
#pragma once

#include <cstdint>

#include "core/workspace.h"
#include "runtime/cuda/launch.h"

namespace detops::cuda {

// Memory for choosing from some lists.
class BestScores {
 public:
  BestScores() = default;
  BestScores(core::WorkspaceLayout& layout, int64_t lists);

  // Of each list in scores[list][count], writes the `wanted` best to chosen[list][wanted] as keys
  // with indices (cuda/sort.h), in any order. Ties go to the lower index.
  void Choose(Launcher& launch, const float* scores, int64_t lists, int64_t count, int64_t wanted,
              uint64_t* chosen) const;

  static constexpr int kDigitBits = 11;
  static constexpr int kDigits = 1 << kDigitBits;

  // What is known of a list, once some digits of the worst score wanted are known.
  struct Search {
    uint64_t prefix;           // these digits, and zeros
    uint64_t last;             // keys up to this one are wanted, as far as is known
    int64_t wanted;            // of the keys with this prefix
    int32_t found;             // `last` is final
    uint32_t blocks;           // that have counted the present digit
    uint32_t written;          // keys chosen
    uint32_t counts[kDigits];  // of the present digit
  };

 private:
  Search* searches_ = nullptr;  // [lists]
};

}  // namespace detops::cuda
