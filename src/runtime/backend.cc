// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <string>
#include <variant>

#include "core/status.h"
#include "detops/detops.h"
#include "runtime/cpu/cpu_device.h"

namespace detops::runtime {
namespace {

constexpr std::array kBackends = {
    Backend{"cpu", "cpu", "processor", nullptr, nullptr, nullptr},
    Backend{"cuda", "cuda, cuda:N", "NVIDIA GPU", "needs an NVIDIA GPU", "libdetops_cuda.so",
            "the CUDA toolkit"},
    Backend{"mlu", "mlu, mlu590, mlu370", "MLU", "needs an MLU, or the simulator of bang/",
            "libdetops_mlu.so", "bang or the MLU's toolkit"},
};

using Path = std::array<char, PATH_MAX>;

// The file of the library that this code is in; "" where it is not known. Found out when the
// library is loaded: the loader may have a relative path, which means another file once the program
// is in another folder.
const Path own_file = [] {
  Path path = {};
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&detopsGetVersion), &info) == 0 ||
      info.dli_fname == nullptr || realpath(info.dli_fname, path.data()) == nullptr) {
    path = {};
  }
  return path;
}();

// The plug-in, or why there is none.
using PluginOrReason = std::variant<const Plugin*, std::string>;

PluginOrReason Load(const Backend& backend) {
  const std::string_view own = own_file.data();
  // Never by its name alone, which would find it wherever the loader looks.
  if (own.empty()) return core::Concat("it is not known in which folder libdetops is");
  const std::string folder(own.substr(0, own.rfind('/') + 1));
  const std::string file = folder + backend.plugin;
  if (access(file.c_str(), F_OK) != 0) {
    return core::Concat("no ", backend.plugin, " beside libdetops; build it with ",
                        backend.toolkit);
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return core::Concat("the plug-in beside libdetops could not be loaded: ", dlerror());
  }
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntryName));
  if (entry == nullptr) return core::Concat(file, " is no plug-in of detops");
  const Plugin& plugin = entry();
  if (std::string_view(plugin.version) != detopsGetVersion()) {
    return core::Concat(backend.plugin, " is of detops ", plugin.version, ", expected ",
                        detopsGetVersion());
  }
  return &plugin;
}

// Loaded when first asked for; where it can't be, perhaps because memory ran out, again the next
// time. Not by std::call_once: glibc ends the process where an exception leaves it and there is no
// memory to load the unwinder.
PluginOrReason Loaded(const Backend& backend) {
  struct Slot {
    std::mutex mutex;
    const Plugin* plugin = nullptr;
  };
  static std::array<Slot, kBackends.size()> slots;
  Slot& slot = slots[static_cast<size_t>(&backend - kBackends.data())];
  const std::lock_guard lock(slot.mutex);
  if (slot.plugin != nullptr) return slot.plugin;
  PluginOrReason loaded = Load(backend);
  if (const auto* plugin = std::get_if<const Plugin*>(&loaded)) slot.plugin = *plugin;
  return loaded;
}

}  // namespace

std::span<const Backend> Backends() { return kBackends; }

const Backend& BackendNamed(std::string_view name) {
  size_t i = 0;
  while (name != kBackends[i].name) ++i;
  return kBackends[i];
}

const Plugin* PluginOf(const Backend& backend) {
  if (backend.plugin == nullptr) return nullptr;
  const PluginOrReason loaded = Loaded(backend);
  const auto* plugin = std::get_if<const Plugin*>(&loaded);
  return plugin != nullptr ? *plugin : nullptr;
}

std::span<Device* const> DevicesOf(const Backend& backend) {
  if (backend.plugin == nullptr) {
    static const std::array<Device*, 1> processor = {&CpuDevice::Instance()};
    return processor;
  }
  const PluginOrReason loaded = Loaded(backend);
  try {
    if (const auto* plugin = std::get_if<const Plugin*>(&loaded)) return (*plugin)->devices();
  } catch (const core::Failure& failure) {
    core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "no ", backend.name, " device: ", failure.what());
  }
  core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "no ", backend.name,
             " device: ", std::get<std::string>(loaded));
}

}  // namespace detops::runtime
