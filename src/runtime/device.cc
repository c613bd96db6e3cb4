// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <array>
#include <cstdlib>

#include "core/status.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/plugin.h"

namespace detops::runtime {
namespace {

thread_local Device* current_device = nullptr;

std::string NamesOf(std::span<Device* const> devices) {
  std::string names;
  for (const Device* device : devices) names += (names.empty() ? "" : ", ") + device->name();
  return names;
}

}  // namespace

std::span<Device* const> DevicesOf(Backend backend) {
  static const std::array<Device*, 1> processor = {&CpuDevice::Instance()};
  return backend == Backend::kCpu ? processor : cuda::LoadedPlugin().devices;
}

Device& FindDevice(std::string_view name) {
  const std::string_view kind = name.substr(0, name.find(':'));
  if (kind != "cpu" && kind != "cuda") {
    core::BadParam("device: there is no \"", name, "\"; expected cpu, cuda or cuda:N");
  }
  const std::span<Device* const> devices =
      DevicesOf(kind == "cuda" ? Backend::kCuda : Backend::kCpu);
  if (name == kind) return *devices.front();
  for (Device* device : devices) {
    if (device->name() == name) return *device;
  }
  core::BadParam("device: there is no \"", name, "\"; devices here: ", NamesOf(devices));
}

Device& CurrentDevice() {
  if (current_device == nullptr) {
    const char* name = std::getenv("DETOPS_DEVICE");
    current_device = name != nullptr && *name != '\0' ? &FindDevice(name) : &CpuDevice::Instance();
  }
  return *current_device;
}

void SetCurrentDevice(Device& device) { current_device = &device; }

}  // namespace detops::runtime
