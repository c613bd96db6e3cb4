// SPDX-License-Identifier: Apache-2.0
//
// Between the host side (mlu.cc) and the kernels (mlu.mlu).
#pragma once

#include <stdint.h>

#include "math/host_device.h"
#include "mlu/card.h"

namespace detops::ops {

struct GenerateProposalsV2Mlu {
  static constexpr int kMostCores = 32;  // of a team: those of eight clusters
  static constexpr int kBatch = 4096;    // candidates that are suppressed at a time, at most
  static constexpr int kChunk = 256;     // of those, compared with each other at once
  static constexpr int kSample = 2048;   // scores that tell how many are above another one
  static constexpr int kBitWords = kChunk / 32;  // of a chunk's row

  // What the cores of a team, which work on one image, tell each other: in the SRAM of their
  // cluster or, if they are of several, in GDRAM.
  struct Shared {
    int32_t* sample;   // [kSample] ranks of scores
    int64_t* counts;   // [2, kMostCores]
    int32_t* ranks;    // [batch] of the candidates, in the order of their indices
    int32_t* indices;  // [batch]
    float* boxes;      // [batch, 4] in the order of scores
    float* scores;     // [batch]
    float* boxed;      // [batch] 1 where there is one
    float* compared;   // [batch] the same, after the comparison with earlier batches
    int32_t* near;     // [kMostCores, kBatch / 32] which boxes are near others, by each core
    int32_t* rows;     // [2, kChunk, kBitWords + 1] what cores found out about a chunk's rows

    template <class Layout>
    static DETOPS_HD Shared Make(Layout& layout, int64_t batch) {
      Shared m = {};
      m.sample = layout.template Array<int32_t>(kSample);
      m.counts = layout.template Array<int64_t>(2 * kMostCores);
      m.ranks = layout.template Array<int32_t>(batch);
      m.indices = layout.template Array<int32_t>(batch);
      m.boxes = layout.template Array<float>(4 * batch);
      m.scores = layout.template Array<float>(batch);
      m.boxed = layout.template Array<float>(batch);
      m.compared = layout.template Array<float>(batch);
      m.near = layout.template Array<int32_t>(kMostCores * kBatch / 32);
      m.rows = layout.template Array<int32_t>(2 * kChunk * (kBitWords + 1));
      return m;
    }
  };

  // A team's results, unless they are those of the first image, which go where they belong.
  struct Kept {
    float* boxes;    // [most, 4]
    float* scores;   // [most]
    int64_t* count;  // [1]
  };

  int64_t images, anchors, candidates, most;  // of an image but for the first: see plan.h
  float nms_thresh, offset;
  float smallest;               // side of a box that is not dropped
  float area_least, area_most;  // for mlu_overlap.h
  const float* scores;
  const float* bbox_deltas;
  const float* im_shape;
  const float* anchor_boxes;
  const float* variances;
  float* rois;
  float* probs;
  int32_t* rois_num;
  int32_t* batch_size;

  int64_t first;        // image of the first team
  int teams, clusters;  // of a team
  Shared shared;        // of the first team, in GDRAM
  Kept kept;            // the same
  int64_t team_bytes;   // from the memory of one team to that of the next
  int64_t* totals;      // [2] results of all images before; totals[slot] is this launch's
  int slot;
};

// Several images at once, one per team.
template <int kArch>
void LaunchProposals(const mlu::Grid& grid, const GenerateProposalsV2Mlu& call);
template <>
void LaunchProposals<592>(const mlu::Grid& grid, const GenerateProposalsV2Mlu& call);
template <>
void LaunchProposals<372>(const mlu::Grid& grid, const GenerateProposalsV2Mlu& call);

}  // namespace detops::ops
