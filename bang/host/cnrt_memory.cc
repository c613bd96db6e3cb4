// SPDX-License-Identifier: Apache-2.0
//
// cnrt.h: device memory, host memory, and what moves bytes between them.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "cnrt.h"
#include "host/devices.h"
#include "host/queues.h"
#include "host/report.h"
#include "machine/failure.h"

using bang::Current;
using bang::Engine;
using bang::Fail;
using bang::SimulatedDevice;

namespace {

// After a kernel was stopped the device does nothing more; stderr has said why.
cnrtRet_t Ready(const SimulatedDevice& device) {
  const cnrtRet_t error = device.sticky_error();
  if (error != cnrtSuccess) bang::SetLastError(error);
  return error;
}

// Gives the device that a call works on: the queue's, or the current one.
cnrtRet_t Begin(const char* call, cnrtQueue_t queue, SimulatedDevice** device) {
  if (queue != nullptr && !bang::Queues().IsAlive(queue)) {
    return Fail(cnrtErrorInvalidResourceHandle, call,
                "there is no such queue: it was not created, or was destroyed");
  }
  *device = queue != nullptr ? queue->device : &Current();
  return Ready(**device);
}

std::string OtherMemory(const SimulatedDevice& device, const void* data) {
  if (const SimulatedDevice* owner = bang::OwnerOf(data)) {
    return bang::Format("is memory of device %d, %s, but this is device %d", owner->ordinal(),
                        owner->name().c_str(), device.ordinal());
  }
  return "is no device memory: cnrtMalloc did not return it, or it was freed";
}

// Whether [data, data + bytes) lies in one allocation of the device.
cnrtRet_t CheckDevice(const char* call, SimulatedDevice& device, const char* operand,
                      const void* data, size_t bytes) {
  bang::Allocation allocation;
  if (!device.memory().Find(data, &allocation)) {
    return Fail(bang::OwnerOf(data) != nullptr ? cnrtErrorDevice : cnrtErrorArgsInvalid, call,
                "%s %s", operand, OtherMemory(device, data).c_str());
  }
  const int64_t offset = static_cast<const char*>(data) - allocation.begin;
  const int64_t room = allocation.bytes - offset;
  if (bytes > static_cast<uint64_t>(room)) {
    return Fail(cnrtErrorArgsInvalid, call,
                "%s: %zu bytes from byte %" PRId64 " go %" PRIu64
                " bytes beyond the end of allocation %" PRId64 ", which has %" PRId64 " bytes",
                operand, bytes, offset, bytes - static_cast<uint64_t>(room), allocation.number,
                allocation.bytes);
  }
  return cnrtSuccess;
}

cnrtRet_t CheckHost(const char* call, const char* operand, const void* data) {
  const SimulatedDevice* owner = bang::OwnerOf(data);
  if (owner == nullptr) return cnrtSuccess;
  return Fail(cnrtErrorMemcpyDirectionInvalid, call,
              "the direction says that %s is host memory, but it is memory of device %d", operand,
              owner->ordinal());
}

cnrtMemTransDir_t DirectionOf(const void* dst, const void* src) {
  const bool to_device = bang::OwnerOf(dst) != nullptr;
  const bool from_device = bang::OwnerOf(src) != nullptr;
  if (to_device) return from_device ? cnrtMemcpyDevToDev : cnrtMemcpyHostToDev;
  return from_device ? cnrtMemcpyDevToHost : cnrtMemcpyHostToHost;
}

// `height` rows of `width` bytes; a plain copy is one row.
struct Rows {
  size_t width, height, dst_pitch, src_pitch;
  size_t DstBytes() const { return (height - 1) * dst_pitch + width; }
  size_t SrcBytes() const { return (height - 1) * src_pitch + width; }
};

cnrtRet_t CopyRows(const char* call, void* dst, const void* src, const Rows& rows,
                   cnrtQueue_t queue, bool wait, cnrtMemTransDir_t direction) {
  SimulatedDevice* device;
  if (const cnrtRet_t error = Begin(call, queue, &device)) return error;
  if (rows.width == 0 || rows.height == 0) return cnrtSuccess;
  if (dst == nullptr || src == nullptr) {
    return Fail(cnrtErrorArgsInvalid, call, "%s is null", dst == nullptr ? "dst" : "src");
  }
  if (direction == cnrtMemcpyNoDirection) direction = DirectionOf(dst, src);
  if (direction < cnrtMemcpyHostToDev || direction > cnrtMemcpyHostToHost) {
    return Fail(cnrtErrorMemcpyDirectionInvalid, call, "%d is no direction of this call",
                static_cast<int>(direction));
  }
  const bool to_device = direction == cnrtMemcpyHostToDev || direction == cnrtMemcpyDevToDev;
  const bool from_device = direction == cnrtMemcpyDevToHost || direction == cnrtMemcpyDevToDev;
  const cnrtRet_t dst_error = to_device ? CheckDevice(call, *device, "dst", dst, rows.DstBytes())
                                        : CheckHost(call, "dst", dst);
  if (dst_error != cnrtSuccess) return dst_error;
  const cnrtRet_t src_error = from_device ? CheckDevice(call, *device, "src", src, rows.SrcBytes())
                                          : CheckHost(call, "src", src);
  if (src_error != cnrtSuccess) return src_error;
  for (size_t row = 0; row < rows.height; ++row) {
    memmove(static_cast<char*>(dst) + row * rows.dst_pitch,
            static_cast<const char*>(src) + row * rows.src_pitch, rows.width);
  }
  if (to_device || from_device) {
    const Engine engine = !from_device ? Engine::kHostToDevice
                          : to_device  ? Engine::kDeviceToDevice
                                       : Engine::kDeviceToHost;
    device->Transfer(queue, engine, static_cast<int64_t>(rows.width * rows.height), wait);
  }
  return cnrtSuccess;
}

template <typename T>
cnrtRet_t Fill(const char* call, void* ptr, T value, size_t count, cnrtQueue_t queue, bool wait) {
  SimulatedDevice* device;
  if (const cnrtRet_t error = Begin(call, queue, &device)) return error;
  if (count == 0) return cnrtSuccess;
  if (const cnrtRet_t error = CheckDevice(call, *device, "ptr", ptr, count * sizeof(T))) {
    return error;
  }
  if constexpr (sizeof(T) == 1) {
    memset(ptr, value, count);
  } else {
    char* to = static_cast<char*>(ptr);
    for (size_t i = 0; i < count; ++i) memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
  device->Transfer(queue, Engine::kDeviceToDevice, static_cast<int64_t>(count * sizeof(T)), wait);
  return cnrtSuccess;
}

}  // namespace

cnrtRet_t cnrtMalloc(void** ptr, size_t bytes) {
  if (ptr == nullptr) return Fail(cnrtErrorArgsInvalid, "cnrtMalloc", "ptr is null");
  *ptr = nullptr;
  SimulatedDevice& device = Current();
  if (const cnrtRet_t error = Ready(device)) return error;
  bang::DeviceMemory& memory = device.memory();
  if (bytes <= static_cast<uint64_t>(memory.capacity())) {
    *ptr = memory.Allocate(static_cast<int64_t>(bytes));
  }
  if (*ptr == nullptr) {
    return Fail(cnrtErrorNoMem, "cnrtMalloc",
                "%zu bytes are more than %s has left: %" PRId64 " of %" PRId64, bytes,
                device.name().c_str(), memory.capacity() - memory.used(), memory.capacity());
  }
  return cnrtSuccess;
}

cnrtRet_t cnrtFree(void* ptr) {
  if (ptr == nullptr || Current().memory().Free(ptr)) return cnrtSuccess;
  if (SimulatedDevice* owner = bang::OwnerOf(ptr)) {
    // Memory may be freed whatever the current device is, as programs do at their end.
    if (owner->memory().Free(ptr)) return cnrtSuccess;
    bang::Allocation allocation;
    owner->memory().Find(ptr, &allocation);
    return Fail(cnrtErrorArgsInvalid, "cnrtFree",
                "this is byte %" PRId64 " of allocation %" PRId64 ", not its beginning",
                static_cast<int64_t>(static_cast<char*>(ptr) - allocation.begin),
                allocation.number);
  }
  return Fail(cnrtErrorArgsInvalid, "cnrtFree", "%s",
              Current().memory().WasFreed(ptr) ? "this memory was freed before"
                                               : "cnrtMalloc did not return this pointer");
}

cnrtRet_t cnrtHostMalloc(void** ptr, size_t bytes) {
  if (ptr == nullptr) return Fail(cnrtErrorArgsInvalid, "cnrtHostMalloc", "ptr is null");
  *ptr = malloc(bytes != 0 ? bytes : 1);
  if (*ptr == nullptr) {
    return Fail(cnrtErrorSysNoMem, "cnrtHostMalloc", "the host has no %zu bytes left", bytes);
  }
  return cnrtSuccess;
}

cnrtRet_t cnrtFreeHost(void* ptr) {
  if (bang::OwnerOf(ptr) != nullptr) {
    return Fail(cnrtErrorArgsInvalid, "cnrtFreeHost", "this is device memory: cnrtFree frees it");
  }
  free(ptr);
  return cnrtSuccess;
}

cnrtRet_t cnrtMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  if (free_bytes == nullptr || total_bytes == nullptr) {
    return Fail(cnrtErrorArgsInvalid, "cnrtMemGetInfo", "free_bytes or total_bytes is null");
  }
  const bang::DeviceMemory& memory = Current().memory();
  *total_bytes = static_cast<size_t>(memory.capacity());
  *free_bytes = static_cast<size_t>(memory.capacity() - memory.used());
  return cnrtSuccess;
}

