// SPDX-License-Identifier: Apache-2.0
//
// The kinds of devices that the library runs on. A new one is a line of the table in backend.cc, a
// folder beside this file with its devices and its plug-in, and one file per operator
// (src/ops/<op>/<backend>.*) with its implementations.
#pragma once

#include <span>
#include <string_view>

#include "runtime/plugin.h"

namespace detops::runtime {

struct Backend {
  // Devices are "cuda:0", "cuda:1" or "mlu590", "mlu370"; "cuda" is the first. Implementations are
  // "cuda:simt".
  const char* name;
  const char* devices;  // the names that its devices have, for error texts
  const char* kind;     // "NVIDIA GPU"
  const char* needs;    // why its implementations can't run where there is none
  const char* plugin;   // "libdetops_cuda.so", beside libdetops; null where libdetops has it all
  const char* toolkit;  // what one builds the plug-in with
};

// The processor first: it is the default.
std::span<const Backend> Backends();
const Backend& BackendNamed(std::string_view name);  // it must be one

// In the order of their ordinals; they live as long as the library. Asking for the first time loads
// the plug-in; fails with the reason where there is no device.
std::span<Device* const> DevicesOf(const Backend& backend);

// Null where the plug-in can't be loaded, though it may have no device; libdetops's own backend has
// none either.
const Plugin* PluginOf(const Backend& backend);

// On devices of that backend, best first. Only the processor's are there without a plug-in.
template <class Op>
std::span<const Implementation<Op>> ImplementationsOn(const Backend& backend) {
  if (backend.plugin == nullptr) return Op::Table();
  const Plugin* plugin = PluginOf(backend);
  if (plugin == nullptr) return {};
  const auto* implementation = static_cast<const Implementation<Op>*>(plugin->find(Op::kName));
  if (implementation == nullptr) return {};
  return {implementation, 1};
}

}  // namespace detops::runtime
