// SPDX-License-Identifier: Apache-2.0
//
// What host code and kernels tell each other about a launch. Kernels are compiled once per card:
// DETOPS_MLU_ARCH says for which, and each operator's mlu.mlu specialises its launch functions for
// that card. C++17, without the library's headers: the vendor's compiler takes it.
#pragma once

#include <cnrt.h>

namespace detops::mlu {

// Where and how wide a kernel is launched.
struct Grid {
  cnrtQueue_t queue;  // the runtime's own
  int clusters;       // of the card
  int cores_per_cluster;

  int cores() const { return clusters * cores_per_cluster; }
  // Union tasks of one cluster each.
  cnrtDim3_t Unions(int count) const {
    return {static_cast<unsigned>(cores_per_cluster), static_cast<unsigned>(count), 1};
  }
  // Tasks of one core each.
  cnrtDim3_t Blocks(int count) const { return {static_cast<unsigned>(count), 1, 1}; }
};

}  // namespace detops::mlu
