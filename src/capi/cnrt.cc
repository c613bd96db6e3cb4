// SPDX-License-Identifier: Apache-2.0
#include "cnrt.h"

#include <algorithm>
#include <utility>

#include "core/checks.h"
#include "runtime/backend.h"

using namespace detops;

namespace {

cnrtRet_t ToCnrt(mluOpStatus_t status) {
  switch (status) {
    case MLUOP_STATUS_SUCCESS: return cnrtSuccess;
    case MLUOP_STATUS_ALLOC_FAILED: return cnrtErrorNoMem;
    case MLUOP_STATUS_BAD_PARAM: return cnrtErrorArgsInvalid;
    case MLUOP_STATUS_NOT_SUPPORTED: return cnrtErrorNoDevice;
    default: return cnrtErrorSys;
  }
}

template <class Body>
cnrtRet_t CnrtGuard(const char* function, Body&& body) noexcept {
  return ToCnrt(core::Guard(function, body));
}

// A queue names its own device; null is the default queue of the thread's.
runtime::Device& DeviceOf(cnrtQueue_t queue) {
  return queue != nullptr ? *queue->device : runtime::CurrentDevice();
}

void Copy(void* dst, const void* src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t dir) {
  if (dir < cnrtMemcpyHostToDev || dir > cnrtMemcpyHostToHost) {
    core::BadParam("dir: ", static_cast<int>(dir), " is no cnrtMemTransDir_t");
  }
  if (bytes > 0) core::RequirePointers({{"dst", dst}, {"src", src}});
  DeviceOf(queue).Memcpy(dst, src, bytes, dir, queue);
}

// The devices of the current one's kind, which ordinals count.
std::span<runtime::Device* const> Siblings() {
  return runtime::DevicesOf(
      runtime::BackendNamed(runtime::BackendNameOf(runtime::CurrentDevice().name())));
}

}  // namespace

const char* cnrtGetErrorStr(cnrtRet_t error_code) {
  switch (error_code) {
    case cnrtSuccess: return "cnrtSuccess";
    case cnrtErrorNotReady: return "cnrtErrorNotReady";
    case cnrtErrorInit: return "cnrtErrorInit";
    case cnrtErrorNoMem: return "cnrtErrorNoMem";
    case cnrtErrorNoDevice: return "cnrtErrorNoDevice";
    case cnrtErrorArgsInvalid: return "cnrtErrorArgsInvalid";
    case cnrtErrorSys: return "cnrtErrorSys";
  }
  return "cnrtErrorUnknown";
}

cnrtRet_t cnrtGetDeviceCount(unsigned int* count) {
  return CnrtGuard("cnrtGetDeviceCount", [&] {
    core::RequirePointers({{"count", count}});
    *count = static_cast<unsigned int>(Siblings().size());
  });
}

cnrtRet_t cnrtGetDevice(int* ordinal) {
  return CnrtGuard("cnrtGetDevice", [&] {
    core::RequirePointers({{"ordinal", ordinal}});
    const auto devices = Siblings();
    const auto current = std::find(devices.begin(), devices.end(), &runtime::CurrentDevice());
    *ordinal = static_cast<int>(current - devices.begin());
  });
}

cnrtRet_t cnrtSetDevice(int ordinal) {
  return CnrtGuard("cnrtSetDevice", [&] {
    const auto devices = Siblings();
    if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices.size()) {
      core::BadParam("ordinal: is ", ordinal, ", expected 0 to ", devices.size() - 1);
    }
    runtime::SetCurrentDevice(*devices[static_cast<size_t>(ordinal)]);
  });
}

cnrtRet_t cnrtMalloc(void** ptr, size_t bytes) {
  return CnrtGuard("cnrtMalloc", [&] {
    core::RequirePointers({{"ptr", ptr}});
    *ptr = runtime::CurrentDevice().Allocate(bytes);
  });
}

cnrtRet_t cnrtFree(void* ptr) {
  return CnrtGuard("cnrtFree", [&] { runtime::CurrentDevice().Free(ptr); });
}

cnrtRet_t cnrtMemset(void* ptr, int value, size_t bytes) {
  return CnrtGuard("cnrtMemset", [&] {
    if (bytes > 0) core::RequirePointers({{"ptr", ptr}});
    runtime::Device& device = runtime::CurrentDevice();
    device.Memset(ptr, value, bytes, nullptr);
    device.Synchronize(nullptr);
  });
}

cnrtRet_t cnrtMemcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t dir) {
  return CnrtGuard("cnrtMemcpy", [&] {
    Copy(dst, src, bytes, nullptr, dir);
    runtime::CurrentDevice().Synchronize(nullptr);
  });
}

cnrtRet_t cnrtMemcpyAsync(void* dst, const void* src, size_t bytes, cnrtQueue_t queue,
                          cnrtMemTransDir_t dir) {
  return CnrtGuard("cnrtMemcpyAsync", [&] { Copy(dst, src, bytes, queue, dir); });
}

cnrtRet_t cnrtQueueCreate(cnrtQueue_t* queue) {
  return CnrtGuard("cnrtQueueCreate", [&] {
    core::RequirePointers({{"queue", queue}});
    *queue = runtime::CurrentDevice().CreateQueue();
  });
}

cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue) {
  return CnrtGuard("cnrtQueueDestroy", [&] {
    core::RequirePointers({{"queue", queue}});
    queue->device->DestroyQueue(queue);
  });
}

cnrtRet_t cnrtQueueSync(cnrtQueue_t queue) {
  return CnrtGuard("cnrtQueueSync", [&] { DeviceOf(queue).Synchronize(queue); });
}

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t* notifier) {
  return CnrtGuard("cnrtNotifierCreate", [&] {
    core::RequirePointers({{"notifier", notifier}});
    *notifier = runtime::CurrentDevice().CreateNotifier();
  });
}

cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier) {
  return CnrtGuard("cnrtNotifierDestroy", [&] {
    core::RequirePointers({{"notifier", notifier}});
    notifier->device->DestroyNotifier(notifier);
  });
}

cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  return CnrtGuard("cnrtPlaceNotifier", [&] {
    core::RequirePointers({{"notifier", notifier}});
    if (queue != nullptr && queue->device != notifier->device) {
      core::BadParam("queue: belongs to ", queue->device->name(), ", expected one of ",
                     notifier->device->name(), ", as the notifier");
    }
    notifier->device->Place(notifier, queue);
    notifier->placed = true;
  });
}

cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier) {
  return CnrtGuard("cnrtWaitNotifier", [&] {
    core::RequirePointers({{"notifier", notifier}});
    if (notifier->placed) notifier->device->Wait(notifier);
  });
}

cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float* microseconds) {
  return CnrtGuard("cnrtNotifierDuration", [&] {
    core::RequirePointers({{"start", start}, {"end", end}, {"microseconds", microseconds}});
    for (const auto& [name, notifier] : {std::pair{"start", start}, std::pair{"end", end}}) {
      if (!notifier->placed) core::BadParam(name, ": was never placed on a queue");
    }
    if (start->device != end->device) {
      core::BadParam("end: belongs to ", end->device->name(), ", expected one of ",
                     start->device->name(), ", as start");
    }
    *microseconds = start->device->MicrosecondsBetween(start, end);
  });
}
