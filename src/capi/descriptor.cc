// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "core/checks.h"
#include "core/tensor_desc.h"
#include "mlu_op.h"

using namespace detops;

namespace {

using Dims = std::array<int64_t, MLUOP_DIM_MAX>;

mluOpTensorStruct& RequireDesc(mluOpTensorDescriptor_t desc) {
  if (desc == nullptr) core::BadParam("desc: is null, expected a tensor descriptor");
  return *desc;
}

// Int clients' dims as int64; ranks out of range are left for SetTensor to refuse.
const int64_t* Widen(int rank, const int* values, Dims& wide) {
  if (values == nullptr) return nullptr;
  std::copy_n(values, std::clamp(rank, 0, MLUOP_DIM_MAX), wide.begin());
  return wide.data();
}

void RequireInts(const char* name, const mluOpTensorStruct& desc, const Dims& wide) {
  for (int i = 0; i < desc.rank; ++i) {
    if (wide[i] > std::numeric_limits<int>::max() || wide[i] < std::numeric_limits<int>::min()) {
      core::BadParam(name, ": dim ", i, " is ", wide[i], ", beyond an int; use the _v2 function");
    }
  }
}

void RequireStrides(int rank, const void* strides) {
  if (rank > 0 && strides == nullptr) core::BadParam("dimStride: is null");
}

// The Ex getters take no null.
void RequireAll(const void* layout, const void* dtype, const void* rank, const void* dims,
                const void* strides) {
  core::RequirePointers({{"layout", layout},
                         {"dtype", dtype},
                         {"dimNb", rank},
                         {"dimSize", dims},
                         {"dimStride", strides}});
}

// What the four getters share; null pointers are skipped.
void GetCommon(const mluOpTensorStruct& desc, mluOpTensorLayout_t* layout, mluOpDataType_t* dtype,
               int* rank) {
  if (layout != nullptr) *layout = desc.layout;
  if (dtype != nullptr) *dtype = desc.dtype;
  if (rank != nullptr) *rank = desc.rank;
}

// The arguments that both forms of mluOpSetGroupTensorDescriptors have.
struct Group {
  mluOpTensorDescriptor_t* const* descs;
  const mluOpTensorLayout_t* layouts;
  const mluOpDataType_t* dtypes;
  const int* ranks;
  int count;
};

template <class Size>
void SetGroup(const Group& group, const Size* sizes) {
  core::RequirePointers({{"group_desc", group.descs},
                         {"group_layout", group.layouts},
                         {"group_dtype", group.dtypes},
                         {"group_dimNb", group.ranks},
                         {"group_dimSize", sizes}});
  if (group.count < 0) core::BadParam("desc_num: is ", group.count, ", expected 0 or more");
  // Each is set for a trial first: all or none.
  for (const bool trial : {true, false}) {
    const Size* of_this = sizes;
    for (int i = 0; i < group.count; ++i) {
      core::RequirePointers({{"group_desc", group.descs[i]}});
      mluOpTensorStruct& desc = RequireDesc(*group.descs[i]);
      mluOpTensorStruct copy = desc;
      Dims dims = {};
      std::copy_n(of_this, std::clamp(group.ranks[i], 0, MLUOP_DIM_MAX), dims.begin());
      core::SetTensor(trial ? copy : desc, group.layouts[i], group.dtypes[i], group.ranks[i],
                      dims.data(), nullptr);
      of_this += group.ranks[i];
    }
  }
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t* desc) {
  return core::Guard("mluOpCreateTensorDescriptor", [&] {
    core::RequirePointers({{"desc", desc}});
    *desc = new mluOpTensorStruct;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc) {
  return core::Guard("mluOpDestroyTensorDescriptor", [&] { delete &RequireDesc(desc); });
}

mluOpStatus_t MLUOP_WIN_API mluOpCreateGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[],
                                                              const int desc_num) {
  return core::Guard("mluOpCreateGroupTensorDescriptors", [&] {
    core::RequirePointers({{"group_desc", group_desc}});
    if (desc_num < 0) core::BadParam("desc_num: is ", desc_num, ", expected 0 or more");
    for (int i = 0; i < desc_num; ++i) core::RequirePointers({{"group_desc", group_desc[i]}});
    // All or nothing: the callers' slots are filled once every allocation went well.
    const auto count = static_cast<size_t>(desc_num);
    const auto fresh = std::make_unique<std::unique_ptr<mluOpTensorStruct>[]>(count);
    for (size_t i = 0; i < count; ++i) fresh[i] = std::make_unique<mluOpTensorStruct>();
    for (size_t i = 0; i < count; ++i) *group_desc[i] = fresh[i].release();
  });
}

mluOpStatus_t MLUOP_WIN_API
mluOpDestroyGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[], const int desc_num) {
  return core::Guard("mluOpDestroyGroupTensorDescriptors", [&] {
    core::RequirePointers({{"group_desc", group_desc}});
    if (desc_num < 0) core::BadParam("desc_num: is ", desc_num, ", expected 0 or more");
    for (int i = 0; i < desc_num; ++i) {
      core::RequirePointers({{"group_desc", group_desc[i]}});
      RequireDesc(*group_desc[i]);
    }
    for (int i = 0; i < desc_num; ++i) delete *group_desc[i];
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[],
                                                           const mluOpTensorLayout_t group_layout[],
                                                           const mluOpDataType_t group_dtype[],
                                                           const int group_dimNb[],
                                                           const int group_dimSize[],
                                                           const int desc_num) {
  return core::Guard("mluOpSetGroupTensorDescriptors", [&] {
    SetGroup({group_desc, group_layout, group_dtype, group_dimNb, desc_num}, group_dimSize);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors_v2(
    mluOpTensorDescriptor_t* group_desc[], const mluOpTensorLayout_t group_layout[],
    const mluOpDataType_t group_dtype[], const int group_dimNb[], const int64_t group_dimSize[],
    const int desc_num) {
  return core::Guard("mluOpSetGroupTensorDescriptors_v2", [&] {
    SetGroup({group_desc, group_layout, group_dtype, group_dimNb, desc_num}, group_dimSize);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc,
                                                     mluOpTensorLayout_t layout,
                                                     mluOpDataType_t dtype, int dimNb,
                                                     const int dimSize[]) {
  return core::Guard("mluOpSetTensorDescriptor", [&] {
    Dims dims = {};
    core::SetTensor(RequireDesc(desc), layout, dtype, dimNb, Widen(dimNb, dimSize, dims), nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc,
                                                        mluOpTensorLayout_t layout,
                                                        mluOpDataType_t dtype, int dimNb,
                                                        const int64_t dimSize[]) {
  return core::Guard("mluOpSetTensorDescriptor_v2", [&] {
    core::SetTensor(RequireDesc(desc), layout, dtype, dimNb, dimSize, nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx(mluOpTensorDescriptor_t desc,
                                                       mluOpTensorLayout_t layout,
                                                       mluOpDataType_t dtype, int dimNb,
                                                       const int dimSize[], const int dimStride[]) {
  return core::Guard("mluOpSetTensorDescriptorEx", [&] {
    Dims dims = {}, strides = {};
    RequireStrides(dimNb, dimStride);
    core::SetTensor(RequireDesc(desc), layout, dtype, dimNb, Widen(dimNb, dimSize, dims),
                    Widen(dimNb, dimStride, strides));
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc,
                                                          mluOpTensorLayout_t layout,
                                                          mluOpDataType_t dtype, int dimNb,
                                                          const int64_t dimSize[],
                                                          const int64_t dimStride[]) {
  return core::Guard("mluOpSetTensorDescriptorEx_v2", [&] {
    RequireStrides(dimNb, dimStride);
    core::SetTensor(RequireDesc(desc), layout, dtype, dimNb, dimSize, dimStride);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim(mluOpTensorDescriptor_t desc, int dimNb,
                                                        const int* dimSize) {
  return core::Guard("mluOpSetTensorDescriptorDim", [&] {
    mluOpTensorStruct& tensor = RequireDesc(desc);
    Dims dims = {};
    core::SetTensor(tensor, tensor.layout, tensor.dtype, dimNb, Widen(dimNb, dimSize, dims),
                    nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim_v2(mluOpTensorDescriptor_t desc, int dimNb,
                                                           const int64_t* dimSize) {
  return core::Guard("mluOpSetTensorDescriptorDim_v2", [&] {
    mluOpTensorStruct& tensor = RequireDesc(desc);
    core::SetTensor(tensor, tensor.layout, tensor.dtype, dimNb, dimSize, nullptr);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc,
                                                                   mluOpDataType_t onchip_dtype) {
  return core::Guard("mluOpSetTensorDescriptorOnchipDataType",
                     [&] { RequireDesc(desc).onchip_dtype = onchip_dtype; });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc,
                                                             int position) {
  return core::Guard("mluOpSetTensorDescriptorPosition",
                     [&] { RequireDesc(desc).position = position; });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionAndScale(mluOpTensorDescriptor_t desc,
                                                                     int position, float scale) {
  return core::Guard("mluOpSetTensorDescriptorPositionAndScale", [&] {
    mluOpTensorStruct& tensor = RequireDesc(desc);
    tensor.position = position;
    tensor.scale = scale;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionScaleAndOffset(
    mluOpTensorDescriptor_t desc, int position, float scale, int offset) {
  return core::Guard("mluOpSetTensorDescriptorPositionScaleAndOffset", [&] {
    mluOpTensorStruct& tensor = RequireDesc(desc);
    tensor.position = position;
    tensor.scale = scale;
    tensor.offset = offset;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t pointer_mode) {
  return core::Guard("mluOpSetTensorDescriptorPointerMode", [&] {
    mluOpTensorStruct& tensor = RequireDesc(desc);
    if (pointer_mode != MLUOP_POINTER_MODE_HOST && pointer_mode != MLUOP_POINTER_MODE_DEVICE) {
      core::BadParam("pointer_mode: ", static_cast<int>(pointer_mode), " is no mluOpPointerMode_t");
    }
    tensor.pointer_mode = pointer_mode;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor(const mluOpTensorDescriptor_t desc,
                                                     mluOpTensorLayout_t* layout,
                                                     mluOpDataType_t* dtype, int* dimNb,
                                                     int dimSize[]) {
  return core::Guard("mluOpGetTensorDescriptor", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    if (dimSize != nullptr) {
      RequireInts("dimSize", tensor, tensor.dims);
      std::copy_n(tensor.dims.begin(), tensor.rank, dimSize);
    }
    GetCommon(tensor, layout, dtype, dimNb);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor_v2(const mluOpTensorDescriptor_t desc,
                                                        mluOpTensorLayout_t* layout,
                                                        mluOpDataType_t* dtype, int* dimNb,
                                                        int64_t dimSize[]) {
  return core::Guard("mluOpGetTensorDescriptor_v2", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    if (dimSize != nullptr) std::copy_n(tensor.dims.begin(), tensor.rank, dimSize);
    GetCommon(tensor, layout, dtype, dimNb);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx(const mluOpTensorDescriptor_t desc,
                                                       mluOpTensorLayout_t* layout,
                                                       mluOpDataType_t* dtype, int* dimNb,
                                                       int dimSize[], int dimStride[]) {
  return core::Guard("mluOpGetTensorDescriptorEx", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    RequireAll(layout, dtype, dimNb, dimSize, dimStride);
    RequireInts("dimSize", tensor, tensor.dims);
    RequireInts("dimStride", tensor, tensor.strides);
    std::copy_n(tensor.dims.begin(), tensor.rank, dimSize);
    std::copy_n(tensor.strides.begin(), tensor.rank, dimStride);
    GetCommon(tensor, layout, dtype, dimNb);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx_v2(const mluOpTensorDescriptor_t desc,
                                                          mluOpTensorLayout_t* layout,
                                                          mluOpDataType_t* dtype, int* dimNb,
                                                          int64_t dimSize[], int64_t dimStride[]) {
  return core::Guard("mluOpGetTensorDescriptorEx_v2", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    RequireAll(layout, dtype, dimNb, dimSize, dimStride);
    std::copy_n(tensor.dims.begin(), tensor.rank, dimSize);
    std::copy_n(tensor.strides.begin(), tensor.rank, dimStride);
    GetCommon(tensor, layout, dtype, dimNb);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorOnchipDataType(
    const mluOpTensorDescriptor_t desc, mluOpDataType_t* onchip_dtype) {
  return core::Guard("mluOpGetTensorDescriptorOnchipDataType", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    core::RequirePointers({{"onchip_dtype", onchip_dtype}});
    *onchip_dtype = tensor.onchip_dtype;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPosition(const mluOpTensorDescriptor_t desc,
                                                             int* position) {
  return core::Guard("mluOpGetTensorDescriptorPosition", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    core::RequirePointers({{"position", position}});
    *position = tensor.position;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionAndScale(
    const mluOpTensorDescriptor_t desc, int* position, float* scale) {
  return core::Guard("mluOpGetTensorDescriptorPositionAndScale", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    core::RequirePointers({{"position", position}, {"scale", scale}});
    *position = tensor.position;
    *scale = tensor.scale;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionScaleAndOffset(
    const mluOpTensorDescriptor_t desc, int* position, float* scale, int* offset) {
  return core::Guard("mluOpGetTensorDescriptorPositionScaleAndOffset", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    core::RequirePointers({{"position", position}, {"scale", scale}, {"offset", offset}});
    *position = tensor.position;
    *scale = tensor.scale;
    *offset = tensor.offset;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPointerMode(const mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t* pointer_mode) {
  return core::Guard("mluOpGetTensorDescriptorPointerMode", [&] {
    const mluOpTensorStruct& tensor = RequireDesc(desc);
    core::RequirePointers({{"pointer_mode", pointer_mode}});
    *pointer_mode = tensor.pointer_mode;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpResetTensorDescriptor(mluOpTensorDescriptor_t desc) {
  return core::Guard("mluOpResetTensorDescriptor",
                     [&] { RequireDesc(desc) = mluOpTensorStruct(); });
}

size_t MLUOP_WIN_API mluOpGetTensorElementNum(const mluOpTensorDescriptor_t desc) {
  return desc == nullptr ? 0 : static_cast<size_t>(desc->ElementCount());
}
