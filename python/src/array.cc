// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <utility>

#include "errors.h"
#include "kept.h"

namespace detops::python {

bool IsNumpy(nb::handle object) {
  static PyObject* slot = nullptr;
  const nb::handle type = Kept(slot, "numpy", "ndarray");
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()));
}

Array::Array(nb::handle object, const char* name, Types types, const Device& device, void* stream)
    : device_(device) {
  const bool read = SpeaksDlpack(object)                 ? ReadDlpack(object, name, types, stream)
                    : PyObject_CheckBuffer(object.ptr()) ? ReadBuffer(object, name, types)
                                                         : false;
  if (!read) ReadConverted(object, name, types);
}

Array::Array(const void* data, mluOpDataType_t dtype, Shape shape)
    : data_(data), dtype_(dtype), shape_(shape), strides_(RowMajorStrides(shape)) {}

void Array::ReadConverted(nb::handle object, const char* name, Types types) {
  static PyObject* slot = nullptr;
  owner_ = Kept(slot, "detops._convert", "to_native")(object, name, types == Types::kHalfOrFloat);
  if (!ReadBuffer(owner_, name, types)) {
    throw std::runtime_error(std::string(name) +
                             ": the conversion gave another type than asked for");
  }
}

void Array::SeeChannelsLast() {
  if (shape_.rank() != 4) return;
  for (Shape* dims : {&shape_, &strides_}) {
    const Shape old = *dims;
    *dims = {old[0], old[2], old[3], old[1]};
  }
}

void Array::MoveTo(HostMemory memory) {
  copy_ = std::move(memory);
  data_ = copy_.data();
  strides_ = RowMajorStrides(shape_);
}

void Array::MoveTo(nb::object owner, void* data) {
  owner_ = std::move(owner);
  data_ = data;
  strides_ = RowMajorStrides(shape_);
}

Descriptor::Descriptor(mluOpDataType_t dtype, const Shape& shape, mluOpTensorLayout_t layout,
                       const Shape* strides) {
  Check(mluOpCreateTensorDescriptor(&descriptor_));
  const mluOpStatus_t status =
      strides == nullptr
          ? mluOpSetTensorDescriptor_v2(descriptor_, layout, dtype, shape.rank(), shape.data())
          : mluOpSetTensorDescriptorEx_v2(descriptor_, layout, dtype, shape.rank(), shape.data(),
                                          strides->data());
  if (status != MLUOP_STATUS_SUCCESS) {
    mluOpDestroyTensorDescriptor(descriptor_);
    Check(status);
  }
}

}  // namespace detops::python
