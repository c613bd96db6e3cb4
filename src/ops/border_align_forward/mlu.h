// SPDX-License-Identifier: Apache-2.0
//
// Between the host side (mlu.cc) and the kernels (mlu.mlu).
#pragma once

#include <stdint.h>

#include "mlu/card.h"

namespace detops::ops {

struct BorderAlignAxis {
  int64_t size;  // pixels
  float end;     // size as a float
  float last;    // size - 1 as a float: the nearest, and the least that is not below it
  float last_or_above;
};

struct BorderAlignMlu {
  int64_t images, channels, boxes;  // channels of a border, boxes of an image
  BorderAlignAxis axes[2];          // x, y
  int32_t pool_size;
  bool half;
  const void* input;     // [images,H,W,4*channels]
  const void* box_list;  // [images,boxes,4]
  void* output;          // [images,boxes,4,channels]
  int32_t* argmax;       // the same

  // How the work is cut, see README.md.
  int blocks, block;  // of channels of a border
  int batch;          // boxes that are blended together
  int group;          // boxes whose samples are found together, a multiple of batch
  int samples;        // that are found together; less than all only where group is batch
};

template <int kArch>
void LaunchBorderAlign(const mlu::Grid& grid, const BorderAlignMlu& call);
template <>
void LaunchBorderAlign<592>(const mlu::Grid& grid, const BorderAlignMlu& call);
template <>
void LaunchBorderAlign<372>(const mlu::Grid& grid, const BorderAlignMlu& call);

}  // namespace detops::ops
