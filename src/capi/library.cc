// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <vector>

#include "core/checks.h"
#include "detops/detops.h"
#include "ops/list.h"
#include "runtime/backend.h"
#include "runtime/context.h"

using namespace detops;

#define DETOPS_QUOTE_VALUE(x) #x
#define DETOPS_QUOTE(x) DETOPS_QUOTE_VALUE(x)

namespace {

void CopyAndWait(const mluOpContext& context, void* dst, const void* src, size_t bytes,
                 cnrtMemTransDir_t direction) {
  if (bytes > 0) core::RequirePointers({{"dst", dst}, {"src", src}});
  context.device->Memcpy(dst, src, bytes, direction, context.queue);
  context.device->Synchronize(context.queue);
}

// Those that can't be used are listed too, with the reason.
std::span<const detopsDeviceInfo> AllDevices() {
  static std::deque<std::string> reasons;  // the list points into it
  static const std::vector<detopsDeviceInfo> all = [] {
    std::vector<detopsDeviceInfo> list;
    for (const runtime::Backend& backend : runtime::Backends()) {
      try {
        for (const runtime::Device* device : runtime::DevicesOf(backend)) {
          list.push_back({device->name().c_str(), device->description().c_str(), true, ""});
        }
      } catch (const core::Failure& failure) {
        const char* reason = reasons.emplace_back(failure.what()).c_str();
        list.push_back({backend.name, backend.kind, false, reason});
      }
    }
    return list;
  }();
  return all;
}

bool HasDevice(const runtime::Backend& backend) {
  return std::ranges::any_of(AllDevices(), [&](const detopsDeviceInfo& device) {
    return device.usable && runtime::BackendNameOf(device.name) == backend.name;
  });
}

// The processor's implementations last, which the reference ends.
template <class Op>
void AddImplementations(std::vector<detopsImplementationInfo>& list) {
  // Not by std::views::reverse, which Clang before 16 can't compile with GCC's library.
  const auto backends = runtime::Backends();
  for (auto backend = backends.rbegin(); backend != backends.rend(); ++backend) {
    const bool has_device = HasDevice(*backend);
    for (const auto& implementation : runtime::ImplementationsOn<Op>(*backend)) {
      const char* reason = has_device ? implementation.unusable() : backend->needs;
      list.push_back(
          {Op::kName, implementation.name, reason == nullptr, reason != nullptr ? reason : ""});
    }
  }
}

template <class... Ops>
std::vector<detopsImplementationInfo> ListImplementations(core::OperatorList<Ops...>) {
  std::vector<detopsImplementationInfo> list;
  (AddImplementations<Ops>(list), ...);
  return list;
}

// Nothing is known where the device fails.
runtime::Work LastWork(mluOpHandle_t handle) {
  runtime::Work work;
  core::Guard("detopsGetLastPairCount", [&] {
    if (handle != nullptr) work = handle->LastWork();
  });
  return work;
}

}  // namespace

const char* MLUOP_WIN_API mluOpGetErrorString(mluOpStatus_t status) {
  switch (status) {
    case MLUOP_STATUS_SUCCESS: return "MLUOP_STATUS_SUCCESS";
    case MLUOP_STATUS_NOT_INITIALIZED: return "MLUOP_STATUS_NOT_INITIALIZED";
    case MLUOP_STATUS_ALLOC_FAILED: return "MLUOP_STATUS_ALLOC_FAILED";
    case MLUOP_STATUS_BAD_PARAM: return "MLUOP_STATUS_BAD_PARAM";
    case MLUOP_STATUS_INTERNAL_ERROR: return "MLUOP_STATUS_INTERNAL_ERROR";
    case MLUOP_STATUS_ARCH_MISMATCH: return "MLUOP_STATUS_ARCH_MISMATCH";
    case MLUOP_STATUS_EXECUTION_FAILED: return "MLUOP_STATUS_EXECUTION_FAILED";
    case MLUOP_STATUS_NOT_SUPPORTED: return "MLUOP_STATUS_NOT_SUPPORTED";
    case MLUOP_STATUS_NUMERICAL_OVERFLOW: return "MLUOP_STATUS_NUMERICAL_OVERFLOW";
  }
  return "MLUOP_STATUS_UNKNOWN";
}

void MLUOP_WIN_API mluOpGetLibVersion(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = MLUOP_MAJOR;
  if (minor != nullptr) *minor = MLUOP_MINOR;
  if (patch != nullptr) *patch = MLUOP_PATCHLEVEL;
}

mluOpStatus_t MLUOP_WIN_API mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t* size) {
  return core::Guard("mluOpGetSizeOfDataType", [&] {
    core::RequirePointers({{"size", size}});
    const int64_t bytes = core::DtypeBytes(data_type);
    if (bytes == 0) {
      core::BadParam("data_type: ", static_cast<int>(data_type), " is no type with a size");
    }
    *size = static_cast<size_t>(bytes);
  });
}

const char* detopsGetVersion(void) {
  return DETOPS_QUOTE(DETOPS_VERSION_MAJOR) "." DETOPS_QUOTE(DETOPS_VERSION_MINOR) "." DETOPS_QUOTE(
      DETOPS_VERSION_PATCH);
}

