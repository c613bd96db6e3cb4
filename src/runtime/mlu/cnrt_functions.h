// SPDX-License-Identifier: Apache-2.0
//
// The runtime's own functions. libdetops exports functions of the same names to programs (cnrt.h),
// and a program's symbols come before those of a plug-in's libraries: so the plug-in asks the
// library itself for them.
#pragma once

#include <cnrt.h>

namespace detops::mlu {

struct CnrtFunctions {
  decltype(&cnrtGetErrorStr) get_error_string;
  decltype(&cnrtGetLastError) get_last_error;
  decltype(&cnrtGetDeviceCount) get_device_count;
  decltype(&cnrtGetDeviceProperties) get_device_properties;
  decltype(&cnrtDeviceGetAttribute) device_get_attribute;
  decltype(&cnrtGetDevice) get_device;
  decltype(&cnrtSetDevice) set_device;
  decltype(&cnrtMalloc) allocate;
  decltype(&cnrtFree) free;
  decltype(&cnrtMemsetAsync) memset_async;
  decltype(&cnrtMemcpyAsync) memcpy_async;
  decltype(&cnrtQueueCreate) queue_create;
  decltype(&cnrtQueueDestroy) queue_destroy;
  decltype(&cnrtQueueSync) queue_sync;
  decltype(&cnrtNotifierCreate) notifier_create;
  decltype(&cnrtNotifierDestroy) notifier_destroy;
  decltype(&cnrtPlaceNotifier) place_notifier;
  decltype(&cnrtWaitNotifier) wait_notifier;
  decltype(&cnrtNotifierDuration) notifier_duration;
  decltype(&cnrtDeviceReset) device_reset;
  // The simulator's alone (bang/simulator.h); null elsewhere.
  const char* (*error_text)();
  double (*launch_seconds)();
};

// Fails where the runtime lacks one of them.
const CnrtFunctions& Cnrt();

}  // namespace detops::mlu