cnrtRet_t cnrtMemcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t dir) {
  return CopyRows("cnrtMemcpy", dst, src, {bytes, 1, bytes, bytes}, nullptr, true, dir);
}

cnrtRet_t cnrtMemcpyAsync(void* dst, const void* src, size_t bytes, cnrtQueue_t queue,
                          cnrtMemTransDir_t dir) {
  return CopyRows("cnrtMemcpyAsync", dst, src, {bytes, 1, bytes, bytes}, queue, false, dir);
}

cnrtRet_t cnrtMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width,
                       size_t height, cnrtMemTransDir_t dir) {
  if (dst_pitch < width || src_pitch < width) {
    return Fail(cnrtErrorArgsInvalid, "cnrtMemcpy2D", "a row of %zu bytes is wider than its pitch",
                width);
  }
  return CopyRows("cnrtMemcpy2D", dst, src, {width, height, dst_pitch, src_pitch}, nullptr, true,
                  dir);
}

cnrtRet_t cnrtMemcpyPeer(void* dst, int dst_ordinal, const void* src, int src_ordinal,
                         size_t bytes) {
  const auto& devices = bang::Devices();
  for (const int ordinal : {dst_ordinal, src_ordinal}) {
    if (ordinal < 0 || ordinal >= static_cast<int>(devices.size())) {
      return Fail(cnrtErrorDeviceInvalid, "cnrtMemcpyPeer", "there is no device %d", ordinal);
    }
  }
  SimulatedDevice& to = *devices[dst_ordinal];
  SimulatedDevice& from = *devices[src_ordinal];
  if (const cnrtRet_t error = Ready(to)) return error;
  if (const cnrtRet_t error = Ready(from)) return error;
  if (bytes == 0) return cnrtSuccess;
  if (const cnrtRet_t error = CheckDevice("cnrtMemcpyPeer", to, "dst", dst, bytes)) return error;
  if (const cnrtRet_t error = CheckDevice("cnrtMemcpyPeer", from, "src", src, bytes)) return error;
  memmove(dst, src, bytes);
  from.Transfer(nullptr, Engine::kDeviceToHost, static_cast<int64_t>(bytes), true);
  if (&to != &from) to.Transfer(nullptr, Engine::kHostToDevice, static_cast<int64_t>(bytes), true);
  return cnrtSuccess;
}

