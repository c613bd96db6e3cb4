// SPDX-License-Identifier: Apache-2.0
//
// The bytes describe a tensor with any strides, as buffers and DLPack tensors have them. The
// descriptor is refused and stays as it was, or gives back what it was given; detopsMakeContiguous
// then reads the elements and nothing else; and the Python module's check of what needs no copy is
// right.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "fuzz/bytes.h"
#include "fuzz/failure.h"
#include "fuzz/guarded_call.h"
#include "shape.h"

using namespace detops;
using fuzz::Bytes;
using fuzz::GuardedMemory;

namespace {

using Dims = std::array<int64_t, MLUOP_DIM_MAX>;
__extension__ typedef __int128 Wide;  // no sum of products of two int64 overflows

// More would take longer than the call that is tested.
constexpr Wide kMostElements = 4096, kMostReach = 1 << 16;

struct Type {
  int dtype;  // perhaps none that there is
  size_t bytes;
};
constexpr Type kTypes[] = {{MLUOP_DTYPE_INT8, 1},
                           {MLUOP_DTYPE_HALF, 2},
                           {MLUOP_DTYPE_FLOAT, 4},
                           {MLUOP_DTYPE_INT64, 8},
                           {MLUOP_DTYPE_INT32, 4},
                           {MLUOP_DTYPE_INVALID, 1},
                           {99, 1}};

struct Tensor {
  int rank;
  Dims dims, strides;

  // Of one that the library accepts, whose product fits unless a dim is 0.
  Wide Count() const {
    const std::span<const int64_t> all(dims.data(), static_cast<size_t>(rank));
    if (std::ranges::find(all, 0) != all.end()) return 0;
    return std::accumulate(all.begin(), all.end(), Wide{1}, std::multiplies<>());
  }
  // Of the element whose number in row-major order is `at`, from the first.
  Wide Offset(int64_t at) const {
    Wide offset = 0;
    for (int i = rank - 1; i >= 0; --i) {
      offset += Wide{at % dims[i]} * strides[i];
      at /= dims[i];
    }
    return offset;
  }
};

Tensor MakeTensor(Bytes& bytes) {
  Tensor tensor = {static_cast<int>(bytes.Below(11)) - 1, {}, {}};
  for (int i = 0; i < std::min(tensor.rank, MLUOP_DIM_MAX); ++i) {
    tensor.dims[i] = bytes.Below(8) < 7 ? bytes.Below(7) : bytes.Take<int64_t>();
    tensor.strides[i] = bytes.Below(8) < 7 ? bytes.Take<int8_t>() : bytes.Take<int64_t>();
  }
  return tensor;
}

void CheckReadBack(mluOpTensorDescriptor_t desc, const Tensor& tensor, mluOpDataType_t dtype) {
  mluOpTensorLayout_t layout;
  mluOpDataType_t got_dtype;
  Tensor got = {0, {}, {}};
  schema::Require(mluOpGetTensorDescriptorEx_v2(desc, &layout, &got_dtype, &got.rank,
                                                got.dims.data(), got.strides.data()));
  if (got_dtype != dtype || got.rank != tensor.rank || got.dims != tensor.dims ||
      got.strides != tensor.strides) {
    fuzz::Fail("a descriptor gives back something else");
  }
  if (static_cast<Wide>(mluOpGetTensorElementNum(desc)) != tensor.Count()) {
    fuzz::Fail("a descriptor counts other elements");
  }
}

void CheckRowMajor(const Tensor& tensor) {
  python::Shape shape(tensor.rank), strides(tensor.rank);
  for (int i = 0; i < tensor.rank; ++i) {
    shape[i] = tensor.dims[i];
    strides[i] = tensor.strides[i];
  }
  if (!python::IsRowMajor(shape, strides)) return;
  for (int64_t at = 0; at < std::min(tensor.Count(), kMostElements); ++at) {
    if (tensor.Offset(at) != at) fuzz::Fail("a tensor that is not row-major needs a copy");
  }
}

void CheckCopy(mluOpTensorDescriptor_t desc, const Tensor& tensor, size_t size,
               GuardedMemory::Edge edge) {
  const Wide wide_count = tensor.Count();
  if (wide_count == 0 || wide_count > kMostElements) return;
  Wide least = 0, most = 0;
  for (int i = 0; i < tensor.rank; ++i) {
    const Wide reach = Wide{tensor.dims[i] - 1} * tensor.strides[i];
    (reach < 0 ? least : most) += reach;
  }
  if (most - least > kMostReach) return;
  const auto count = static_cast<size_t>(wide_count);
  const auto first = static_cast<size_t>(-least);
  const GuardedMemory from(static_cast<size_t>(most - least + 1) * size, edge);
  const GuardedMemory to(count * size, edge);
  for (size_t i = 0; i < static_cast<size_t>(most - least + 1) * size; ++i) {
    from.data()[i] = static_cast<std::byte>(i * 37 + i / 251);
  }
  schema::Require(
      detopsMakeContiguous(fuzz::KeptHandle("", 1), desc, from.data() + first * size, to.data()));
  for (size_t at = 0; at < count; ++at) {
    const auto element = static_cast<size_t>(tensor.Offset(static_cast<int64_t>(at)) - least);
    if (std::memcmp(to.data() + at * size, from.data() + element * size, size) != 0) {
      fuzz::Fail("a copy has other elements");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  const Type type = bytes.OneOf(kTypes);
  const auto dtype = static_cast<mluOpDataType_t>(type.dtype);
  const auto edge = bytes.Below(2) == 0 ? GuardedMemory::Edge::kEnd : GuardedMemory::Edge::kBegin;
  const Tensor tensor = MakeTensor(bytes);
  const schema::Desc desc(MLUOP_DTYPE_HALF, {3});
  const mluOpStatus_t status = mluOpSetTensorDescriptorEx_v2(
      desc, MLUOP_LAYOUT_ARRAY, dtype, tensor.rank, tensor.dims.data(), tensor.strides.data());
  if (status != MLUOP_STATUS_SUCCESS) {
    CheckReadBack(desc, {1, {3}, {1}}, MLUOP_DTYPE_HALF);
    return 0;
  }
  CheckReadBack(desc, tensor, dtype);
  CheckRowMajor(tensor);
  CheckCopy(desc, tensor, type.bytes, edge);
  return 0;
}
