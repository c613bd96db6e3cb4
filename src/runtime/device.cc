// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <cstdlib>
#include <span>

#include "core/per_thread.h"
#include "core/status.h"
#include "runtime/backend.h"

namespace detops::runtime {
namespace {

// Null where none was chosen.
Device*& ThreadsDevice() {
  static core::PerThread<Device*> devices;
  return devices.Mine();
}

std::string NamesOf(std::span<Device* const> devices) {
  std::string names;
  for (const Device* device : devices) names += (names.empty() ? "" : ", ") + device->name();
  return names;
}

}  // namespace

Device& FindDevice(std::string_view name) {
  const std::string_view wanted = BackendNameOf(name);
  std::string expected;
  for (const Backend& backend : Backends()) {
    if (wanted != backend.name) {
      expected += core::Concat(expected.empty() ? "" : ", ", backend.devices);
      continue;
    }
    const std::span<Device* const> devices = DevicesOf(backend);
    if (name == wanted) return *devices.front();
    for (Device* device : devices) {
      if (device->name() == name) return *device;
    }
    core::BadParam("device: there is no \"", name, "\"; devices here: ", NamesOf(devices));
  }
  core::BadParam("device: there is no \"", name, "\"; expected ", expected);
}

Device& CurrentDevice() {
  Device*& current_device = ThreadsDevice();
  if (current_device == nullptr) {
    const char* name = std::getenv("DETOPS_DEVICE");
    current_device = name != nullptr && *name != '\0' ? &FindDevice(name)
                                                      : DevicesOf(Backends().front()).front();
  }
  return *current_device;
}

void SetCurrentDevice(Device& device) { ThreadsDevice() = &device; }

}  // namespace detops::runtime
