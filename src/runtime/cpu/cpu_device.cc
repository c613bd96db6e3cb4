// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/cpu_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/status.h"

namespace detops::runtime {
namespace {


// A call has finished when it returns, so the clock of the one who calls is that of the queue.
struct CpuNotifier : cnrtNotifier {
  std::chrono::steady_clock::time_point time;
};

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector
// From here on huge pages are asked for, where the system gives them to those who ask: addresses
// all over a large tensor cost as much to translate as to read.
constexpr size_t kHugePage = 2 << 20, kHugeFrom = 2 * kHugePage;

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t value = line.find(": ");
    if (value != std::string::npos) return line.substr(value + 2);
  }
  return "host processor";
}

// Elements of kBytes bytes, which may lie at any address. The two last dims are plain loops: a
// transposed tensor often has a short last one.
template <size_t kBytes>
void CopyStrided(const mluOpTensorStruct& desc, const void* src, void* dst) {
  constexpr auto kStep = static_cast<int64_t>(kBytes);
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  const auto dim = [&](int d) { return d >= 0 ? desc.dims[d] : 1; };
  // In bytes. That of a dim that is 1 may be anything, and its product too large.
  const auto stride = [&](int d) { return dim(d) > 1 ? desc.strides[d] * kStep : 0; };
  const int last = desc.rank - 1;
  const int64_t rows = dim(last - 1), row_stride = stride(last - 1);
  const int64_t columns = dim(last), column_stride = stride(last);
  std::array<int64_t, MLUOP_DIM_MAX> index = {};
  int d = 0;
  do {
    for (int64_t row = 0; row < rows; ++row) {
      const std::byte* element = from + row * row_stride;
      for (int64_t column = 0; column < columns; ++column, to += kStep) {
        std::memcpy(to, element + column * column_stride, kBytes);
      }
    }
    for (d = last - 2; d >= 0; --d) {
      if (++index[d] < desc.dims[d]) {
        from += stride(d);
        break;
      }
      from -= (desc.dims[d] - 1) * stride(d);
      index[d] = 0;
    }
  } while (d >= 0);
}

}  // namespace

CpuDevice::CpuDevice() : Device("cpu", ProcessorName()) {}

CpuDevice& CpuDevice::Instance() {
  static CpuDevice device;
  return device;
}

void* CpuDevice::Allocate(size_t bytes) {
  const bool huge = bytes >= kHugeFrom;
  const size_t alignment = huge ? kHugePage : kAlignment;
  // aligned_alloc wants a multiple of the alignment; 0 bytes become one unit.
  const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) {
    core::Fail(MLUOP_STATUS_ALLOC_FAILED, "no host memory for ", bytes, " bytes");
  }
  if (huge) madvise(memory, rounded, MADV_HUGEPAGE);  // without them it is slower, no more
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
  if (desc.ElementCount() == 0) return;
  switch (core::DtypeBytes(desc.dtype)) {
    case 1: return CopyStrided<1>(desc, src, dst);
    case 2: return CopyStrided<2>(desc, src, dst);
    case 4: return CopyStrided<4>(desc, src, dst);
    default: return CopyStrided<8>(desc, src, dst);
  }
}

cnrtQueue_t CpuDevice::CreateQueue() { return new cnrtQueue{this}; }
cnrtQueue_t CpuDevice::WrapStream(void*) {
  core::BadParam("device: cpu has no streams, expected a cuda device");
}
void CpuDevice::DestroyQueue(cnrtQueue_t queue) { delete queue; }
void CpuDevice::Synchronize(cnrtQueue_t) {}

cnrtNotifier_t CpuDevice::CreateNotifier() {
  auto* notifier = new CpuNotifier;
  notifier->device = this;
  return notifier;
}
void CpuDevice::DestroyNotifier(cnrtNotifier_t notifier) {
  delete static_cast<CpuNotifier*>(notifier);
}
void CpuDevice::Place(cnrtNotifier_t notifier, cnrtQueue_t) {
  static_cast<CpuNotifier*>(notifier)->time = std::chrono::steady_clock::now();
}
void CpuDevice::Wait(cnrtNotifier_t) {}
float CpuDevice::MicrosecondsBetween(cnrtNotifier_t start, cnrtNotifier_t end) {
  const auto passed =
      static_cast<CpuNotifier*>(end)->time - static_cast<CpuNotifier*>(start)->time;
  return std::chrono::duration<float, std::micro>(passed).count();
}

}  // namespace detops::runtime
