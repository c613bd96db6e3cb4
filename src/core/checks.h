// SPDX-License-Identifier: Apache-2.0
//
// The checks that plans are made of. Each throws a Failure whose text names the argument, what came
// and what was expected.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/status.h"
#include "core/tensor_desc.h"

namespace detops::core {

// A tensor argument of an operator: `name` is the data argument's; its descriptor's is name_desc.
struct TensorArg {
  const char* name;
  const mluOpTensorStruct* desc;

  int64_t dim(int i) const { return desc->dims[i]; }
};

void RequireDescriptors(std::initializer_list<TensorArg> tensors);
void RequireDtype(const TensorArg& tensor, std::initializer_list<mluOpDataType_t> allowed);
void RequireSameDtype(const TensorArg& tensor, const TensorArg& as);
void RequireLayout(const TensorArg& tensor, mluOpTensorLayout_t expected);
void RequireRank(const TensorArg& tensor, int expected);
void RequireDim(const TensorArg& tensor, int dim, int64_t expected);
// Rank and every dim.
void RequireShape(const TensorArg& tensor, std::initializer_list<int64_t> expected);
void RequireNotZero(const TensorArg& tensor, int dim);
// For tensors whose indices an int32 output must hold.
void RequireInt32Dim(const TensorArg& tensor, int dim);
void RequireContiguous(std::initializer_list<TensorArg> tensors);

struct PointerArg {
  const char* name;
  const void* pointer;
};
void RequirePointers(std::initializer_list<PointerArg> pointers);

}  // namespace detops::core
