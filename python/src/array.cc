// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "errors.h"
#include "kept.h"

namespace detops::python {

namespace {

bool IsInstance(nb::handle object, nb::handle type) {
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()));
}

// Its buffer has no mask.
bool IsMasked(nb::handle object) {
  static PyObject* slot = nullptr;
  return IsInstance(object, Kept(slot, "numpy.ma", "MaskedArray"));
}

}  // namespace

bool IsNumpy(nb::handle object) {
  static PyObject* slot = nullptr;
  return IsInstance(object, Kept(slot, "numpy", "ndarray"));
}

Array::Array(const Argument& argument, nb::handle object, Types types, const Device& device,
             void* stream)
    : device_(device) {
  const bool read = SpeaksDlpack(object) ? ReadDlpack(argument, object, types, stream)
                    : PyObject_CheckBuffer(object.ptr()) && !IsMasked(object)
                        ? ReadBuffer(argument, object, types)
                        : false;
  if (!read) ReadConverted(argument, object, types);
}

Array::Array(const void* data, mluOpDataType_t dtype, Shape shape)
    : data_(data), dtype_(dtype), shape_(shape), strides_(RowMajorStrides(shape)) {}

void Array::ReadConverted(const Argument& argument, nb::handle object, Types types) {
  static PyObject* slot = nullptr;
  owner_ = Kept(slot, "detops._convert", "to_native")(
      object, std::string(argument.function) + ": " + argument.name, argument.shape,
      argument.geometry, types == Types::kHalfOrFloat);
  if (!ReadBuffer(argument, owner_, types)) {
    throw std::runtime_error(std::string(argument.name) +
                             ": the conversion gave another type than asked for");
  }
}

void Array::SeeAs(Shape shape) {
  shape_ = shape;
  strides_ = RowMajorStrides(shape);
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