const char* detopsGetLastErrorMessage(void) { return core::LastError(); }

mluOpStatus_t detopsSetDevice(const char* device) {
  return core::Guard("detopsSetDevice", [&] {
    core::RequirePointers({{"device", device}});
    runtime::SetCurrentDevice(runtime::FindDevice(device));
  });
}

mluOpStatus_t detopsQueueFromStream(cnrtQueue_t* queue, const char* device, void* stream) {
  return core::Guard("detopsQueueFromStream", [&] {
    core::RequirePointers({{"queue", queue}, {"device", device}});
    *queue = runtime::FindDevice(device).WrapStream(stream);
  });
}

const char* detopsGetDevice(mluOpHandle_t handle) {
  return handle == nullptr ? nullptr : handle->device->name().c_str();
}

mluOpStatus_t detopsGetDeviceProperties(mluOpHandle_t handle, detopsDeviceProperties* properties) {
  return core::Guard("detopsGetDeviceProperties", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    core::RequirePointers({{"properties", properties}});
    *properties = context.device->Properties();
  });
}

mluOpStatus_t detopsAllocate(mluOpHandle_t handle, size_t bytes, void** memory) {
  return core::Guard("detopsAllocate", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    core::RequirePointers({{"memory", memory}});
    *memory = context.device->Allocate(bytes);
  });
}

mluOpStatus_t detopsFree(mluOpHandle_t handle, void* memory) {
  return core::Guard("detopsFree", [&] { runtime::RequireHandle(handle).device->Free(memory); });
}

mluOpStatus_t detopsCopyToDevice(mluOpHandle_t handle, void* dst, const void* src, size_t bytes) {
  return core::Guard("detopsCopyToDevice", [&] {
    CopyAndWait(runtime::RequireHandle(handle), dst, src, bytes, cnrtMemcpyHostToDev);
  });
}

mluOpStatus_t detopsCopyToHost(mluOpHandle_t handle, void* dst, const void* src, size_t bytes) {
  return core::Guard("detopsCopyToHost", [&] {
    CopyAndWait(runtime::RequireHandle(handle), dst, src, bytes, cnrtMemcpyDevToHost);
  });
}

mluOpStatus_t detopsListDevices(detopsDeviceInfo* devices, size_t capacity, size_t* count) {
  return core::Guard("detopsListDevices", [&] {
    core::RequirePointers({{"count", count}});
    if (capacity > 0) core::RequirePointers({{"devices", devices}});
    const std::span<const detopsDeviceInfo> all = AllDevices();
    std::copy_n(all.begin(), std::min(capacity, all.size()), devices);
    *count = all.size();
  });
}

mluOpStatus_t detopsListImplementations(detopsImplementationInfo* implementations, size_t capacity,
                                        size_t* count) {
  return core::Guard("detopsListImplementations", [&] {
    core::RequirePointers({{"count", count}});
    if (capacity > 0) core::RequirePointers({{"implementations", implementations}});
    const auto all = ListImplementations(ops::AllOperators());
    std::copy_n(all.begin(), std::min(capacity, all.size()), implementations);
    *count = all.size();
  });
}

mluOpStatus_t detopsSetImplementation(mluOpHandle_t handle, const char* name) {
  return core::Guard("detopsSetImplementation", [&] {
    runtime::RequireHandle(handle).forced_implementation = name != nullptr ? name : "";
  });
}

const char* detopsGetLastImplementation(mluOpHandle_t handle) {
  return handle == nullptr ? "" : handle->last_implementation;
}

int64_t detopsGetLastPairCount(mluOpHandle_t handle) { return LastWork(handle).pairs; }

int64_t detopsGetLastCandidateCount(mluOpHandle_t handle) { return LastWork(handle).candidates; }

mluOpStatus_t detopsSetThreads(mluOpHandle_t handle, int count) {
  return core::Guard("detopsSetThreads", [&] {
    mluOpContext& context = runtime::RequireHandle(handle);
    if (count < 0 || count > runtime::kMostThreads) {
      core::BadParam("count: is ", count, ", expected 1 to ", runtime::kMostThreads,
                     " threads, or 0 for the default");
    }
    context.threads = runtime::Threads(count == 0 ? runtime::DefaultThreads() : count);
  });
}

int detopsGetThreads(mluOpHandle_t handle) {
  return handle == nullptr ? 0 : handle->threads.count();
}

mluOpStatus_t detopsMakeContiguous(mluOpHandle_t handle, const mluOpTensorDescriptor_t src_desc,
                                   const void* src, void* dst) {
  return core::Guard("detopsMakeContiguous", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    core::RequireDescriptors({{"src", src_desc}});
    if (src_desc->ElementCount() == 0) return;
    // The processor copies from any address to any other, and so serves to align data as well.
    const bool to_align = context.device->name() == "cpu";
    const mluOpDataType_t element = to_align ? MLUOP_DTYPE_UINT8 : src_desc->dtype;
    core::RequirePointers({{"src", src, element}, {"dst", dst, element}});
    context.device->MakeContiguous(*src_desc, src, dst, context.queue);
  });
}
