// SPDX-License-Identifier: Apache-2.0
//
// Any strides to row-major, on the device.
#pragma once

#include <stdint.h>

#include "mlu/card.h"

namespace detops::mlu {

struct StridedTensor {
  int rank, element_bytes;
  int64_t count;
  int64_t dims[8], strides[8];  // strides in elements
};

template <int kArch>
void LaunchMakeContiguous(const Grid& grid, const StridedTensor& tensor, const void* src,
                          void* dst);
template <>
void LaunchMakeContiguous<372>(const Grid& grid, const StridedTensor& tensor, const void* src,
                               void* dst);
template <>
void LaunchMakeContiguous<592>(const Grid& grid, const StridedTensor& tensor, const void* src,
                               void* dst);

}  // namespace detops::mlu
