// SPDX-License-Identifier: Apache-2.0
#include "bench/case.h"

#include <stdexcept>

namespace detops::bench {
namespace {

std::vector<std::vector<Case> (*)()>& Registered() {
  static std::vector<std::vector<Case> (*)()> registered;
  return registered;
}

// The reason of a backend none of whose devices can be used.
std::string WhyNot(const std::string& backend) {
  size_t count = 0;
  Require(detopsListDevices(nullptr, 0, &count));
  std::vector<detopsDeviceInfo> devices(count);
  Require(detopsListDevices(devices.data(), count, &count));
  std::string reason;
  for (const detopsDeviceInfo& device : devices) {
    if (DeviceOf(device.name) != backend) continue;
    if (device.usable) return "";
    reason = device.reason;
  }
  return reason;
}

}  // namespace

Registrar::Registrar(std::vector<Case> (*cases)()) { Registered().push_back(cases); }

std::vector<Row> TableRows() {
  size_t count = 0;
  Require(detopsListImplementations(nullptr, 0, &count));
  std::vector<detopsImplementationInfo> listed(count);
  Require(detopsListImplementations(listed.data(), count, &count));
  std::vector<Row> rows;
  rows.reserve(count);
  for (const detopsImplementationInfo& info : listed) {
    const std::string device_reason = WhyNot(DeviceOf(info.name));
    rows.push_back({info.op, info.name, device_reason.empty() ? info.reason : device_reason});
  }
  return rows;
}

std::vector<Case> AllCases() {
  std::vector<Case> unordered, ordered;
  for (const auto cases : Registered()) {
    for (Case& c : cases()) unordered.push_back(std::move(c));
  }
  std::string last_op;
  for (const Row& row : TableRows()) {
    if (row.op == last_op) continue;
    last_op = row.op;
    const size_t before = ordered.size();
    for (const Case& c : unordered) {
      if (c.op == row.op) ordered.push_back(c);
    }
    if (ordered.size() == before) {
      throw std::runtime_error(row.op + " has no cases: src/ops/" + row.op +
                               "/bench.cc is missing");
    }
  }
  return ordered;
}

}  // namespace detops::bench
