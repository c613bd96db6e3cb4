// SPDX-License-Identifier: Apache-2.0
#include "runtime/mlu/mlu_device.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "runtime/mlu/make_contiguous.h"

namespace detops::runtime {

using mlu::Check;
using mlu::Cnrt;
using mlu::DeviceScope;
using mlu::QueueOf;

MluDevice::MluDevice(int ordinal, int arch, int clusters, int cores_per_cluster, std::string name,
                     std::string description)
    : Device(std::move(name), std::move(description)),
      ordinal_(ordinal),
      arch_(arch),
      clusters_(clusters),
      cores_per_cluster_(cores_per_cluster) {}

void* MluDevice::Allocate(size_t bytes) {
  const DeviceScope scope(ordinal_);
  void* memory = nullptr;
  Check(Cnrt().allocate(&memory, std::max<size_t>(bytes, 1)),
        core::Concat("allocating ", bytes, " bytes on ", name()).c_str());
  return memory;
}

void MluDevice::Free(void* memory) {
  if (memory == nullptr) return;
  const DeviceScope scope(ordinal_);
  Check(Cnrt().free(memory), "freeing memory");
}

void MluDevice::Memset(void* memory, int value, size_t bytes, cnrtQueue_t queue) {
  if (bytes == 0) return;
  const DeviceScope scope(ordinal_);
  Check(Cnrt().memset_async(memory, value, bytes, QueueOf(queue)), "setting memory");
}

void MluDevice::Memcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t direction,
                       cnrtQueue_t queue) {
  if (bytes == 0) return;
  const DeviceScope scope(ordinal_);
  // The runtime takes void* for a source, too, in some of its versions.
  Check(Cnrt().memcpy_async(dst, const_cast<void*>(src), bytes, QueueOf(queue), direction),
        "copying memory");
}

void MluDevice::MakeContiguous(const mluOpTensorStruct& desc, const void* src, void* dst,
                               cnrtQueue_t queue) {
  mlu::StridedTensor tensor = {};
  tensor.rank = desc.rank;
  tensor.element_bytes = static_cast<int>(core::DtypeBytes(desc.dtype));
  tensor.count = desc.ElementCount();
  std::copy_n(desc.dims.begin(), desc.rank, tensor.dims);
  std::copy_n(desc.strides.begin(), desc.rank, tensor.strides);
  if (tensor.count == 0) return;
  const DeviceScope scope(ordinal_);
  const mlu::Grid grid = {QueueOf(queue), clusters_, cores_per_cluster_};
  (arch_ == 592 ? mlu::LaunchMakeContiguous<592> : mlu::LaunchMakeContiguous<372>)(grid, tensor,
                                                                                   src, dst);
  Check(Cnrt().get_last_error(), "making a tensor contiguous");
}

cnrtQueue_t MluDevice::CreateQueue() {
  const DeviceScope scope(ordinal_);
  auto queue = std::make_unique<MluQueue>();
  queue->device = this;
  queue->owned = true;
  Check(Cnrt().queue_create(&queue->queue), "creating a queue");
  return queue.release();
}

cnrtQueue_t MluDevice::WrapStream(void* stream) {
  auto queue = std::make_unique<MluQueue>();
  queue->device = this;
  queue->owned = false;
  queue->queue = static_cast<cnrtQueue_t>(stream);
  return queue.release();
}

void MluDevice::DestroyQueue(cnrtQueue_t queue) {
  const std::unique_ptr<MluQueue> owner(static_cast<MluQueue*>(queue));
  if (!owner->owned) return;
  const DeviceScope scope(ordinal_);
  Check(Cnrt().queue_destroy(owner->queue), "destroying a queue");
}

void MluDevice::Synchronize(cnrtQueue_t queue) {
  const DeviceScope scope(ordinal_);
  Check(Cnrt().queue_sync(QueueOf(queue)), "waiting for the queue");
}

namespace {

int Attribute(cnrtDeviceAttr_t attribute, int ordinal) {
  int value = 0;
  Check(Cnrt().device_get_attribute(&value, attribute, ordinal), "asking for a device's attribute");
  return value;
}

// "mlu590" of "MLU590-M9" and "MLU590 (simulated)".
std::string ShortName(const char* name) {
  std::string word;
  for (; std::isalnum(static_cast<unsigned char>(*name)) != 0; ++name) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(*name)));
  }
  return word;
}

std::vector<std::unique_ptr<MluDevice>> FindDevices() {
  unsigned count = 0;
  Check(Cnrt().get_device_count(&count), "asking for the number of devices");
  std::vector<std::unique_ptr<MluDevice>> all;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    cnrtDeviceProp_t properties;
    Check(Cnrt().get_device_properties(&properties, i), "asking for a device's properties");
    const int isa = Attribute(cnrtAttrISAVersion, i);
    // Each generation runs what was compiled for it alone.
    const int arch = isa / 100 == 5 ? 592 : isa / 100 == 3 ? 372 : 0;
    if (arch == 0) continue;
    std::string name = ShortName(properties.name);
    const auto same = std::ranges::count_if(all, [&](const auto& device) {
      return BackendNameOf(device->name()) == "mlu" && device->name().starts_with(name);
    });
    if (same > 0) name += core::Concat(":", same);
    all.push_back(std::make_unique<MluDevice>(i, arch, Attribute(cnrtAttrClusterCount, i),
                                              Attribute(cnrtAttrMcorePerCluster, i),
                                              std::move(name), properties.name));
  }
  if (all.empty()) core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "the runtime shows none");
  return all;
}

}  // namespace

std::span<Device* const> MluDevices() {
  static const auto devices = FindDevices();
  static const auto pointers = [] {
    std::vector<Device*> all;
    for (const auto& device : devices) all.push_back(device.get());
    return all;
  }();
  return pointers;
}

}  // namespace detops::runtime

namespace detops::mlu {

void Check(cnrtRet_t error, const char* what) {
  if (error == cnrtSuccess) return;
  const bool memory = error == cnrtErrorNoMem || error == cnrtErrorSysNoMem;
  core::Fail(memory ? MLUOP_STATUS_ALLOC_FAILED : MLUOP_STATUS_EXECUTION_FAILED, what,
             ": the MLU's runtime says ", Cnrt().get_error_string(error));
}

DeviceScope::DeviceScope(int ordinal) {
  Check(Cnrt().get_device(&before_), "cnrtGetDevice");
  if (before_ != ordinal) Check(Cnrt().set_device(ordinal), "cnrtSetDevice");
  changed_ = before_ != ordinal;
}
DeviceScope::~DeviceScope() {
  if (changed_) Cnrt().set_device(before_);
}

}  // namespace detops::mlu
