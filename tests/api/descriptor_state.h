// SPDX-License-Identifier: Apache-2.0
//
// All that a descriptor's getters tell, to be compared as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "support/handle.h"

namespace detops::test {

struct DescriptorState {
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype, onchip_dtype;
  std::vector<int64_t> dims, strides;
  mluOpPointerMode_t pointer_mode;
  int position;
  float scale;
  int offset;
  size_t count;

  bool operator==(const DescriptorState&) const = default;
};

inline DescriptorState StateOf(mluOpTensorDescriptor_t desc) {
  DescriptorState state = {};
  std::array<int64_t, MLUOP_DIM_MAX> dims = {}, strides = {};
  int rank = 0;
  EXPECT_OK(mluOpGetTensorDescriptorEx_v2(desc, &state.layout, &state.dtype, &rank, dims.data(),
                                          strides.data()));
  state.dims.assign(dims.begin(), dims.begin() + rank);
  state.strides.assign(strides.begin(), strides.begin() + rank);
  EXPECT_OK(mluOpGetTensorDescriptorOnchipDataType(desc, &state.onchip_dtype));
  EXPECT_OK(mluOpGetTensorDescriptorPointerMode(desc, &state.pointer_mode));
  EXPECT_OK(mluOpGetTensorDescriptorPositionScaleAndOffset(desc, &state.position, &state.scale,
                                                           &state.offset));
  state.count = mluOpGetTensorElementNum(desc);
  return state;
}

}  // namespace detops::test
