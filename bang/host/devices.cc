// SPDX-License-Identifier: Apache-2.0
#include "host/devices.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

#include "bang/target.h"
#include "host/transfer_time.h"

namespace bang {
namespace {

std::array<std::atomic<int>, 2> compiled_for = {};  // in the order in which they came
thread_local int current = 0;
thread_local std::vector<double> host_times;  // by device

std::string DisplayName(const Card& card) {
  std::string name = card.name;
  for (char& c : name) c = static_cast<char>(toupper(c));
  return name + " (simulated)";
}

std::vector<std::unique_ptr<SimulatedDevice>>* MakeDevices() {
  const char* names = getenv("BANG_DEVICE");
  std::string rest = names != nullptr ? names : "";
  if (rest.empty()) rest = compiled_for[0] == 372 ? "mlu370" : "mlu590";
  if ((names == nullptr || *names == '\0') && compiled_for[1] != 0) {
    rest += compiled_for[1] == 372 ? ",mlu370" : ",mlu590";
  }
  auto* devices = new std::vector<std::unique_ptr<SimulatedDevice>>;
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find(',', begin), rest.size());
    const Card* card = GetCard(rest.substr(begin, end - begin));
    if (card == nullptr) {
      fprintf(stderr,
              "bang: BANG_DEVICE is \"%s\"; expected mlu590, mlu370 or a list as mlu590,mlu370\n",
              rest.c_str());
      exit(2);
    }
    devices->push_back(std::make_unique<SimulatedDevice>(static_cast<int>(devices->size()), *card));
    begin = end + 1;
  }
  return devices;
}

}  // namespace

bool CompiledFor(int arch) {
  for (std::atomic<int>& known : compiled_for) {
    int expected = 0;
    if (known.compare_exchange_strong(expected, arch) || expected == arch) break;
  }
  return true;
}

SimulatedDevice::SimulatedDevice(int ordinal, const Card& card)
    : ordinal_(ordinal), card_(card), name_(DisplayName(card)), memory_(card.gdram_bytes) {
  default_queue_.device = this;
}

void SimulatedDevice::SetStickyError(cnrtRet_t error, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (sticky_error_ != cnrtSuccess) return;
  why_ = why;
  sticky_error_ = error;
}

const char* SimulatedDevice::why() {
  const std::lock_guard lock(mutex_);
  return why_.c_str();
}

double& SimulatedDevice::HostTime() {
  if (host_times.size() < Devices().size()) host_times.resize(Devices().size());
  return host_times[ordinal_];
}

void SimulatedDevice::Advance(cnrtQueue_t queue, Engine engine, double microseconds) {
  const std::lock_guard lock(mutex_);
  double& queue_end = Resolve(queue).end;
  double& engine_end = engine_end_[static_cast<int>(engine)];
  queue_end = std::max({queue_end, engine_end, HostTime()}) + microseconds;
  engine_end = queue_end;
}

void SimulatedDevice::Wait(cnrtQueue_t queue) { WaitUntil(TimeOf(queue)); }

void SimulatedDevice::WaitForAll() {
  double end;
  {
    const std::lock_guard lock(mutex_);
    end = *std::max_element(engine_end_.begin(), engine_end_.end());
  }
  WaitUntil(end);
}

void SimulatedDevice::WaitUntil(double time) { HostTime() = std::max(HostTime(), time); }

void SimulatedDevice::Transfer(cnrtQueue_t queue, Engine engine, int64_t bytes, bool wait) {
  Advance(queue, engine, TransferMicroseconds(card_, engine, bytes));
  if (wait) Wait(queue);
}

double SimulatedDevice::TimeOf(cnrtQueue_t queue) {
  const std::lock_guard lock(mutex_);
  return std::max(Resolve(queue).end, HostTime());
}

void SimulatedDevice::HoldUntil(cnrtQueue_t queue, double time) {
  const std::lock_guard lock(mutex_);
  double& end = Resolve(queue).end;
  end = std::max(end, time);
}

void SimulatedDevice::Reset() {
  Queues().DestroyAllOf(this);
  Notifiers().DestroyAllOf(this);
  memory_.FreeAll();
  const std::lock_guard lock(mutex_);
  why_.clear();
  sticky_error_ = cnrtSuccess;
}

// Never destroyed: destructors of a program's static objects may still free device memory.
const std::vector<std::unique_ptr<SimulatedDevice>>& Devices() {
  static const auto& devices = *MakeDevices();
  return devices;
}

SimulatedDevice& Current() { return *Devices()[current]; }
void SetCurrent(int ordinal) { current = ordinal; }

Device& CurrentDevice() { return Current(); }

Device& DeviceOf(cnrtQueue_t queue) {
  return queue != nullptr && Queues().IsAlive(queue) ? *queue->device : Current();
}

SimulatedDevice* OwnerOf(const void* address) {
  Allocation allocation;
  for (const auto& device : Devices()) {
    if (device->memory().Find(address, &allocation) &&
        static_cast<const char*>(address) <
            allocation.begin + std::max<int64_t>(allocation.bytes, 1)) {
      return device.get();
    }
  }
  return nullptr;
}

}  // namespace bang
