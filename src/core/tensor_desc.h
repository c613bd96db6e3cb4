// SPDX-License-Identifier: Apache-2.0
//
// The struct behind mluOpTensorDescriptor_t.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "mlu_op.h"

struct mluOpTensorStruct {
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  int rank = 0;
  std::array<int64_t, MLUOP_DIM_MAX> dims = {};
  std::array<int64_t, MLUOP_DIM_MAX> strides = {};  // in elements
  mluOpPointerMode_t pointer_mode = MLUOP_POINTER_MODE_DEVICE;
  bool is_scalar = false;  // set with no dims, in HOST pointer mode

  // Kept for clients; none of the operators reads them.
  mluOpDataType_t onchip_dtype = MLUOP_DTYPE_INVALID;
  int position = 0;
  float scale = 1.0f;
  int offset = 0;

  int64_t ElementCount() const;
  // Strides of dims that are 1, and all of an empty tensor's, don't matter.
  bool IsContiguous() const;
};

namespace detops::core {

const char* DtypeName(mluOpDataType_t dtype);  // "FLOAT"; "unknown" for no enumerator
const char* LayoutName(mluOpTensorLayout_t layout);
int64_t DtypeBytes(mluOpDataType_t dtype);  // 0 for INVALID and for no enumerator

// Checks everything, then changes the descriptor; null strides mean row-major ones.
void SetTensor(mluOpTensorStruct& desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int rank,
               const int64_t* dims, const int64_t* strides);

}  // namespace detops::core
