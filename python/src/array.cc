// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "errors.h"
#include "kept.h"

namespace detops::python {

using namespace nb::literals;

namespace {

bool IsNativeFormat(const char* format, char code) {
  if (format == nullptr) return false;
  // '@' and '=' both mean the byte order of this machine.
  if (*format == '@' || *format == '=') ++format;
  return format[0] == code && format[1] == '\0';
}

mluOpDataType_t TypeOf(const dlpack::DataType& dtype) {
  if (dtype.code != dlpack::kFloat || dtype.lanes != 1) return MLUOP_DTYPE_INVALID;
  if (dtype.bits == 32) return MLUOP_DTYPE_FLOAT;
  return dtype.bits == 16 ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_INVALID;
}

bool Accepts(Types types, mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_FLOAT || (dtype == MLUOP_DTYPE_HALF && types == Types::kHalfOrFloat);
}

const char* Wanted(Types types) {
  return types == Types::kFloat ? "float32" : "float32 or float16";
}

std::string NameOf(const dlpack::DataType& dtype) {
  const char* kind = "opaque";
  switch (dtype.code) {
    case dlpack::kInt: kind = "int"; break;
    case dlpack::kUInt: kind = "uint"; break;
    case dlpack::kFloat: kind = "float"; break;
    case dlpack::kBfloat: kind = "bfloat"; break;
    case dlpack::kComplex: kind = "complex"; break;
    case dlpack::kBool: return "bool";
  }
  return kind + std::to_string(dtype.bits);
}

void RequireRank(const char* name, int rank) {
  if (rank == 0) ThrowValueError(std::string(name) + ": is a scalar, expected an array");
  if (rank > MLUOP_DIM_MAX) {
    ThrowValueError(std::string(name) + ": has " + std::to_string(rank) +
                    " dims, expected at most " + std::to_string(MLUOP_DIM_MAX));
  }
}

Device ToDevice(const dlpack::Device& device, const char* name) {
  switch (device.type) {
    case dlpack::kCpu:
    case dlpack::kCudaHost: return {};
    case dlpack::kCuda:
    case dlpack::kCudaManaged: return {false, device.id};
  }
  ThrowTypeError(std::string(name) + ": lies on a device of DLPack type " +
                 std::to_string(device.type) + "; pass an array on the CPU or on a CUDA device");
}

// The capsule of object.__dlpack__, asking for version 1 where the producer knows versions.
nb::object DlpackCapsule(nb::handle object, const char* name, const Device& device, void* stream) {
  const nb::object version = nb::make_tuple(1, 0);
  const nb::object method = object.attr("__dlpack__");
  // 0 is ambiguous there; 1 is CUDA's default stream.
  const auto number = std::max(reinterpret_cast<uintptr_t>(stream), uintptr_t{1});
  try {
    if (device.on_host) return method("max_version"_a = version);
    return method("stream"_a = number, "max_version"_a = version);
  } catch (nb::python_error& error) {
    const bool knows_no_versions =
        error.matches(PyExc_TypeError) || error.matches(PyExc_NotImplementedError);
    if (!knows_no_versions) {
      if (error.matches(PyExc_BufferError) || error.matches(PyExc_RuntimeError)) {
        // PyTorch's answer for tensors that require a gradient, for one.
        ThrowTypeError(std::string(name) + ": " + nb::str(error.value()).c_str());
      }
      throw;
    }
  }
  return device.on_host ? method() : method("stream"_a = number);
}

const dlpack::Tensor* TensorIn(const nb::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    const auto* managed = static_cast<dlpack::ManagedTensorVersioned*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    return managed->major <= 1 ? &managed->tensor : nullptr;
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    return &static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))
                ->tensor;
  }
  return nullptr;
}

}  // namespace

bool IsNumpy(nb::handle object) {
  static PyObject* slot = nullptr;
  const nb::handle type = Kept(slot, "numpy", "ndarray");
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()));
}

bool SpeaksDlpack(nb::handle object) {
  return !IsNumpy(object) && nb::hasattr(object, "__dlpack__");
}

