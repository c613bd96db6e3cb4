// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <string>
#include <string_view>
#include <variant>

#include "core/status.h"
#include "detops/detops.h"
#include "runtime/cuda/plugin.h"

namespace detops::cuda {
namespace {

constexpr char kFile[] = "libdetops_cuda.so";

// The folder of the library that this code is in, with a slash; "" where it is not known.
std::string OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&detopsGetVersion), &info) == 0) return "";
  const std::string path = info.dli_fname != nullptr ? info.dli_fname : "";
  return path.substr(0, path.rfind('/') + 1);
}

// The plug-in, or why there is none.
using PluginOrReason = std::variant<const Plugin*, std::string>;

PluginOrReason Load() {
  const std::string folder = OwnFolder();
  void* library = dlopen((folder + kFile).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return core::Concat("the plug-in ", kFile, " could not be loaded from beside libdetops (",
                        dlerror(), "); build detops with the CUDA toolkit to have it");
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(library, kEntryName));
  if (entry == nullptr) return core::Concat(folder, kFile, " is no plug-in of detops");
  try {
    const Plugin& plugin = entry();
    if (std::string_view(plugin.version) != detopsGetVersion()) {
      return core::Concat(kFile, " is of detops ", plugin.version, ", expected ",
                          detopsGetVersion());
    }
    return &plugin;
  } catch (const core::Failure& failure) {
    return std::string(failure.what());
  }
}

const PluginOrReason& Loaded() {
  static const PluginOrReason loaded = Load();
  return loaded;
}

}  // namespace

const Plugin& LoadedPlugin() {
  if (const auto* reason = std::get_if<std::string>(&Loaded())) {
    core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "no CUDA device: ", *reason);
  }
  return *std::get<const Plugin*>(Loaded());
}

const char* WhyUnusable() {
  return std::holds_alternative<std::string>(Loaded()) ? "needs a CUDA device" : nullptr;
}

}  // namespace detops::cuda
