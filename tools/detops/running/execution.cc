// SPDX-License-Identifier: Apache-2.0
#include "running/execution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <set>

namespace detops::cli {
namespace {

void Require(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) throw RunError(status, detopsGetLastErrorMessage());
}

}  // namespace

std::vector<DeviceInfo> Devices() {
  size_t count = 0;
  Require(detopsListDevices(nullptr, 0, &count));
  std::vector<detopsDeviceInfo> listed(count);
  Require(detopsListDevices(listed.data(), count, &count));
  std::vector<DeviceInfo> devices;
  for (const detopsDeviceInfo& d : listed) {
    devices.push_back({d.name, d.description, d.reason, d.usable, d.usable && IsSimulated(d.name)});
  }
  return devices;
}

bool IsSimulated(const std::string& device) {
  if (BackendOf(device) == "cpu") return false;
  mluOpHandle_t handle = nullptr;
  // Where not even this works, whatever comes next says why.
  if (detopsCreate(&handle, device.c_str()) != MLUOP_STATUS_SUCCESS) return false;
  detopsDeviceProperties properties = {};
  detopsGetDeviceProperties(handle, &properties);
  mluOpDestroy(handle);
  return properties.simulated;
}

std::string BackendOf(const std::string& name) {
  return name.substr(0, name.find_first_of(":0123456789"));
}

std::string NameOf(const Target& target) {
  const bool first = target.device.empty() || target.device == BackendOf(target.device) ||
                     target.device.ends_with(":0");
  return target.implementation + (first ? "" : " on " + target.device);
}

bool IsMeant(const DeviceInfo& device, const std::string& name) {
  return name.empty() || name == device.name || name == BackendOf(device.name);
}

bool IsReference(const std::string& implementation) {
  return implementation.ends_with(":reference");
}

std::vector<ImplementationInfo> Implementations() {
  size_t count = 0;
  Require(detopsListImplementations(nullptr, 0, &count));
  std::vector<detopsImplementationInfo> listed(count);
  Require(detopsListImplementations(listed.data(), count, &count));
  std::vector<ImplementationInfo> implementations;
  for (const detopsImplementationInfo& i : listed) {
    implementations.push_back({i.op, i.name, i.reason, i.usable});
  }
  return implementations;
}

std::vector<Unusable> UnusableAmong(const std::string& device, const std::string& implementation) {
  std::vector<Unusable> all;
  std::set<std::string> usable_backends, seen;
  for (const DeviceInfo& d : Devices()) {
    const std::string backend = BackendOf(d.name);
    if (!IsMeant(d, device)) continue;
    if (!implementation.empty() && BackendOf(implementation) != backend) continue;
    if (d.usable) usable_backends.insert(backend);
    if (!d.usable) all.push_back({d.name, d.reason});
  }
  for (const ImplementationInfo& i : Implementations()) {
    if (i.usable || !usable_backends.contains(BackendOf(i.name))) continue;
    if (!implementation.empty() && i.name != implementation) continue;
    if (seen.insert(i.name).second) all.push_back({i.name, i.reason});
  }
  return all;
}

void RequireKnown(const std::string& device, const std::string& implementation) {
  std::string names, why_not;
  bool usable = false;
  for (const DeviceInfo& d : Devices()) {
    names += (names.empty() ? "" : ", ") + d.name;
    if (!IsMeant(d, device)) continue;
    usable = usable || d.usable;
    if (!d.usable) why_not = fmt::format("device {} can't be used: {}", d.name, d.reason);
  }
  if (!usable && !why_not.empty()) throw UserError(why_not);
  if (!usable) throw UserError(fmt::format("there is no device '{}'; there are {}", device, names));
  if (implementation.empty()) return;
  why_not.clear();
  std::set<std::string> usable_names;
  for (const ImplementationInfo& i : Implementations()) {
    if (i.usable) usable_names.insert(i.name);
    if (i.name == implementation && !i.usable) why_not = i.reason;
  }
  if (usable_names.contains(implementation)) return;
  const std::string names_text = fmt::format("{}", fmt::join(usable_names, ", "));
  if (!why_not.empty()) {
    throw UserError(fmt::format("implementation {} can't be used: {}; this machine runs {}",
                                implementation, why_not, names_text));
  }
  throw UserError(fmt::format("there is no implementation '{}'; this machine runs {}",
                              implementation, names_text));
}

std::string ChosenDevice(const std::string& option) {
  const char* variable = std::getenv("DETOPS_DEVICE");
  if (!option.empty() || variable == nullptr) {
    RequireKnown(option, "");
    return option;
  }
  try {
    RequireKnown(variable, "");
  } catch (const UserError& e) {
    throw UserError(fmt::format("DETOPS_DEVICE: {}", e.what()));
  }
  return variable;
}

std::vector<Target> TargetsOf(const schema::Schema& op, const std::string& device,
                              const std::string& implementation) {
  std::vector<Target> targets;
  for (const DeviceInfo& d : Devices()) {
    if (!d.usable || !IsMeant(d, device)) continue;
    for (const ImplementationInfo& i : Implementations()) {
      if (i.op != op.name || !i.usable || BackendOf(i.name) != BackendOf(d.name)) continue;
      if (implementation.empty() || i.name == implementation) {
        targets.push_back({d.name, i.name, d.simulated});
      }
    }
  }
  return targets;
}

Execution::Execution(const schema::Problem& problem, const Target& target, int threads,
                     int64_t sets)
    : problem_(problem), device_(target.device), handle_(target.device) {
  Require(detopsSetDevice(device_.c_str()));
  if (threads > 0) SetThreads(threads);
  if (!target.implementation.empty()) {
    Require(detopsSetImplementation(handle_, target.implementation.c_str()));
  }
  invocation_.emplace(handle_, problem, schema::Invocation::Options{.sets = sets});
  Require(invocation_->Prepare());
}

void Execution::SetThreads(int threads) { Require(detopsSetThreads(handle_, threads)); }

void Execution::Start() { Require(invocation_->Start()); }

void Execution::Wait() {
  cnrtQueue_t queue = nullptr;
  Require(mluOpGetQueue(handle_, &queue));
  if (cnrtQueueSync(queue) != cnrtSuccess) {
    throw RunError(MLUOP_STATUS_EXECUTION_FAILED,
                   fmt::format("{}: {}", device_, detopsGetLastErrorMessage()));
  }
}

std::vector<Array> Execution::Results() {
  Wait();
  std::vector<Array> results = invocation_->Results();
  problem_.Trim(results);
  return results;
}

}  // namespace detops::cli
