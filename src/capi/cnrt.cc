// SPDX-License-Identifier: Apache-2.0
#include "cnrt.h"

#include "core/checks.h"
#include "runtime/device.h"

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

// The devices of one kind, in the order of their ordinals.
int CountLike(const runtime::Device& current) {
  int count = 0;
  for (const runtime::Device* device : runtime::Devices()) {
    if (device->backend() == current.backend()) ++count;
  }
  return count;
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
    *count = static_cast<unsigned int>(CountLike(runtime::CurrentDevice()));
  });
}

cnrtRet_t cnrtGetDevice(int* ordinal) {
  return CnrtGuard("cnrtGetDevice", [&] {
    core::RequirePointers({{"ordinal", ordinal}});
    const runtime::Device& current = runtime::CurrentDevice();
    int position = 0;
    for (const runtime::Device* device : runtime::Devices()) {
      if (device == &current) break;
      if (device->backend() == current.backend()) ++position;
    }
    *ordinal = position;
  });
}

cnrtRet_t cnrtSetDevice(int ordinal) {
  return CnrtGuard("cnrtSetDevice", [&] {
    const runtime::Device& current = runtime::CurrentDevice();
    int position = 0;
    for (runtime::Device* device : runtime::Devices()) {
      if (device->backend() != current.backend()) continue;
      if (position++ == ordinal) {
        runtime::SetCurrentDevice(*device);
        return;
      }
    }
    core::BadParam("ordinal: is ", ordinal, ", expected 0 to ", CountLike(current) - 1);
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
