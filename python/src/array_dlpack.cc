// SPDX-License-Identifier: Apache-2.0
//
// Arrays with __dlpack__.
#include <algorithm>
#include <cstddef>

#include "array_checks.h"

namespace detops::python {

using namespace nb::literals;

namespace {

mluOpDataType_t TypeOf(const dlpack::DataType& dtype) {
  if (dtype.code != dlpack::kFloat || dtype.lanes != 1) return MLUOP_DTYPE_INVALID;
  if (dtype.bits == 32) return MLUOP_DTYPE_FLOAT;
  return dtype.bits == 16 ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_INVALID;
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
  return kind + std::to_string(dtype.bits) +
         (dtype.lanes == 1 ? "" : " x" + std::to_string(dtype.lanes));
}

// What the conversion may be given, if only to refuse it: NumPy knows no vectors, bfloat or smaller
// floats.
bool NumpyReads(const dlpack::DataType& dtype) {
  const bool of_numpy = dtype.code == dlpack::kInt || dtype.code == dlpack::kUInt ||
                        dtype.code == dlpack::kFloat || dtype.code == dlpack::kBool;
  return of_numpy && dtype.lanes == 1 && dtype.bits >= 8;
}

Device ToDevice(const Argument& argument, const dlpack::Device& device) {
  switch (device.type) {
    case dlpack::kCpu:
    case dlpack::kCudaHost: return {};
    case dlpack::kCuda:
    case dlpack::kCudaManaged: return {false, device.id};
  }
  ThrowTypeError(argument, "lies on a device of DLPack type " + std::to_string(device.type) +
                               "; pass an array on the CPU or on a CUDA device");
}

// Inside of a catch: an array's library refused it.
[[noreturn]] void ThrowUnreadable(const Argument& argument, nb::python_error& error) {
  for (PyObject* refusal : {PyExc_BufferError, PyExc_RuntimeError, PyExc_ValueError,
                            PyExc_TypeError, PyExc_AttributeError}) {
    if (error.matches(refusal)) ThrowTypeError(argument, "can't be read: " + TextOf(error.value()));
  }
  throw;
}

// False where it is no pair of numbers.
bool ReadDevice(const nb::object& pair, dlpack::Device& device) {
  try {
    // The type may be an enum of the producer's, and Paddle has None as the CPU's number.
    const nb::object type = pair[0], id = pair[1];
    return nb::try_cast(nb::int_(type), device.type) &&
           (id.is_none() || nb::try_cast(nb::int_(id), device.id));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
    return false;
  }
}

// The capsule of object.__dlpack__, asking for version 1 where the producer knows versions.
nb::object DlpackCapsule(const Argument& argument, nb::handle object, const Device& device,
                         void* stream) {
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
    // Otherwise it may require a gradient, as PyTorch's tensors do.
    if (!knows_no_versions) ThrowUnreadable(argument, error);
  }
  try {
    return device.on_host ? method() : method("stream"_a = number);
  } catch (nb::python_error& error) {
    ThrowUnreadable(argument, error);
  }
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

bool SpeaksDlpack(nb::handle object) {
  // Arrow's arrays have it for simple types alone; detops._convert reads them.
  return !IsNumpy(object) && nb::hasattr(object, "__dlpack__") &&
         !nb::hasattr(object, "__arrow_c_array__");
}

Device DeviceOf(const Argument& argument, nb::handle object) {
  if (!SpeaksDlpack(object)) return {};
  nb::object pair;
  try {
    pair = object.attr("__dlpack_device__")();
  } catch (nb::python_error& error) {
    ThrowUnreadable(argument, error);  // PyTorch's answer for its meta device, for one
  }
  dlpack::Device device = {};
  if (!ReadDevice(pair, device)) {
    ThrowMalformed(argument, "says that it lies on the device " + TextOf(pair));
  }
  return ToDevice(argument, device);
}

uintptr_t AddressOfResult(nb::handle array, uintptr_t stream) {
  constexpr Argument kResult = {"detops", "result", "", ""};
  const nb::object capsule =
      DlpackCapsule(kResult, array, DeviceOf(kResult, array), reinterpret_cast<void*>(stream));
  const dlpack::Tensor* tensor = TensorIn(capsule);
  if (tensor == nullptr)
    throw std::runtime_error("result: its __dlpack__ is of an unknown version");
  return reinterpret_cast<uintptr_t>(tensor->data) + tensor->byte_offset;
}

bool Array::ReadDlpack(const Argument& argument, nb::handle object, Types types, void* stream) {
  owner_ = DlpackCapsule(argument, object, device_, stream);
  const dlpack::Tensor* tensor = TensorIn(owner_);
  if (tensor == nullptr) ThrowMalformed(argument, "gives no DLPack tensor of version 0 or 1");
  const Device device = ToDevice(argument, tensor->device);
  if (!(device == device_)) {
    ThrowMalformed(argument, "says that it lies on " + device_.name() + ", and gives memory on " +
                                 device.name());
  }
  shape_ = CheckedShape(argument, tensor->rank, tensor->shape);
  CheckMemory(argument, shape_, tensor->data, tensor->strides,
              (tensor->dtype.bits * tensor->dtype.lanes + 7) / 8);
  dtype_ = TypeOf(tensor->dtype);
  const auto address = reinterpret_cast<uintptr_t>(tensor->data) + tensor->byte_offset;
  const bool accepted = Accepts(types, dtype_);
  const bool aligned = shape_.count() == 0 || address % static_cast<size_t>(element_bytes()) == 0;
  if (!accepted || !aligned) {
    if (device_.on_host && NumpyReads(tensor->dtype)) return false;
    ThrowTypeError(argument, (accepted ? "is unaligned" : "has dtype " + NameOf(tensor->dtype)) +
                                 " on " + device_.name() + "; pass " +
                                 (accepted ? "an aligned copy" : Wanted(types)));
  }
  data_ = reinterpret_cast<const void*>(address);
  strides_ = RowMajorStrides(shape_);
  if (tensor->strides != nullptr) {
    for (int i = 0; i < tensor->rank; ++i) strides_[i] = tensor->strides[i];
  }
  return true;
}

}  // namespace detops::python
