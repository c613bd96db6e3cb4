// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <string_view>

#include "argument.h"
#include "array.h"
#include "errors.h"
#include "session.h"
#include "staging.h"

namespace detops::python {

enum class Element { kHalf, kFloat, kInt32, kInt64, kByte };

inline Element ElementOf(const Array& array) {
  return array.dtype() == MLUOP_DTYPE_HALF ? Element::kHalf : Element::kFloat;
}

// A result: an array of the caller's library, and its memory.
struct Output {
  nb::object object;
  void* data;

  template <class T>
  T* As() const {
    return static_cast<T*>(data);
  }
};

// Of a result of the same type as an argument.
inline size_t BytesOf(const Array& like, const Shape& shape) {
  return static_cast<size_t>(shape.count() * like.element_bytes());
}

// One call of an operator: its first array decides the device, the stream, and which library makes
// the results.
class Call {
 public:
  Call(const Argument& argument, nb::handle first);

  // On the first array's device, row-major. With channels_last an [N,C,H,W] array is read as
  // [N,H,W,C].
  Array Import(const Argument& argument, nb::handle object, Types types,
               bool channels_last = false);
  // Two arrays of one type: half where both are, else float.
  std::array<Array, 2> ImportAlike(const Argument& argument1, nb::handle object1,
                                   const Argument& argument2, nb::handle object2);
  // An imported array does not have the shape that its argument asks for, or not with the first's.
  [[noreturn]] void ThrowShape(const Argument& argument) const;

  // Where results have to be made by the caller's library before they are complete: on a device.
  bool on_device() const;

  // Uninitialised.
  Output Empty(const Shape& shape, Element element) const;
  // What the caller gets of an Output that is complete.
  nb::object Finish(Output output) const;
  // The library's own steps on its arrays: detops._frameworks says which.
  template <class... Arguments>
  nb::object Framework(const char* step, Arguments&&... arguments) const {
    return framework_.attr(step)(std::forward<Arguments>(arguments)...);
  }

  // Of the device that computes: the arrays', or the one that host arrays are to be sent to.
  mluOpHandle_t handle() const {
    return staged() ? ThreadHandle(ThreadDevice()) : ThreadHandle(device_, stream_);
  }
  // The operator, with the GIL released: run(handle, staging), which gives the pointers.
  template <class Operator>
  void Run(Operator&& run) const {
    Perform(handle(), staged(), run);
  }
  // A step where the arrays lie: run(handle).
  template <class Step>
  void RunInPlace(Step&& run) const {
    Perform(ThreadHandle(device_, stream_), false,
            [&](mluOpHandle_t handle, Staging&) { return run(handle); });
  }
  // A failure of the library, in the words of the Python function's caller.
  void Check(mluOpStatus_t status) const {
    if (status != MLUOP_STATUS_SUCCESS) ThrowLastError(status);
  }

 private:
  template <class Operator>
  void Perform(mluOpHandle_t handle, bool copies, Operator&& run) const {
    mluOpStatus_t status;
    {
      const nb::gil_scoped_release unlocked;
      try {
        Staging staging(handle, copies);
        status = run(handle, staging);
        if (status == MLUOP_STATUS_SUCCESS) staging.CopyBack();
      } catch (const Staging::Failure& failure) {
        status = failure.status;
      }
    }
    Check(status);
  }
  bool staged() const { return device_.on_host && !ThreadDevice().empty(); }

  // An array as it came.
  struct Imported {
    const Argument* argument;
    Shape shape;
    bool channels_last;
  };

  [[noreturn]] void ThrowLastError(mluOpStatus_t status) const;
  const Imported* Find(std::string_view name_in_library) const;

  const char* function_;
  std::array<Imported, 5> imported_ = {};
  size_t imported_count_ = 0;
  nb::handle first_;
  Device device_;
  void* stream_ = nullptr;
  nb::object framework_;  // null for NumPy, whose arrays are made here
};

// Tests send host arrays the way of device arrays.
void TakeDevicePath(bool always);

}  // namespace detops::python
