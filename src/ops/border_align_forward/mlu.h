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

// Lines of pixels of one map in SRAM, rows of it or columns, from one end of the map to the other.
// After each line its last pixel again, since samples there have one behind it, too, and two
// pixels that are zero in the first two lines, for samples outside of the map.
struct BorderAlignBand {
  int64_t first_line;
  int lines;  // that samples may lie on; the one behind them is there, too
  int line_pixels, zero_pixel;
  int pixel_bytes;
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

  bool in_sram;       // the maps' bands, else corners are read from GDRAM
  int band_lines[2];  // of borders along x and along y
  int bands[2];       // of a map
  int slices;         // of the boxes of an image, when they are sorted by bands
  int64_t slice;
  uint32_t* counts;  // [images,4,slices,most bands] boxes of a slice that are in a band
  uint32_t* starts;  // [images,4,most bands + 1] where in the order the boxes of a band start
  int32_t* order;    // [images,4,boxes] boxes sorted by bands, where there are several
};

template <int kArch>
void LaunchBorderAlign(const mlu::Grid& grid, const BorderAlignMlu& call);
template <>
void LaunchBorderAlign<592>(const mlu::Grid& grid, const BorderAlignMlu& call);
template <>
void LaunchBorderAlign<372>(const mlu::Grid& grid, const BorderAlignMlu& call);

}  // namespace detops::ops
