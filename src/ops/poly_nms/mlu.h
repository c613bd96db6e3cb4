// SPDX-License-Identifier: Apache-2.0
//
// Between the host side (mlu.cc) and the kernels (mlu.mlu).
#pragma once

#include <stdint.h>

#include "mlu/card.h"
#include "mlu/nms_buffers.h"
#include "mlu/sort_buffers.h"
#include "ops/poly_nms/mlu_record.h"

namespace detops::ops {

struct PolyNmsMlu {
  int64_t count;
  float threshold;
  const float* boxes;   // [count,9] x1 y1 x2 y2 x3 y3 x4 y4 score
  int32_t* output;      // [count]
  int32_t* result_num;  // [1]

  static constexpr int kLineFloats = 512;

  // The workspace.
  poly_nms_mlu::QuadRecord* records;  // [count]
  float* lines;                       // [kLineFloats] of the spatial order
  mlu::SortBuffers sort;
  mlu::NmsBuffers nms;

  template <class Layout>
  static PolyNmsMlu Make(Layout& layout, int64_t count, int cores) {
    PolyNmsMlu result = {};
    result.count = count;
    result.records = layout.template Array<poly_nms_mlu::QuadRecord>(count);
    result.lines = layout.template Array<float>(kLineFloats);
    result.sort = mlu::SortBuffers::Make(layout, count, cores);
    result.nms = mlu::NmsBuffers::Make(layout, count, cores);
    return result;
  }
};

template <int kArch>
void LaunchPolyNms(const mlu::Grid& grid, const PolyNmsMlu& call);
template <>
void LaunchPolyNms<592>(const mlu::Grid& grid, const PolyNmsMlu& call);
template <>
void LaunchPolyNms<372>(const mlu::Grid& grid, const PolyNmsMlu& call);

}  // namespace detops::ops
