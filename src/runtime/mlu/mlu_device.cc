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

namespace {

struct MluNotifier : cnrtNotifier {
  cnrtNotifier_t notifier = nullptr;  // the runtime's
};

cnrtNotifier_t NotifierOf(cnrtNotifier_t notifier) {
  return static_cast<MluNotifier*>(notifier)->notifier;
}

// Whether the runtime reported any error but a lack of memory.
std::atomic<bool> something_failed = false;

}  // namespace

MluDevice::MluDevice(int ordinal, const MluFacts& facts, std::string name, std::string description)
    : Device(std::move(name), std::move(description)), ordinal_(ordinal), facts_(facts) {}

// A device whose kernel was stopped does nothing more until it is reset, which takes away all that
// was allocated there: so that is done once nobody has anything left.
void MluDevice::GaveBack() {
  if (--held_ > 0 || !something_failed) return;
  if (Cnrt().queue_sync(nullptr) != cnrtSuccess) Cnrt().device_reset();
}

void* MluDevice::Allocate(size_t bytes) {
  const DeviceScope scope(ordinal_);
  void* memory = nullptr;
  Check(Cnrt().allocate(&memory, std::max<size_t>(bytes, 1)),
        core::Concat("allocating ", bytes, " bytes on ", name()).c_str());
  Took();
  return memory;
}

void MluDevice::Free(void* memory) {
  if (memory == nullptr) return;
  const DeviceScope scope(ordinal_);
  const cnrtRet_t error = Cnrt().free(memory);
  if (error == cnrtSuccess || something_failed) GaveBack();
  Check(error, "freeing memory");
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
  const mlu::Grid grid = {QueueOf(queue), clusters(), cores_per_cluster()};
  (arch() == 592 ? mlu::LaunchMakeContiguous<592> : mlu::LaunchMakeContiguous<372>)(grid, tensor,
                                                                                    src, dst);
  Check(Cnrt().get_last_error(), "making a tensor contiguous");
}

cnrtQueue_t MluDevice::CreateQueue() {
  const DeviceScope scope(ordinal_);
  auto queue = std::make_unique<MluQueue>();
  queue->device = this;
  queue->owned = true;
  Check(Cnrt().queue_create(&queue->queue), "creating a queue");
  Took();
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
  const cnrtRet_t error = Cnrt().queue_destroy(owner->queue);
  GaveBack();
  Check(error, "destroying a queue");
}

void MluDevice::Synchronize(cnrtQueue_t queue) {
  const DeviceScope scope(ordinal_);
  Check(Cnrt().queue_sync(QueueOf(queue)), "waiting for the queue");
}

cnrtNotifier_t MluDevice::CreateNotifier() {
  const DeviceScope scope(ordinal_);
  auto notifier = std::make_unique<MluNotifier>();
  notifier->device = this;
  Check(Cnrt().notifier_create(&notifier->notifier), "creating a notifier");
  Took();
  return notifier.release();
}

void MluDevice::DestroyNotifier(cnrtNotifier_t notifier) {
  const std::unique_ptr<MluNotifier> owner(static_cast<MluNotifier*>(notifier));
  const DeviceScope scope(ordinal_);
  const cnrtRet_t error = Cnrt().notifier_destroy(owner->notifier);
  GaveBack();
  Check(error, "destroying a notifier");
}

void MluDevice::Place(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  const DeviceScope scope(ordinal_);
  Check(Cnrt().place_notifier(NotifierOf(notifier), QueueOf(queue)), "placing a notifier");
}

void MluDevice::Wait(cnrtNotifier_t notifier) {
  const DeviceScope scope(ordinal_);
  Check(Cnrt().wait_notifier(NotifierOf(notifier)), "waiting for a notifier");
}

float MluDevice::MicrosecondsBetween(cnrtNotifier_t start, cnrtNotifier_t end) {
  Wait(end);
  float microseconds = 0;
  Check(Cnrt().notifier_duration(NotifierOf(start), NotifierOf(end), &microseconds),
        "reading notifiers");
  return microseconds;
}

detopsDeviceProperties MluDevice::Properties() const {
  constexpr double kFloatsPerCycle = 32, kHalvesPerCycle = 64;  // of a core's vector unit
  const double core_cycles = 1e3 * facts_.clock_khz * clusters() * cores_per_cluster();
  detopsDeviceProperties properties = {};
  properties.simulated = Cnrt().launch_seconds != nullptr;
  if (properties.simulated) properties.simulator_seconds = Cnrt().launch_seconds();
  properties.bytes_per_second = facts_.bytes_per_second;
  properties.float_operations_per_second = kFloatsPerCycle * core_cycles;
  properties.half_operations_per_second = kHalvesPerCycle * core_cycles;
  return properties;
}

namespace {

int Attribute(cnrtDeviceAttr_t attribute, int ordinal) {
  int value = 0;
  Check(Cnrt().device_get_attribute(&value, attribute, ordinal), "asking for a device's attribute");
  return value;
}

// 0 where it is no attribute of this runtime.
int OptionalAttribute(cnrtDeviceAttr_t attribute, int ordinal) {
  int value = 0;
  return Cnrt().device_get_attribute(&value, attribute, ordinal) == cnrtSuccess ? value : 0;
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
    constexpr double kTransfersPerCycle = 2;
    const double bytes_per_cycle =
        kTransfersPerCycle * OptionalAttribute(cnrtAttrGmemBusWidth, i) / 8;
    const MluFacts facts = {
        .arch = arch,
        .clusters = Attribute(cnrtAttrClusterCount, i),
        .cores_per_cluster = Attribute(cnrtAttrMcorePerCluster, i),
        .clock_khz = Attribute(cnrtAttrIpuClockRate, i),
        .bytes_per_second = 1e3 * OptionalAttribute(cnrtAttrMemClockRate, i) * bytes_per_cycle};
    all.push_back(std::make_unique<MluDevice>(i, facts, std::move(name), properties.name));
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
  if (!memory) runtime::something_failed = true;
  std::string why = !memory && Cnrt().error_text != nullptr ? Cnrt().error_text() : "";
  for (size_t at; (at = why.find("\n  ")) != std::string::npos;) why.replace(at, 3, ", ");
  core::Fail(memory ? MLUOP_STATUS_ALLOC_FAILED : MLUOP_STATUS_EXECUTION_FAILED, what,
             ": the MLU's runtime says ", Cnrt().get_error_string(error), why.empty() ? "" : "; ",
             why);
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
