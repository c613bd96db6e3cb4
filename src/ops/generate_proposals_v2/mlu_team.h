// SPDX-License-Identifier: Apache-2.0
//
// The cores that work on one image, and the memory by which they do. For kernels only.
#pragma once

#include "mlu/team.h"
#include "ops/generate_proposals_v2/mlu.h"

namespace detops::ops {

using Call = GenerateProposalsV2Mlu;

struct Quad {
  float v[4];
};

// kOneCluster: what they share is in SRAM, else in GDRAM.
template <bool kOneCluster>
struct ImageTeam {
  mlu::Team team;
  Call::Shared shared;
  int64_t image;
  int64_t exchanges = 0;  // so far

  __mlu_func__ void Sync() const { team.Sync(); }

  // From and to shared memory. Loads are done after Wait.
  template <class T>
  __mlu_func__ void StartLoad(T* dst, const T* src, int64_t count) const {
    if constexpr (kOneCluster) {
      __memcpy_async(dst, src, count * sizeof(T), SRAM2NRAM);
    } else {
      __memcpy_async(dst, src, count * sizeof(T), GDRAM2NRAM);
    }
  }
  __mlu_func__ void Wait() const {
    if constexpr (kOneCluster) {
      __sync_move();
    } else {
      __sync_io();
    }
  }
  template <class T>
  __mlu_func__ void Load(T* dst, const T* src, int64_t count) const {
    StartLoad(dst, src, count);
    Wait();
  }
  template <class T>
  __mlu_func__ void Store(T* dst, const T* src, int64_t count) const {
    if constexpr (kOneCluster) {
      __memcpy(dst, src, count * sizeof(T), NRAM2SRAM);
    } else {
      __memcpy(dst, src, count * sizeof(T), NRAM2GDRAM);
    }
  }

  // What all cores give to it, by core, in `counts` [kMostCores]. Returns the sum.
  __mlu_func__ int64_t Exchange(int64_t mine, int64_t* counts) {
    int64_t* const all = shared.counts + exchanges++ % 2 * Call::kMostCores;
    counts[0] = mine;
    Store(all + team.core, counts, 1);
    Sync();
    Load(counts, all, team.cores);
    int64_t sum = 0;
    for (int i = 0; i < team.cores; ++i) sum += counts[i];
    return sum;
  }
};

}  // namespace detops::ops