cnrtRet_t cnrtMemset(void* ptr, int value, size_t bytes) {
  return Fill("cnrtMemset", ptr, static_cast<unsigned char>(value), bytes, nullptr, true);
}

cnrtRet_t cnrtMemsetAsync(void* ptr, int value, size_t bytes, cnrtQueue_t queue) {
  return Fill("cnrtMemsetAsync", ptr, static_cast<unsigned char>(value), bytes, queue, false);
}

cnrtRet_t cnrtMemsetD8(void* ptr, unsigned char value, size_t count) {
  return Fill("cnrtMemsetD8", ptr, value, count, nullptr, true);
}

cnrtRet_t cnrtMemsetD16(void* ptr, unsigned short value, size_t count) {
  return Fill("cnrtMemsetD16", ptr, value, count, nullptr, true);
}

cnrtRet_t cnrtMemsetD32(void* ptr, unsigned int value, size_t count) {
  return Fill("cnrtMemsetD32", ptr, value, count, nullptr, true);
}

cnrtRet_t cnrtMemsetD8Async(void* ptr, unsigned char value, size_t count, cnrtQueue_t queue) {
  return Fill("cnrtMemsetD8Async", ptr, value, count, queue, false);
}

cnrtRet_t cnrtMemsetD16Async(void* ptr, unsigned short value, size_t count, cnrtQueue_t queue) {
  return Fill("cnrtMemsetD16Async", ptr, value, count, queue, false);
}

cnrtRet_t cnrtMemsetD32Async(void* ptr, unsigned int value, size_t count, cnrtQueue_t queue) {
  return Fill("cnrtMemsetD32Async", ptr, value, count, queue, false);
}
