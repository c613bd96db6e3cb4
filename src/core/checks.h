// SPDX-License-Identifier: Apache-2.0
//
// The checks that plans are made of. Each throws a Failure whose text names the argument, what came
// and what was expected.
#pragma once

#include <cstddef>
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

// An argument that points to data, and what its address must be a multiple of.
struct PointerArg {
  template <class T>
  PointerArg(const char* argument, const T* to) : PointerArg(argument, to, alignof(T)) {}
  // Data whose type the caller chooses are bytes to C++; here the size of an element says more.
  PointerArg(const char* argument, const void* to, size_t multiple = 1)
      : name(argument), pointer(to), alignment(multiple) {}
  PointerArg(const char* argument, const void* to, mluOpDataType_t dtype)
      : PointerArg(argument, to, static_cast<size_t>(DtypeBytes(dtype))) {}

  const char* name;
  const void* pointer;
  size_t alignment;
};
// None is null or at an address where its data can't be. That holds for host and device alike, and
// for processors that would forgive it.
void RequirePointers(std::initializer_list<PointerArg> pointers);

}  // namespace detops::core
