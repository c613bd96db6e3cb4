// SPDX-License-Identifier: Apache-2.0
#include "runtime/mlu/cnrt_functions.h"

#include <dlfcn.h>

#include "core/status.h"

namespace detops::mlu {
namespace {

// The library that this function is in, which libdetops has none of.
void* RuntimeLibrary() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&cnrtDeviceGetAttribute), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

template <class Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(library == nullptr ? nullptr : dlsym(library, name));
  if (function == nullptr) {
    core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "the MLU's runtime library has no ", name);
  }
}

}  // namespace

const CnrtFunctions& Cnrt() {
  static const CnrtFunctions functions = [] {
    void* const library = RuntimeLibrary();
    CnrtFunctions f;
    Find(library, "cnrtGetErrorStr", f.get_error_string);
    Find(library, "cnrtGetLastError", f.get_last_error);
    Find(library, "cnrtGetDeviceCount", f.get_device_count);
    Find(library, "cnrtGetDeviceProperties", f.get_device_properties);
    Find(library, "cnrtDeviceGetAttribute", f.device_get_attribute);
    Find(library, "cnrtGetDevice", f.get_device);
    Find(library, "cnrtSetDevice", f.set_device);
    Find(library, "cnrtMalloc", f.allocate);
    Find(library, "cnrtFree", f.free);
    Find(library, "cnrtMemsetAsync", f.memset_async);
    Find(library, "cnrtMemcpyAsync", f.memcpy_async);
    Find(library, "cnrtQueueCreate", f.queue_create);
    Find(library, "cnrtQueueDestroy", f.queue_destroy);
    Find(library, "cnrtQueueSync", f.queue_sync);
    Find(library, "cnrtNotifierCreate", f.notifier_create);
    Find(library, "cnrtNotifierDestroy", f.notifier_destroy);
    Find(library, "cnrtPlaceNotifier", f.place_notifier);
    Find(library, "cnrtWaitNotifier", f.wait_notifier);
    Find(library, "cnrtNotifierDuration", f.notifier_duration);
    Find(library, "cnrtDeviceReset", f.device_reset);
    f.error_text = reinterpret_cast<const char* (*)()>(dlsym(library, "bangErrorText"));
    f.launch_seconds = reinterpret_cast<double (*)()>(dlsym(library, "bangLaunchSeconds"));
    return f;
  }();
  return functions;
}

}  // namespace detops::mlu
