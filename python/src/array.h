// SPDX-License-Identifier: Apache-2.0
//
// An argument's memory, whichever library it belongs to.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "argument.h"
#include "buffer.h"
#include "detops/detops.h"
#include "dlpack_abi.h"
#include "host_memory.h"
#include "shape.h"

namespace detops::python {

// Where memory lies.
struct Device {
  bool on_host = true;
  int cuda_id = 0;

  bool operator==(const Device& other) const {
    return on_host == other.on_host && (on_host || cuda_id == other.cuda_id);
  }
  // As detops names devices.
  std::string name() const { return on_host ? "cpu" : "cuda:" + std::to_string(cuda_id); }
};

enum class Types { kFloat, kHalfOrFloat };

// The device of an object with __dlpack_device__; the host for every other.
Device DeviceOf(const Argument& argument, nb::handle object);
bool IsNumpy(nb::handle object);
// Through __dlpack__ rather than the buffer protocol: not NumPy's, and has it.
bool SpeaksDlpack(nb::handle object);

// Where the memory of an array with __dlpack__ begins, once the stream may use it.
uintptr_t AddressOfResult(nb::handle array, uintptr_t stream);

// A view of a Python object's memory that keeps it alive: float, or half where the operator takes
// half. Made and destroyed with the GIL held.
class Array {
 public:
  // Zero copy, but for element types that are converted (on the host, by detops._convert). The
  // device is DeviceOf(object); the stream is where a CUDA array will be read.
  Array(const Argument& argument, nb::handle object, Types types, const Device& device,
        void* stream);
  // Memory that the caller keeps.
  Array(const void* data, mluOpDataType_t dtype, Shape shape);
  const void* data() const { return data_; }
  mluOpDataType_t dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }  // in elements
  const Device& device() const { return device_; }
  bool is_row_major() const { return IsRowMajor(shape_, strides_); }
  int64_t element_bytes() const { return dtype_ == MLUOP_DTYPE_HALF ? 2 : 4; }

  // The same elements in other dims; of a row-major array.
  void SeeAs(Shape shape);
  // [N,C,H,W] seen as [N,H,W,C]; other ranks are left for the library to refuse.
  void SeeChannelsLast();
  // The same elements, from now on in row-major memory.
  void MoveTo(HostMemory memory);
  void MoveTo(nb::object owner, void* data);

 private:
  // False where the type has to be converted.
  bool ReadBuffer(const Argument& argument, nb::handle object, Types types);
  bool ReadDlpack(const Argument& argument, nb::handle object, Types types, void* stream);
  void ReadConverted(const Argument& argument, nb::handle object, Types types);

  const void* data_ = nullptr;
  mluOpDataType_t dtype_ = MLUOP_DTYPE_FLOAT;
  Shape shape_, strides_;
  Device device_;
  // Whoever of these has the memory.
  Buffer buffer_;
  nb::object owner_;
  HostMemory copy_;
};

// A descriptor for the time of a call.
class Descriptor {
 public:
  Descriptor(mluOpDataType_t dtype, const Shape& shape,
             mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY, const Shape* strides = nullptr);
  explicit Descriptor(const Array& array, mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY)
      : Descriptor(array.dtype(), array.shape(), layout) {}
  ~Descriptor() { mluOpDestroyTensorDescriptor(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator mluOpTensorDescriptor_t() const { return descriptor_; }

 private:
  mluOpTensorDescriptor_t descriptor_ = nullptr;
};

}  // namespace detops::python
