// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
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

// "(5, 8)", as Python shows it.
std::string ToText(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.rank() == 1 ? ",)" : ")");
}

// Whether a shape has the rank and the numbers of one that an argument may have whatever the others
// are: the first of "(N, 9), or (N, 8) with scores=".
bool Fits(const Argument& argument, const Shape& shape) {
  std::string_view text = argument.shape;
  while (text.find('(') != text.npos) {
    text.remove_prefix(text.find('(') + 1);
    std::string_view dims = text.substr(0, text.find(')'));
    bool fits = true;
    int rank = 0;
    while (!dims.empty()) {
      const std::string_view dim = dims.substr(0, dims.find(','));
      const bool is_number = dim.find_first_not_of("0123456789") == dim.npos;
      fits = fits && (!is_number || dim == std::to_string(shape[rank]));
      ++rank;
      dims.remove_prefix(std::min(dims.size(), dim.size() + 2));
    }
    text.remove_prefix(text.find(')'));
    if (fits && rank == shape.rank() && !text.starts_with(") with ")) return true;
  }
  return false;
}

// [] and arrays without rows mean "no boxes", however many columns they have.
bool IsNoBoxes(const Argument& argument, const Shape& shape) {
  return argument.columns > 0 && shape.count() == 0 && shape[0] == 0 && shape.rank() <= 2;
}

void* AddressOfNumpy(nb::handle array) {
  Buffer buffer;
  if (!buffer.Get(array, PyBUF_WRITABLE | PyBUF_STRIDES)) throw nb::python_error();
  return buffer->buf;
}

}  // namespace

void TakeDevicePath(bool always) { always_device_path = always; }

Call::Call(const Argument& argument, nb::handle first)
    : function_(argument.function), first_(first), device_(DeviceOf(argument, first)) {
  if (SpeaksDlpack(first)) framework_ = FrameworkOf(first);
  if (!device_.on_host) {
    ThreadHandle(device_, nullptr);  // says why where there is no such device
    stream_ = reinterpret_cast<void*>(nb::cast<uintptr_t>(Framework("stream", first)));
  }
}

Array Call::Import(const Argument& argument, nb::handle object, Types types, bool channels_last) {
  const Device device = object.is(first_) ? device_ : DeviceOf(argument, object);
  if (!(device == device_)) {
    ThrowValueError(argument, "lies on " + device.name() + ", but " + imported_[0].argument->name +
                                  " on " + device_.name() + "; pass both on one device");
  }
  Array array(argument, object, types, device, stream_);
  imported_[imported_count_++] = {&argument, array.shape(), channels_last};
  if (IsNoBoxes(argument, array.shape())) array.SeeAs({0, argument.columns});
  if (channels_last) array.SeeChannelsLast();
  if (array.is_row_major()) return array;

  const Descriptor strided(array.dtype(), array.shape(), MLUOP_LAYOUT_ARRAY, &array.strides());
  const auto copy = [&](void* to) {
    RunInPlace([&](mluOpHandle_t handle) {
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

std::array<Array, 2> Call::ImportAlike(const Argument& argument1, nb::handle object1,
                                       const Argument& argument2, nb::handle object2) {
  std::array<Array, 2> arrays = {Import(argument1, object1, Types::kHalfOrFloat),
                                 Import(argument2, object2, Types::kHalfOrFloat)};
  if (arrays[0].dtype() == arrays[1].dtype()) return arrays;
  if (arrays[0].dtype() == MLUOP_DTYPE_HALF) {
    arrays[0] = Import(argument1, object1, Types::kFloat);
  } else {
    arrays[1] = Import(argument2, object2, Types::kFloat);
  }
  return arrays;
}

const Call::Imported* Call::Find(std::string_view name_in_library) const {
  for (size_t i = 0; i < imported_count_; ++i) {
    if (name_in_library == imported_[i].argument->name_in_library) return &imported_[i];
  }
  return nullptr;
}

void Call::ThrowShape(const Argument& argument) const {
  const Imported& wrong = *Find(argument.name_in_library);
  const Imported& first = imported_[0];
  const std::string has = "has shape " + ToText(wrong.shape);
  const std::string wants = "; expected " + std::string(argument.shape);
  // Where its shape alone is one that it may have, it does not go with the first's.
  if (&wrong == &first || !Fits(argument, wrong.shape)) ThrowValueError(argument, has + wants);
  const std::string_view shapes = first.argument->shape;
  ThrowValueError(argument, has + ", but " + first.argument->name + " has " + ToText(first.shape) +
                                wants + " with " + first.argument->name + " of " +
                                std::string(shapes.substr(0, shapes.find(" with "))));
}

void Call::ThrowLastError(mluOpStatus_t status) const {
  // "boxes: dim 1 is 8, expected 9", or a text that names no argument.
  std::string text(LastErrorText());
  const size_t name_end = text.find(": ");
  const std::string_view name = std::string_view(text).substr(0, name_end);
  const Imported* const array = name_end == text.npos ? nullptr : Find(name);
  if (status == MLUOP_STATUS_BAD_PARAM && array != nullptr) {
    const std::string_view rest = std::string_view(text).substr(name_end + 2);
    const bool of_dims = rest.starts_with("dim ") || rest.starts_with("has ");
    const bool names_dims_as_the_caller = !array->channels_last;
    if (of_dims && array == &imported_[0] && names_dims_as_the_caller &&
        Fits(*array->argument, array->shape)) {
      ThrowValueError(*array->argument,
                      "has shape " + ToText(array->shape) + "; " + std::string(rest));
    }
    if (of_dims) ThrowShape(*array->argument);
  }
  if (name_end != text.npos && name.find(' ') == name.npos) {
    // The scalars have the library's names.
    text.replace(0, name_end + 2, std::string(array ? array->argument->name : name) + " ");
    if (const size_t comma = text.find(", expected"); comma != text.npos) text[comma] = ';';
  }
  Throw(ExceptionOf(status), std::string(function_) + ": " + text);
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
