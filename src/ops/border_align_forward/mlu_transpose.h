// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "mlu/card.h"

namespace detops::ops::border_align {

// dst [planes][columns][rows] = src [planes][rows][columns], elements of 2 or 4 bytes.
struct Transposition {
  const void* src;
  void* dst;
  int64_t planes, rows, columns;
  int element_bytes;
};

template <int kArch>
void LaunchTranspose(const mlu::Grid& grid, const Transposition& call);
template <>
void LaunchTranspose<592>(const mlu::Grid& grid, const Transposition& call);
template <>
void LaunchTranspose<372>(const mlu::Grid& grid, const Transposition& call);

}  // namespace detops::ops::border_align
