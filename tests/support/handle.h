// SPDX-License-Identifier: Apache-2.0
//
// Handles and descriptors that clean up after themselves, and the table of implementations as the
// public API tells it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detops/detops.h"
#include "schema/device.h"

namespace detops::test {

// Fails the test with the library's text.
#define EXPECT_OK(call) EXPECT_EQ((call), MLUOP_STATUS_SUCCESS) << detopsGetLastErrorMessage()
#define ASSERT_OK(call) ASSERT_EQ((call), MLUOP_STATUS_SUCCESS) << detopsGetLastErrorMessage()

// "cpu:reference" runs on "cpu"; "mlu590" is one of "mlu".
inline std::string DeviceOf(std::string_view implementation_or_device) {
  return std::string(
      implementation_or_device.substr(0, implementation_or_device.find_first_of(":0123456789")));
}

// How much slower than a processor's an implementation is here, roughly: MLUs are simulated.
inline int64_t SlowdownOf(std::string_view implementation) {
  return DeviceOf(implementation) == "mlu" ? 50 : 1;
}

inline std::vector<detopsDeviceInfo> AllDevices() {
  size_t count = 0;
  EXPECT_OK(detopsListDevices(nullptr, 0, &count));
  std::vector<detopsDeviceInfo> devices(count);
  EXPECT_OK(detopsListDevices(devices.data(), count, &count));
  return devices;
}

inline std::vector<std::string> UsableDevices() {
  std::vector<std::string> names;
  for (const detopsDeviceInfo& device : AllDevices()) {
    if (device.usable) names.emplace_back(device.name);
  }
  return names;
}

// Why no device of that kind ("cuda") can be used here; "" if one can.
inline std::string WhyNot(std::string_view kind) {
  std::string reason = "there is no such kind";
  for (const detopsDeviceInfo& device : AllDevices()) {
    if (DeviceOf(device.name) != kind) continue;
    if (device.usable) return "";
    reason = device.reason;
  }
  return reason;
}

class Handle {
 public:
  explicit Handle(const std::string& implementation = "") {
    const std::string device = implementation.empty() ? "" : DeviceOf(implementation);
    if (!device.empty()) {
      EXPECT_OK(detopsSetDevice(device.c_str()));
    }
    EXPECT_OK(detopsCreate(&handle_, device.c_str()));
    EXPECT_OK(detopsSetImplementation(handle_, implementation.c_str()));
  }
  ~Handle() { EXPECT_OK(mluOpDestroy(handle_)); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator mluOpHandle_t() const { return handle_; }

 private:
  mluOpHandle_t handle_ = nullptr;
};

using schema::Desc;

inline std::vector<detopsImplementationInfo> AllImplementations() {
  size_t count = 0;
  EXPECT_OK(detopsListImplementations(nullptr, 0, &count));
  std::vector<detopsImplementationInfo> all(count);
  EXPECT_OK(detopsListImplementations(all.data(), count, &count));
  return all;
}

// Those that can be used here. For the others Devices.CudaIsHere and Devices.InstructionSetsAreHere
// say visibly that all their tests are skipped.
inline std::vector<std::string> ImplementationsOf(std::string_view op) {
  std::vector<std::string> names;
  for (const detopsImplementationInfo& info : AllImplementations()) {
    if (info.op == op && info.usable) names.emplace_back(info.name);
  }
  return names;
}

// Those that count their pairs: not the reference, which evaluates every one, nor those on a GPU,
// whose call returns before there is anything to count.
inline std::vector<std::string> CountingImplementationsOf(std::string_view op) {
  std::vector<std::string> names = ImplementationsOf(op);
  std::erase_if(names, [](const std::string& name) {
    return name == "cpu:reference" || DeviceOf(name) != "cpu";
  });
  return names;
}

// For the names of parameterised tests.
inline std::string TestName(std::string name) {
  for (char& c : name) {
    if (isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace detops::test
