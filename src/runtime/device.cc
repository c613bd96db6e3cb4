// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "core/status.h"
#include "runtime/cpu/cpu_device.h"

namespace detops::runtime {
namespace {

thread_local Device* current_device = nullptr;

std::string_view WithoutOrdinal(std::string_view name) { return name.substr(0, name.find(':')); }

}  // namespace

Device::Device(Backend backend, std::string name, std::string description)
    : backend_(backend), name_(std::move(name)), description_(std::move(description)) {}

std::span<Device* const> Devices() {
  static const std::array<Device*, 1> devices = {&CpuDevice::Instance()};
  return devices;
}

Device& FindDevice(std::string_view name) {
  std::string names;
  for (Device* device : Devices()) {
    if (device->name() == name) return *device;
    names += (names.empty() ? "" : ", ") + device->name();
  }
  if (WithoutOrdinal(name) == "cuda") {
    core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "no CUDA device: this build of detops has no CUDA ",
               "backend; devices here: ", names);
  }
  core::BadParam("device: there is no \"", name, "\"; devices here: ", names);
}

Device& CurrentDevice() {
  if (current_device == nullptr) {
    const char* name = std::getenv("DETOPS_DEVICE");
    current_device = name != nullptr && *name != '\0' ? &FindDevice(name) : Devices().front();
  }
  return *current_device;
}

void SetCurrentDevice(Device& device) { current_device = &device; }

}  // namespace detops::runtime
