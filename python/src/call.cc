// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <string>

#include "kept.h"

namespace detops::python {
namespace {

bool always_device_path = false;

constexpr size_t kElementCount = 5;

const char* NameOf(Element element) {
  constexpr const char* names[kElementCount] = {"float16", "float32", "int32", "int64", "uint8"};
  return names[static_cast<size_t>(element)];
}

nb::object NumpyEmpty(nb::handle shape, Element element) {
  static PyObject *empty = nullptr, *types[kElementCount] = {};
  const char* name = NameOf(element);
  return Kept(empty, "numpy", "empty")(shape,
                                       Kept(types[static_cast<size_t>(element)], "numpy", name));
}

nb::object FrameworkOf(nb::handle object) {
  static PyObject* find = nullptr;
  return Kept(find, "detops._frameworks", "find")(object.type());
}

nb::object ToTuple(const Shape& shape) {
  nb::object tuple = nb::steal(PyTuple_New(shape.rank()));
  if (!tuple.is_valid()) throw nb::python_error();
  for (int i = 0; i < shape.rank(); ++i) {
    PyObject* const dim = PyLong_FromLongLong(shape[i]);
    if (dim == nullptr) throw nb::python_error();
    PyTuple_SetItem(tuple.ptr(), i, dim);
  }
  return tuple;
}

void* AddressOfNumpy(nb::handle array) {
  Buffer buffer;
  if (!buffer.Get(array, PyBUF_WRITABLE | PyBUF_STRIDES)) throw nb::python_error();
  return buffer->buf;
}

}  // namespace

void TakeDevicePath(bool always) { always_device_path = always; }

Call::Call(nb::handle first, const char* name) : first_(first), device_(DeviceOf(first, name)) {
  if (SpeaksDlpack(first)) framework_ = FrameworkOf(first);
  if (!device_.on_host) {
    ThreadHandle(device_, nullptr);  // says why where there is no such device
    stream_ = reinterpret_cast<void*>(nb::cast<uintptr_t>(Framework("stream", first)));
  }
}

Array Call::Import(nb::handle object, const char* name, Types types, bool channels_last) const {
  const Device device = object.is(first_) ? device_ : DeviceOf(object, name);
  if (!(device == device_)) {
    ThrowValueError(std::string(name) + ": lies on " + device.name() + ", but the first array on " +
                    device_.name() + "; pass both on one device");
  }
  Array array(object, name, types, device, stream_);
  if (channels_last) array.SeeChannelsLast();
  if (array.is_row_major()) return array;

  const Descriptor strided(array.dtype(), array.shape(), MLUOP_LAYOUT_ARRAY, &array.strides());
  const auto copy = [&](void* to) {
    Run([&](mluOpHandle_t handle) {
      return detopsMakeContiguous(handle, strided, array.data(), to);
    });
  };
  if (device_.on_host) {
    HostMemory memory(static_cast<size_t>(array.shape().count() * array.element_bytes()));
    copy(memory.data());
    array.MoveTo(std::move(memory));
  } else {
    Output dense = Empty(array.shape(), ElementOf(array));
    copy(dense.data);
    array.MoveTo(std::move(dense.object), dense.data);
  }
  return array;
}

bool Call::on_device() const {
  return !device_.on_host || (always_device_path && framework_.is_valid());
}

Output Call::Empty(const Shape& shape, Element element) const {
  nb::object array = framework_.is_valid()
                         ? Framework("empty", first_, ToTuple(shape), NameOf(element))
                         : NumpyEmpty(ToTuple(shape), element);
  void* const address =
      IsNumpy(array) ? AddressOfNumpy(array)
                     : reinterpret_cast<void*>(nb::cast<uintptr_t>(Framework("address", array)));
  return {std::move(array), address};
}

nb::object Call::Finish(Output output) const {
  if (!framework_.is_valid()) return std::move(output.object);
  return Framework("finish", output.object, first_);
}

}  // namespace detops::python
