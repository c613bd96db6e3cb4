// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_desc.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/checked_size.h"

int64_t mluOpTensorStruct::ElementCount() const {
  if (rank == 0) return is_scalar ? 1 : 0;
  const int64_t* end = dims.data() + rank;
  if (std::find(dims.data(), end, 0) != end) return 0;
  // SetTensor made sure that this can't overflow.
  return std::accumulate(dims.data(), end, int64_t{1}, std::multiplies<>());
}

bool mluOpTensorStruct::IsContiguous() const {
  if (ElementCount() == 0) return true;
  int64_t expected = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dims[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

namespace detops::core {
namespace {

struct DtypeFacts {
  mluOpDataType_t dtype;
  const char* name;
  int64_t bytes;
};

constexpr DtypeFacts kDtypes[] = {
    {MLUOP_DTYPE_INVALID, "INVALID", 0},
    {MLUOP_DTYPE_HALF, "HALF", 2},
    {MLUOP_DTYPE_FLOAT, "FLOAT", 4},
    {MLUOP_DTYPE_INT8, "INT8", 1},
    {MLUOP_DTYPE_INT16, "INT16", 2},
    {MLUOP_DTYPE_INT31, "INT31", 4},
    {MLUOP_DTYPE_INT32, "INT32", 4},
    {MLUOP_DTYPE_UINT8, "UINT8", 1},
    {MLUOP_DTYPE_BOOL, "BOOL", 1},
    {MLUOP_DTYPE_INT64, "INT64", 8},
    {MLUOP_DTYPE_UINT32, "UINT32", 4},
    {MLUOP_DTYPE_UINT64, "UINT64", 8},
    {MLUOP_DTYPE_UINT16, "UINT16", 2},
    {MLUOP_DTYPE_DOUBLE, "DOUBLE", 8},
    {MLUOP_DTYPE_COMPLEX_HALF, "COMPLEX_HALF", 4},
    {MLUOP_DTYPE_COMPLEX_FLOAT, "COMPLEX_FLOAT", 8},
    {MLUOP_DTYPE_BFLOAT16, "BFLOAT16", 2},
};

constexpr const char* kLayoutNames[] = {"NCHW", "NHWC", "HWCN", "NDHWC", "ARRAY", "NCDHW",
                                        "TNC",  "NTC",  "NC",   "NLC",   "NCL"};

const DtypeFacts* FindDtype(mluOpDataType_t dtype) {
  const auto* found = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                   [&](const DtypeFacts& f) { return f.dtype == dtype; });
  return found == std::end(kDtypes) ? nullptr : found;
}

bool IsLayout(mluOpTensorLayout_t layout) {
  return static_cast<unsigned>(layout) < std::size(kLayoutNames);
}

void RequireSizesFit(int rank, const int64_t* dims, mluOpDataType_t dtype) {
  if (std::any_of(dims, dims + rank, [](int64_t dim) { return dim == 0; })) return;
  int64_t bytes = std::max<int64_t>(DtypeBytes(dtype), 1);
  for (int i = 0; i < rank; ++i) bytes = CheckedMul(bytes, dims[i], "dimSize");
}

// Every element of a tensor that has some lies at an offset of 64 bits. The stride of a dim that is
// 1 leads nowhere.
void RequireOffsetsFit(int rank, const int64_t* dims, const int64_t* strides,
                       mluOpDataType_t dtype) {
  if (std::any_of(dims, dims + rank, [](int64_t dim) { return dim == 0; })) return;
  int64_t first = 0, last = 0;  // in elements
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 1) continue;
    const int64_t offset = CheckedMul(strides[i], dims[i] - 1, "dimStride");
    (offset < 0 ? first : last) = CheckedAdd(offset < 0 ? first : last, offset, "dimStride");
  }
  for (const int64_t offset : {first, last}) CheckedMul(offset, DtypeBytes(dtype), "dimStride");
}

}  // namespace

const char* DtypeName(mluOpDataType_t dtype) {
  const DtypeFacts* facts = FindDtype(dtype);
  return facts != nullptr ? facts->name : "unknown";
}

int64_t DtypeBytes(mluOpDataType_t dtype) {
  const DtypeFacts* facts = FindDtype(dtype);
  return facts != nullptr ? facts->bytes : 0;
}

const char* LayoutName(mluOpTensorLayout_t layout) {
  return IsLayout(layout) ? kLayoutNames[layout] : "unknown";
}

void SetTensor(mluOpTensorStruct& desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int rank,
               const int64_t* dims, const int64_t* strides) {
  if (!IsLayout(layout))
    BadParam("layout: ", static_cast<int>(layout), " is no mluOpTensorLayout_t");
  if (FindDtype(dtype) == nullptr || dtype == MLUOP_DTYPE_INVALID) {
    BadParam("dtype: ", static_cast<int>(dtype), " is no data type a tensor can have");
  }
  if (rank < 0 || rank > MLUOP_DIM_MAX) {
    BadParam("dimNb: is ", rank, ", expected 0 to ", MLUOP_DIM_MAX);
  }
  if (rank == 0 && desc.pointer_mode != MLUOP_POINTER_MODE_HOST) {
    BadParam("dimNb: is 0, which only a descriptor in MLUOP_POINTER_MODE_HOST may have");
  }
  if (rank > 0 && dims == nullptr) BadParam("dimSize: is null");
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0) BadParam("dimSize: dim ", i, " is ", dims[i], ", expected 0 or more");
  }
  RequireSizesFit(rank, dims, dtype);
  if (strides != nullptr) RequireOffsetsFit(rank, dims, strides, dtype);

  desc.layout = layout;
  desc.dtype = dtype;
  desc.rank = rank;
  desc.is_scalar = rank == 0;
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    desc.dims[i] = dims[i];
    desc.strides[i] = strides != nullptr ? strides[i] : stride;
    // Past an overflow only an empty tensor comes this way, whose strides don't matter.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(dims[i], 1), &stride)) stride = 1;
  }
}

}  // namespace detops::core
