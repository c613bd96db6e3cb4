// SPDX-License-Identifier: Apache-2.0
#include "core/checks.h"

#include <algorithm>
#include <limits>

namespace detops::core {

void RequireDescriptors(std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors) {
    if (t.desc == nullptr) BadParam(t.name, "_desc: is null, expected a tensor descriptor");
  }
}

void RequireDtype(const TensorArg& tensor, std::initializer_list<mluOpDataType_t> allowed) {
  const mluOpDataType_t dtype = tensor.desc->dtype;
  if (std::find(allowed.begin(), allowed.end(), dtype) != allowed.end()) return;
  std::string names;
  for (mluOpDataType_t a : allowed)
    names += (names.empty() ? "" : " or ") + std::string(DtypeName(a));
  BadParam(tensor.name, ": dtype is ", DtypeName(dtype), ", expected ", names);
}

void RequireSameDtype(const TensorArg& tensor, const TensorArg& as) {
  if (tensor.desc->dtype == as.desc->dtype) return;
  BadParam(tensor.name, ": dtype is ", DtypeName(tensor.desc->dtype), ", expected ",
           DtypeName(as.desc->dtype), " as ", as.name, " has");
}

void RequireLayout(const TensorArg& tensor, mluOpTensorLayout_t expected) {
  if (tensor.desc->layout == expected) return;
  BadParam(tensor.name, ": layout is ", LayoutName(tensor.desc->layout), ", expected ",
           LayoutName(expected));
}

void RequireRank(const TensorArg& tensor, int expected) {
  if (tensor.desc->rank == expected) return;
  BadParam(tensor.name, ": has ", tensor.desc->rank, " dims, expected ", expected);
}

void RequireDim(const TensorArg& tensor, int dim, int64_t expected) {
  if (tensor.dim(dim) == expected) return;
  BadParam(tensor.name, ": dim ", dim, " is ", tensor.dim(dim), ", expected ", expected);
}

void RequireShape(const TensorArg& tensor, std::initializer_list<int64_t> expected) {
  RequireRank(tensor, static_cast<int>(expected.size()));
  int i = 0;
  for (int64_t dim : expected) RequireDim(tensor, i++, dim);
}

void RequireNotZero(const TensorArg& tensor, int dim) {
  if (tensor.dim(dim) != 0) return;
  BadParam(tensor.name, ": dim ", dim, " is 0, expected 1 or more");
}

void RequireInt32Dim(const TensorArg& tensor, int dim) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (tensor.dim(dim) <= kMost) return;
  BadParam(tensor.name, ": dim ", dim, " is ", tensor.dim(dim), ", expected at most ", kMost,
           ", what the int32 indices of the output can name");
}

void RequireContiguous(std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors) {
    if (t.desc->IsContiguous()) continue;
    Fail(MLUOP_STATUS_NOT_SUPPORTED, t.name,
         ": is not contiguous; copy it first (detopsMakeContiguous), or use the C++ API, which "
         "does");
  }
}

void RequirePointers(std::initializer_list<PointerArg> pointers) {
  for (const PointerArg& p : pointers) {
    if (p.pointer == nullptr) BadParam(p.name, ": is null, expected a pointer to its data");
    if (reinterpret_cast<uintptr_t>(p.pointer) % p.alignment != 0) {
      BadParam(p.name, ": is at an address that is no multiple of ", p.alignment,
               ", the size of its elements; copy the data to one that is");
    }
  }
}

}  // namespace detops::core
