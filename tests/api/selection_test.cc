// SPDX-License-Identifier: Apache-2.0
//
// Devices and implementations: their listings, and how one is chosen by name or environment.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <utility>

#include "schema/schema.h"
#include "support/device_buffer.h"
#include "support/environment.h"
#include "support/handle.h"

namespace detops::test {
namespace {

std::string LastError() { return detopsGetLastErrorMessage(); }

std::vector<detopsDeviceInfo> Devices() {
  size_t count = 0;
  EXPECT_OK(detopsListDevices(nullptr, 0, &count));
  std::vector<detopsDeviceInfo> devices(count);
  EXPECT_OK(detopsListDevices(devices.data(), count, &count));
  return devices;
}

bool HasDevice(std::string_view name) {
  for (const detopsDeviceInfo& device : Devices()) {
    if (device.name == name) return true;
  }
  return false;
}

// The smallest call there is: one pair of boxes.
mluOpStatus_t CallBboxOverlaps(mluOpHandle_t handle) {
  const Desc boxes(MLUOP_DTYPE_FLOAT, {1, 4}), ious(MLUOP_DTYPE_FLOAT, {1, 1});
  const std::vector<float> box = {0, 0, 1, 1};
  const DeviceArray<float> data{std::span<const float>(box)};
  const DeviceArray<float> result(1);
  const mluOpStatus_t status = mluOpBboxOverlaps(handle, 0, false, 0, boxes, data.data(), boxes,
                                                 data.data(), ious, result.data());
  if (status == MLUOP_STATUS_SUCCESS) {
    EXPECT_EQ(result.Download(), std::vector<float>{1});
  } else {
    EXPECT_TRUE(result.UntouchedFrom(0));
  }
  return status;
}

TEST(Devices, AreListed) {
  const std::vector<detopsDeviceInfo> devices = Devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_STREQ(devices[0].name, "cpu");
  EXPECT_STRNE(devices[0].description, "");
  EXPECT_TRUE(devices[0].usable);
  EXPECT_STREQ(devices[0].reason, "");
  for (const detopsDeviceInfo& device : devices) {
    EXPECT_EQ(device.usable, std::string_view(device.reason).empty()) << device.name;
  }
}

TEST(Devices, ListingRespectsTheCapacity) {
  size_t count = 99;
  EXPECT_EQ(detopsListDevices(nullptr, 0, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsListDevices(nullptr, 1, &count), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(LastError().rfind("detopsListDevices: devices: ", 0), 0u) << LastError();
  EXPECT_EQ(count, 99u);
  detopsDeviceInfo untouched = {};
  EXPECT_OK(detopsListDevices(&untouched, 0, &count));
  EXPECT_EQ(count, Devices().size());
  EXPECT_EQ(untouched.name, nullptr);
}

TEST(Devices, AreFoundByName) {
  for (const char* name : {"cpu", "", static_cast<const char*>(nullptr)}) {
    mluOpHandle_t handle = nullptr;
    ASSERT_OK(detopsCreate(&handle, name));
    if (name != nullptr && *name != '\0') {
      EXPECT_STREQ(detopsGetDevice(handle), name);
    }
    EXPECT_TRUE(HasDevice(detopsGetDevice(handle)));
    EXPECT_OK(mluOpDestroy(handle));
  }
  EXPECT_OK(detopsSetDevice("cpu"));
}

TEST(Devices, UnknownNameIsRefusedWithThoseThereAre) {
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(detopsCreate(&handle, "abacus"), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(LastError().rfind("detopsCreate: device: ", 0), 0u) << LastError();
  EXPECT_NE(LastError().find("\"abacus\""), std::string::npos) << LastError();
  EXPECT_NE(LastError().find("expected cpu, cuda, cuda:N, mlu"), std::string::npos) << LastError();
  EXPECT_EQ(detopsCreate(&handle, "cpu:7"), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(LastError().find("devices here: cpu"), std::string::npos) << LastError();
  EXPECT_EQ(detopsSetDevice("abacus"), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsSetDevice(nullptr), MLUOP_STATUS_BAD_PARAM);
}

// The variable is read when a thread first needs a device, hence a new thread each time.
TEST(Devices, EnvironmentNamesTheFirst) {
  const auto create_in_new_thread = [](const char* variable) {
    const ScopedEnvironment environment("DETOPS_DEVICE", variable);
    std::pair<mluOpStatus_t, std::string> status_and_text;
    std::thread([&] {
      mluOpHandle_t handle = nullptr;
      status_and_text.first = mluOpCreate(&handle);
      status_and_text.second = LastError();
      if (handle != nullptr) {
        status_and_text.second = detopsGetDevice(handle);
        EXPECT_OK(mluOpDestroy(handle));
      }
    }).join();
    return status_and_text;
  };
  using Expected = std::pair<mluOpStatus_t, std::string>;
  EXPECT_EQ(create_in_new_thread("cpu"), Expected(MLUOP_STATUS_SUCCESS, "cpu"));
  EXPECT_EQ(create_in_new_thread(""), Expected(MLUOP_STATUS_SUCCESS, "cpu"));
  EXPECT_EQ(create_in_new_thread(nullptr), Expected(MLUOP_STATUS_SUCCESS, "cpu"));
  const auto [status, text] = create_in_new_thread("abacus");
  EXPECT_EQ(status, MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(text.rfind("mluOpCreate: ", 0), 0u) << text;
  EXPECT_NE(text.find("abacus"), std::string::npos) << text;
}

TEST(Implementations, AreListedByOperatorWithTheReferenceLast) {
  const std::vector<detopsImplementationInfo> all = AllImplementations();
  std::set<std::string> seen;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_last = i + 1 == all.size() || std::string_view(all[i].op) != all[i + 1].op;
    if (!is_last) continue;
    EXPECT_TRUE(seen.insert(all[i].op).second) << all[i].op << " is listed in two places";
    EXPECT_STREQ(all[i].name, "cpu:reference") << all[i].op;
  }
  for (const detopsImplementationInfo& info : all) {
    EXPECT_EQ(info.usable, std::string_view(info.reason).empty()) << info.name;
    if (std::string_view(info.name) == "cpu:reference") {
      EXPECT_TRUE(info.usable) << info.op;
    }
  }
  std::set<std::string> described;
  for (const schema::Schema* op : schema::All()) described.insert(op->name);
  EXPECT_EQ(seen, described);
}

TEST(Implementations, ListingRespectsTheCapacity) {
  size_t count = 99;
  EXPECT_EQ(detopsListImplementations(nullptr, 0, nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(detopsListImplementations(nullptr, 1, &count), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(count, 99u);
  detopsImplementationInfo two[2] = {};
  EXPECT_OK(detopsListImplementations(two, 1, &count));
  EXPECT_EQ(count, AllImplementations().size());
  EXPECT_STREQ(two[0].op, AllImplementations()[0].op);
  EXPECT_EQ(two[1].op, nullptr) << "written beyond the capacity";
}

TEST(Implementations, ForcedOneRuns) {
  for (const std::string& name : ImplementationsOf("bbox_overlaps")) {
    if (!HasDevice(DeviceOf(name))) continue;
    const Handle handle(name);
    EXPECT_STREQ(detopsGetLastImplementation(handle), "");
    EXPECT_OK(CallBboxOverlaps(handle));
    EXPECT_EQ(detopsGetLastImplementation(handle), name);
  }
}

TEST(Implementations, TableChoosesWhenNoneIsForced) {
  const ScopedEnvironment environment("DETOPS_IMPL", nullptr);
  const Handle handle("cpu:reference");
  for (const char* none : {"", static_cast<const char*>(nullptr)}) {
    EXPECT_OK(detopsSetImplementation(handle, none));
    EXPECT_OK(CallBboxOverlaps(handle));
    EXPECT_EQ(DeviceOf(detopsGetLastImplementation(handle)), detopsGetDevice(handle));
  }
}

TEST(Implementations, UnknownNameIsNotSupportedByTheNextCall) {
  const Handle handle;
  EXPECT_OK(detopsSetImplementation(handle, "cpu:abacus"));
  EXPECT_EQ(CallBboxOverlaps(handle), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(LastError().rfind("mluOpBboxOverlaps: ", 0), 0u) << LastError();
  EXPECT_NE(LastError().find("cpu:abacus"), std::string::npos) << LastError();
  // It lists what can be chosen instead: what runs on this device of this machine, and nothing
  // else.
  for (const detopsImplementationInfo& info : AllImplementations()) {
    const bool choosable = info.usable && DeviceOf(info.name) == "cpu";
    EXPECT_EQ(LastError().find(info.name) != std::string::npos, choosable) << LastError();
  }
  EXPECT_STREQ(detopsGetLastImplementation(handle), "");
  EXPECT_OK(detopsSetImplementation(handle, ""));
  EXPECT_OK(CallBboxOverlaps(handle));
}

TEST(Implementations, OneThatCanNotRunHereSaysWhy) {
  for (const detopsImplementationInfo& info : AllImplementations()) {
    if (info.usable || DeviceOf(info.name) != "cpu") continue;
    const Handle handle(info.name);
    EXPECT_EQ(CallBboxOverlaps(handle), MLUOP_STATUS_NOT_SUPPORTED);
    const std::string expected = std::string("; ") + info.name + " " + info.reason;
    EXPECT_TRUE(LastError().ends_with(expected)) << LastError();
  }
}

TEST(Implementations, EnvironmentForcesOneForNewHandles) {
  mluOpHandle_t handle = nullptr;
  {
    const ScopedEnvironment environment("DETOPS_IMPL", "cpu:reference");
    ASSERT_OK(detopsCreate(&handle, "cpu"));
  }
  EXPECT_OK(CallBboxOverlaps(handle));
  EXPECT_STREQ(detopsGetLastImplementation(handle), "cpu:reference");
  EXPECT_OK(mluOpDestroy(handle));
  {
    const ScopedEnvironment environment("DETOPS_IMPL", "cpu:abacus");
    ASSERT_OK(mluOpCreate(&handle));
  }
  EXPECT_EQ(CallBboxOverlaps(handle), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(LastError().find("cpu:abacus"), std::string::npos) << LastError();
  EXPECT_OK(detopsSetImplementation(handle, nullptr));
  EXPECT_OK(CallBboxOverlaps(handle));
  EXPECT_OK(mluOpDestroy(handle));
}

}  // namespace
}  // namespace detops::test
