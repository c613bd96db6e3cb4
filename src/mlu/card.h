// SPDX-License-Identifier: Apache-2.0
//
// What host code and kernels tell each other about a launch. Kernels are compiled once per card:
// DETOPS_MLU_ARCH says for which, and each operator's mlu.mlu specialises its launch functions for
// that card. C++17, without the library's headers: the vendor's compiler takes it.
#pragma once

#include <cnrt.h>

namespace detops::mlu {

// The clusters of the widest union task of a card: all of an MLU370, two thirds of an MLU590.
inline int UnionClusters(int clusters) {
  return clusters >= 8 ? 8 : clusters >= 4 ? 4 : clusters >= 2 ? 2 : 1;
}

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
  // One union task, as wide as the card allows.
  int team_cores() const { return UnionClusters(clusters) * cores_per_cluster; }
  cnrtDim3_t Team() const { return {static_cast<unsigned>(team_cores()), 1, 1}; }
  cnrtFunctionType_t TeamType() const {
    const int union_clusters = UnionClusters(clusters);
    return union_clusters == 8   ? cnrtFuncTypeUnion8
           : union_clusters == 4 ? cnrtFuncTypeUnion4
           : union_clusters == 2 ? cnrtFuncTypeUnion2
                                 : cnrtFuncTypeUnion1;
  }
  // Tasks of one core each.
  cnrtDim3_t Blocks(int count) const { return {static_cast<unsigned>(count), 1, 1}; }
};

}  // namespace detops::mlu
