// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/cpu_device.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/status.h"

namespace detops::runtime {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t value = line.find(": ");
    if (value != std::string::npos) return line.substr(value + 2);
  }
  return "host processor";
}

}  // namespace

CpuDevice::CpuDevice() : Device(Backend::kCpu, "cpu", ProcessorName()) {}

CpuDevice& CpuDevice::Instance() {
  static CpuDevice device;
  return device;
}

void* CpuDevice::Allocate(size_t bytes) {
  // aligned_alloc wants a multiple of the alignment; 0 bytes become one unit.
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) {
    core::Fail(MLUOP_STATUS_ALLOC_FAILED, "no host memory for ", bytes, " bytes");
  }
  return memory;
}

void CpuDevice::Free(void* memory) { std::free(memory); }

void CpuDevice::Memset(void* memory, int value, size_t bytes, cnrtQueue_t) {
  if (bytes > 0) std::memset(memory, value, bytes);
}

void CpuDevice::Memcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t, cnrtQueue_t) {
  if (bytes > 0) std::memmove(dst, src, bytes);
}

void CpuDevice::MakeContiguous(const mluOpTensorStruct& desc, const void* src, void* dst,
                               cnrtQueue_t) {
  const int64_t count = desc.ElementCount();
  const auto element_bytes = static_cast<size_t>(core::DtypeBytes(desc.dtype));
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  std::array<int64_t, MLUOP_DIM_MAX> index = {};
  int64_t offset = 0;  // of `index` in the source, in elements
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to, from + offset * static_cast<int64_t>(element_bytes), element_bytes);
    to += element_bytes;
    for (int d = desc.rank - 1; d >= 0; --d) {
      offset += desc.strides[d];
      if (++index[d] < desc.dims[d]) break;
      offset -= desc.dims[d] * desc.strides[d];
      index[d] = 0;
    }
  }
}

cnrtQueue_t CpuDevice::CreateQueue() { return new cnrtQueue{this}; }
cnrtQueue_t CpuDevice::WrapStream(void*) {
  core::BadParam("device: cpu has no streams, expected a cuda device");
}
void CpuDevice::DestroyQueue(cnrtQueue_t queue) { delete queue; }
void CpuDevice::Synchronize(cnrtQueue_t) {}

}  // namespace detops::runtime
