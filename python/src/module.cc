// SPDX-License-Identifier: Apache-2.0
//
// detops._core: what the package's Python functions call. Those have the signatures, the types and
// the docs; here all arguments are given.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "bind.h"
#include "call.h"
#include "errors.h"
#include "rounding.h"
#include "session.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace detops::python;

namespace {

template <class Info, class List>
std::vector<Info> Listed(List list) {
  size_t count = 0;
  Check(list(nullptr, 0, &count));
  std::vector<Info> entries(count);
  Check(list(entries.data(), count, &count));
  return entries;
}

nb::object Devices() {
  nb::list devices;
  for (const auto& info : Listed<detopsDeviceInfo>(detopsListDevices)) {
    nb::dict device;
    device["name"] = info.name;
    device["description"] = info.description;
    device["usable"] = info.usable;
    device["reason"] = info.reason;
    devices.append(device);
  }
  return std::move(devices);
}

nb::object Implementations() {
  nb::dict by_operator;
  for (const auto& info : Listed<detopsImplementationInfo>(detopsListImplementations)) {
    if (!by_operator.contains(info.op)) by_operator[info.op] = nb::list();
    nb::dict implementation;
    implementation["name"] = info.name;
    implementation["usable"] = info.usable;
    implementation["reason"] = info.reason;
    nb::cast<nb::list>(by_operator[info.op]).append(implementation);
  }
  return std::move(by_operator);
}

void Synchronize(int cuda_id, uintptr_t stream) {
  cnrtQueue_t queue = nullptr;
  Check(mluOpGetQueue(ThreadHandle({false, cuda_id}, reinterpret_cast<void*>(stream)), &queue));
  const cnrtRet_t result = cnrtQueueSync(queue);
  if (result != cnrtSuccess) throw std::runtime_error(std::string(LastErrorText()));
}

// For the overhead of Python: the C function on arguments that are ready.
double SecondsOfCCall(nb::handle bboxes1, nb::handle bboxes2, int calls) {
  constexpr Argument kBoxes1 = {"_seconds_of_c_call", "bboxes1", "(M, 4)", "bbox1"};
  constexpr Argument kBoxes2 = {"_seconds_of_c_call", "bboxes2", "(N, 4)", "bbox2"};
  Call call(kBoxes1, bboxes1);
  const Array in1 = call.Import(kBoxes1, bboxes1, Types::kFloat);
  const Array in2 = call.Import(kBoxes2, bboxes2, Types::kFloat);
  const Shape shape{in1.shape()[0], in2.shape()[0]};
  const Output ious = call.Empty(shape, Element::kFloat);
  const Descriptor desc1(in1), desc2(in2), ious_desc(in1.dtype(), shape);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    Check(mluOpBboxOverlaps(ThreadHandle(in1.device(), nullptr), 0, false, 0, desc1, in1.data(),
                            desc2, in2.data(), ious_desc, ious.data));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count() / calls;
}

template <class... Ops>
void BindAll(detops::core::OperatorList<Ops...>, nb::module_& module) {
  (Bind<Ops>(module), ...);
}

// glibc makes the C++ library's variables of a thread when the thread first uses them, which a
// thrown exception does, and ends the process where it has no memory for them. So they are made
// now.
void TouchThreadVariables() {
  try {
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

NB_MODULE(_core, module) {
  TouchThreadVariables();

  BindAll(detops::ops::AllOperators(), module);
  module.def("devices", &Devices);
  module.def("implementations", &Implementations);

  module.def("set_threads", &SetThreads, "function"_a, "n"_a.none());
  module.def("get_threads", &GetThreads);
  module.def("set_device", &SetDevice, "function"_a, "device"_a.none());
  module.def("get_device", &GetDevice);

  module.def("_version", &detopsGetVersion);

  // For the package and its tests.
  module.def("_forget_thread_handles", &ForgetThreadHandles);
  module.def("_take_device_path", &TakeDevicePath, "always"_a);
  module.def("_count_moved", &CountMoved, "rows"_a, "geometry"_a);
  module.def("_synchronize", &Synchronize, "cuda_id"_a, "stream"_a);
  module.def("_address_of_result", &AddressOfResult, "array"_a, "stream"_a);
  module.def("_seconds_of_c_call", &SecondsOfCCall, "bboxes1"_a, "bboxes2"_a, "calls"_a);
  module.def(
      "_address",
      [](nb::handle object) {
        constexpr Argument kObject = {"_address", "object", "any", ""};
        const Array array(kObject, object, Types::kHalfOrFloat, DeviceOf(kObject, object), nullptr);
        return reinterpret_cast<uintptr_t>(array.data());
      },
      "object"_a, "Where an operator would read the array.");
}