Device DeviceOf(nb::handle object, const char* name) {
  if (!SpeaksDlpack(object)) return {};
  const nb::object pair = object.attr("__dlpack_device__")();
  // The type may be an enum of the producer's, and Paddle has None as the CPU's number.
  const nb::object type = pair[0], id = pair[1];
  return ToDevice(
      {nb::cast<int32_t>(nb::int_(type)), id.is_none() ? 0 : nb::cast<int32_t>(nb::int_(id))},
      name);
}

uintptr_t AddressOfResult(nb::handle array, uintptr_t stream) {
  const nb::object capsule =
      DlpackCapsule(array, "result", DeviceOf(array, "result"), reinterpret_cast<void*>(stream));
  const dlpack::Tensor* tensor = TensorIn(capsule);
  if (tensor == nullptr)
    throw std::runtime_error("result: its __dlpack__ is of an unknown version");
  return reinterpret_cast<uintptr_t>(tensor->data) + tensor->byte_offset;
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

Array::~Array() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

Array::Array(Array&& other) noexcept { Swap(other); }

Array& Array::operator=(Array&& other) noexcept {
  Swap(other);
  return *this;
}

void Array::Swap(Array& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(shape_, other.shape_);
  std::swap(strides_, other.strides_);
  std::swap(device_, other.device_);
  std::swap(buffer_, other.buffer_);
  std::swap(owner_, other.owner_);
  std::swap(copy_, other.copy_);
}

bool Array::ReadBuffer(nb::handle object, const char* name, Types types) {
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();  // NumPy exports no dates, for one; the conversion names the type.
    buffer_ = {};
    return false;
  }
  dtype_ = IsNativeFormat(buffer_.format, 'f')   ? MLUOP_DTYPE_FLOAT
           : IsNativeFormat(buffer_.format, 'e') ? MLUOP_DTYPE_HALF
                                                 : MLUOP_DTYPE_INVALID;
  const auto address = reinterpret_cast<uintptr_t>(buffer_.buf);
  bool readable = Accepts(types, dtype_) && address % static_cast<size_t>(buffer_.itemsize) == 0;
  RequireRank(name, buffer_.ndim);
  data_ = buffer_.buf;
  shape_ = strides_ = Shape(buffer_.ndim);
  for (int i = 0; i < buffer_.ndim; ++i) {
    shape_[i] = buffer_.shape[i];
    strides_[i] = buffer_.strides[i] / buffer_.itemsize;
    // A field of a larger record may lie between elements.
    readable = readable && buffer_.strides[i] % buffer_.itemsize == 0;
  }
  if (!readable) {
    PyBuffer_Release(&buffer_);
    buffer_ = {};
  }
  return readable;
}

bool Array::ReadDlpack(nb::handle object, const char* name, Types types, void* stream) {
  owner_ = DlpackCapsule(object, name, device_, stream);
  const dlpack::Tensor* tensor = TensorIn(owner_);
  if (tensor == nullptr)
    ThrowTypeError(std::string(name) + ": its __dlpack__ is of an unknown version");
  dtype_ = TypeOf(tensor->dtype);
  RequireRank(name, tensor->rank);
  if (!Accepts(types, dtype_)) {
    if (!device_.on_host || tensor->dtype.code == dlpack::kBfloat) {
      ThrowTypeError(std::string(name) + ": dtype is " + NameOf(tensor->dtype) + " on " +
                     device_.name() + "; pass " + Wanted(types));
    }
    return false;
  }
  data_ = static_cast<const std::byte*>(tensor->data) + tensor->byte_offset;
  shape_ = strides_ = Shape(tensor->rank);
  for (int i = 0; i < tensor->rank; ++i) {
    shape_[i] = tensor->shape[i];
    if (tensor->strides != nullptr) strides_[i] = tensor->strides[i];
  }
  if (tensor->strides == nullptr) strides_ = RowMajorStrides(shape_);
  return true;
}

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
